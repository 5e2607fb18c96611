package supervisor_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/supervisor"
)

func TestCriticalFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "critical_processes")
	tests := []struct{ name, content, critical, wrong string }{
		{"programs and groups", "program:running\ngroup:boot\n", "boot:start running:running", ""},
		{"without a newline at the end", "program:running", "running:running", ""},
		{"E59 blank lines", "\n  \nprogram:running\n\n", "running:running", ""},
		{"E59 empty file", "", "", ""},
		{"spaces around", " program : running \r\n", "running:running", ""},
		{"twice", "program:running\nprogram:running\n", "running:running", ""},
		{"E58 no colon", "program:running\nsnmpd\n", "", `:2: "snmpd": expected program:NAME or group:NAME, with exactly one ":" and nothing else`},
		{"E58 two colons", "program:a:b\n", "", `:1: "program:a:b": expected program:NAME`},
		{"E58 unknown key", "service:snmpd\n", "", `:1: key "service": expected program or group`},
		{"E58 no name", "\ngroup:\n", "", `:2: no name after "group:": expected one`},
		{"E58 comment", "# program:snmpd\n", "", `:1: key "# program": expected program or group`},
		{"E58 every mistake", "a\nb\n", "", `:2: "b"`},
		{"name with a space", "program:a b\n", "", `:1: name "a b": expected a name of supervisord`},
		{"name with a control character", "program:a\x01\n", "", `:1: name "a": expected a name of supervisord`},
		{"name that is no text", "program:\xff\n", "", `:1: name "�"`},
		{"too many", strings.Repeat("program:a\n", 1001), "", ":1001: expected at most 1000 programs"},
		{"too large", strings.Repeat("\n", 64<<10+1), "", "it is larger than 64KiB"},
	}
	socket := startSupervisord(t, fakeRecorded(t, "programs.xml"))
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			collectortest.Write(t, path, tt.content)
			config := &supervisor.Config{}
			collectortest.Decode(t, "{socket: "+socket+", critical_file: "+path+"}", config)
			c, err := config.New(collectors.Env{Name: "s"})
			if tt.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), tt.wrong) {
					t.Errorf("New() = %v, want an error with %q and the path", err, tt.wrong)
				}
				return
			}
			if err != nil {
				t.Fatalf("New() = %v, want no error", err)
			}
			if got := fakeCritical(t, c); got != tt.critical {
				t.Errorf("critical = %q, want %q", got, tt.critical)
			}
			if none := strings.Contains(collectortest.Note(c), "no critical program"); none != (tt.critical == "") {
				t.Errorf("Note() = %q, want whether there is a critical program", collectortest.Note(c))
			}
		})
	}
}

// fakeCritical collects and returns the programs that are critical.
func fakeCritical(t *testing.T, c collectors.Collector) string {
	t.Helper()
	samples, err := collectortest.Collect(t, c)
	var names []string
	for _, s := range samples {
		if s.Labels.Get("__name__") == "vitals_supervisor_process_critical" && s.Value == 1 {
			names = append(names, s.Labels.Get("group")+":"+s.Labels.Get("program"))
		}
	}
	if err != nil {
		names = append(names, fakeFailure(t, samples))
	}
	return strings.Join(names, " ")
}

func TestCriticalFileThatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		filepath.Join(dir, "none"): "no such file: expected an empty one if no program is critical", dir: "it is of type directory", fifo: "it is of type fifo",
	} {
		config := &supervisor.Config{CriticalFile: path}
		if _, err := config.New(collectors.Env{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("New() = %v, want an error with %q", err, want)
		}
	}
}

func TestCriticalFileChanges(t *testing.T) {
	path := filepath.Join(t.TempDir(), "critical_processes")
	collectortest.Write(t, path, "program:running\n")
	socket := startSupervisord(t, fakeRecorded(t, "programs.xml"))
	c := newCollector(t, socket, ", critical: ['program:done'], critical_file: "+path)
	for i, step := range []struct {
		what string
		do   func() error
		want string
	}{
		{"as it was", func() error { return nil }, "done:done running:running"},
		{"changed", func() error { return os.WriteFile(path, []byte("group:boot\n"), 0o600) }, "boot:start done:done"},
		{"E58 broken", func() error { return os.WriteFile(path, []byte("group:boot\nrunning\n"), 0o600) }, "boot:start done:done critical_file"},
		{"E58 still broken", func() error { return nil }, "boot:start done:done critical_file"},
		{"repaired", func() error { return os.WriteFile(path, []byte("program:three\n"), 0o600) }, "done:done three:three"},
		{"gone", func() error { return os.Remove(path) }, "done:done three:three critical_file"},
		{"E59 back, and empty", func() error { return os.WriteFile(path, nil, 0o600) }, "done:done"},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		if got := fakeCritical(t, c); got != step.want {
			t.Errorf("%d, %s: critical = %q, want %q", i, step.what, got, step.want)
		}
	}
}

// A failure of supervisord is reported before one of the file.
func TestFailsTwice(t *testing.T) {
	path := filepath.Join(t.TempDir(), "critical_processes")
	collectortest.Write(t, path, "program:running\n")
	c := newCollector(t, filepath.Join(collectortest.Dir(t), "none"), ", critical_file: "+path)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	samples, err := collectortest.Collect(t, c)
	if got := fakeFailure(t, samples); got != "missing" || err == nil || !strings.Contains(err.Error(), ": no such file: expected") {
		t.Errorf("reason = %s, error %v, want missing, and the file in the error", fmt.Sprint(got), err)
	}
}
