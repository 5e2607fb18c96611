package file_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/file"
)

// reasonCount is the number of series of vitals_file_failure.
const reasonCount = 7

func TestProblems(t *testing.T) {
	tests := []struct{ name, config, want string }{
		{"no path", "{}", `path: path "": expected an absolute path`},
		{"relative path", "path: etc/passwd", `path: path "etc/passwd": expected an absolute path`},
		{"absolute path", "path: /etc/passwd", ""},
		{"format and keys", "{path: /f, format: json, keys: [cniVersion, plugins.0.type, 'a.\"b.c\"']}", ""},
		{"unknown format", "{path: /f, format: toml}", `format: format "toml": expected yaml, json, ini or crontab`},
		{"keys without a format", "{path: /f, keys: [a]}", "keys: keys without a format that has keys: expected format yaml, json or ini"},
		{"key twice", "{path: /f, format: yaml, keys: [a, b, a]}", `keys[2]: key "a": expected each key once`},
		{"key without a name", "{path: /f, format: yaml, keys: [a..b]}", `keys[0]: key "a..b": expected names with dots between them, and quotes around a whole name only`},
		{"key with a quote that stays open", "{path: /f, format: yaml, keys: ['a.\"b']}", `keys[0]: key "a.\"b": expected a quote at the end of a name, and a dot or nothing after it`},
		{"option without a section", "{path: /f, format: ini, keys: [DEFAULT.debug, port]}", `keys[1]: key "port": expected section.option for the format ini`},
		{"epoch of YAML", "{path: /f, format: yaml, epoch: a}", "epoch: epoch of a file that is not JSON: expected format json"},
		{"epoch without a format", "{path: /f, epoch: a}", "epoch: epoch of a file that is not JSON: expected format json"},
		{"epoch that is no key", "{path: /f, format: json, epoch: a..b}", `epoch: key "a..b": expected names with dots between them, and quotes around a whole name only`},
		{"epoch and a limit", "{path: /f, format: json, epoch: a.0, age_limit: 5m}", ""},
		{"limit alone", "{path: /f, age_limit: 60s}", ""},
		{"crontab", "{path: /f, format: crontab}", ""},
		{"keys of a crontab", "{path: /f, format: crontab, keys: [a]}", "keys: keys without a format that has keys: expected format yaml, json or ini"},
		{"no size", "{path: /f, format: yaml, size_limit: 0}", "size_limit: size_limit 0B: expected more than 0B"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := collectortest.Problems(t, tt.config, &file.Config{}); got != tt.want {
				t.Errorf("Problems() = %q, want %q", got, tt.want)
			}
		})
	}
}

func TestIsLocal(t *testing.T) {
	c := &file.Config{Path: "/etc/passwd"}
	if c.External() || c.Uses() != nil {
		t.Errorf("External(), Uses() = %v, %v, want false, nil", c.External(), c.Uses())
	}
}

func TestExposition(t *testing.T) {
	path := filepath.Join(t.TempDir(), "10-kuryr.conflist")
	collectortest.Write(t, path, `{"cniVersion": "0.3.1", "plugins": [{"type": "kuryr-cni"}]}`)
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	modified := time.UnixMilli(1_700_000_000_250)
	if err := os.Chtimes(path, modified, modified); err != nil {
		t.Fatal(err)
	}
	c := collectortest.New(t, "cni", "{path: "+path+", format: json, keys: [cniVersion, plugins.0.type, plugins.0.kuryr_conf]}", &file.Config{})
	samples, err := collectortest.Collect(t, c)
	if err != nil {
		t.Fatalf("Collect() = %v, want no error", err)
	}
	got := strings.ReplaceAll(collectortest.Exposition(samples, c.Describe()), path, "/etc/cni/net.d/10-kuryr.conflist")
	got = regexp.MustCompile(`(?m)(_owner_[ug]id\{.*\}) \d+$`).ReplaceAllString(got, "$1 0") // the user who runs the test
	collectortest.Golden(t, "metrics.prom", got)
}

func TestStates(t *testing.T) {
	dir := collectortest.Dir(t)
	at := func(name string) string { return filepath.Join(dir, name) }
	collectortest.Write(t, at("regular"), "12345")
	collectortest.Write(t, at("empty"), "")
	for _, err := range []error{
		os.Symlink(at("regular"), at("link")),
		os.Symlink(at("nowhere"), at("dangling")),
		os.Symlink(at("loop"), at("loop")),
		syscall.Mkfifo(at("fifo"), 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	listener, err := net.Listen("unix", at("socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()

	tests := []struct {
		name, path string
		exists     string
		kind       string
	}{
		{"regular file", at("regular"), "1", "regular"},
		{"empty file", at("empty"), "1", "regular"},
		{"directory", dir, "1", "directory"},
		{"symbolic link is followed", at("link"), "1", "regular"},
		{"dangling symbolic link", at("dangling"), "0", ""},
		{"missing file", at("missing"), "0", ""},
		{"file where a directory should be", at("regular/below"), "0", ""},
		{"fifo without a writer does not hang", at("fifo"), "1", "fifo"},
		{"socket", at("socket"), "1", "socket"},
		{"device", os.DevNull, "1", "device"},
		{"loop of symbolic links", at("loop"), "error", ""},
		{"name that is too long", at(strings.Repeat("x", 300)), "error", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := collectortest.New(t, "f", "path: "+tt.path, &file.Config{})
			samples, err := collectortest.Collect(t, c)
			exists := "error"
			if err == nil {
				v, _ := collectortest.Value(samples, `vitals_file_exists{file="f"}`)
				exists = fmt.Sprint(v)
			} else if v, _ := collectortest.Value(samples, `vitals_file_failure{file="f",reason="unreadable"}`); v != 1 || len(samples) != reasonCount {
				t.Errorf("Collect() = %v with an error, want its reason and nothing else", samples)
			}
			if exists != tt.exists {
				t.Errorf("vitals_file_exists = %s (%v), want %s", exists, err, tt.exists)
			}
			info := fmt.Sprintf(`vitals_file_info{file="f",path=%q,type=%q}`, tt.path, tt.kind)
			if _, ok := collectortest.Value(samples, info); ok != (tt.kind != "") {
				t.Errorf("%s present = %v, want %v", info, ok, tt.kind != "")
			}
		})
	}
}

func TestOwnerAndPermissions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	collectortest.Write(t, path, "")
	for _, tt := range []struct {
		mode os.FileMode
		want string
	}{
		{0o000, "--- --- ---"},
		{0o644, "rw- r-- r--"},
		{0o751, "rwx r-x --x"},
		{0o777, "rwx rwx rwx"},
		{0o022, "--- -w- -w-"},
		{0o600 | os.ModeSetuid | os.ModeSticky, "rw- --- ---"},
	} {
		if err := os.Chmod(path, tt.mode); err != nil {
			t.Fatal(err)
		}
		samples, err := collectortest.Collect(t, collectortest.New(t, "f", "path: "+path, &file.Config{}))
		if err != nil {
			t.Fatal(err)
		}
		var classes []string
		for _, class := range []string{"user", "group", "other"} {
			bits := ""
			for _, permission := range []string{"read", "write", "execute"} {
				v, ok := collectortest.Value(samples, fmt.Sprintf(`vitals_file_permission{class=%q,file="f",permission=%q}`, class, permission))
				switch {
				case !ok:
					bits += "?"
				case v == 0:
					bits += "-"
				default:
					bits += map[string]string{"read": "r", "write": "w", "execute": "x"}[permission]
				}
			}
			classes = append(classes, bits)
		}
		if got := strings.Join(classes, " "); got != tt.want {
			t.Errorf("mode %o: permissions %s, want %s", tt.mode, got, tt.want)
		}
		if uid, ok := collectortest.Value(samples, `vitals_file_owner_uid{file="f"}`); !ok || int(uid) != os.Getuid() {
			t.Errorf("owner = %v, %v, want %d", uid, ok, os.Getuid())
		}
	}
}

func TestFileComesAndGoes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "marker")
	c := collectortest.New(t, "marker", "path: "+path, &file.Config{})
	for _, step := range []struct {
		do     func() error
		exists float64
		series int
	}{
		{func() error { return nil }, 0, 1 + reasonCount},
		{func() error { return os.WriteFile(path, nil, 0o600) }, 1, 15 + reasonCount},
		{func() error { return os.Remove(path) }, 0, 1 + reasonCount},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		samples, err := collectortest.Collect(t, c)
		if v, _ := collectortest.Value(samples, `vitals_file_exists{file="marker"}`); v != step.exists || err != nil || len(samples) != step.series {
			t.Errorf("Collect() = %v, %v, want exists %v and %d series", samples, err, step.exists, step.series)
		}
	}
}
