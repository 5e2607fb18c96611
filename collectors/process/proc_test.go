package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/prometheus/procfs"

	"github.com/vitals-health/vitals/collectors"
)

func TestParseStat(t *testing.T) {
	fields := "77 1 1 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 %s 0 %s 228000000 %s 18446744073709551615 0 0\n"
	stat := func(name, state, threads, start, pages string) string {
		return "7 (" + name + ") " + state + " " + fmt.Sprintf(fields, threads, start, pages)
	}
	tests := []struct {
		name, text string
		want       processStat
		wantErr    string
	}{
		{"process", stat("ovs-vswitchd", "S", "12", "345678", "4321"), processStat{'S', 77, 12, 345678, 4321}, ""},
		{"stopped by a debugger", stat("x", "t", "1", "1", "1"), processStat{'t', 77, 1, 1, 1}, ""},
		{"name like the fields behind it", stat("a) Z 1 (b", "R", "2", "3", "4"), processStat{'R', 77, 2, 3, 4}, ""},
		{"name with a line break", stat("a\nb", "D", "2", "3", "4"), processStat{'D', 77, 2, 3, 4}, ""},
		{"started after 6 billion years", stat("x", "S", "1", "18446744073709551615", "0"), processStat{'S', 77, 1, math.MaxUint64, 0}, ""},
		{"nothing", "", processStat{}, "at least 22 fields"},
		{"no name", "7 S 1 1", processStat{}, "at least 22 fields"},
		{"cut off", "7 (x)", processStat{}, "at least 22 fields"},
		{"long state", stat("x", "SS", "1", "2", "3"), processStat{}, "at least 22 fields"},
		{"parent is no number", strings.Replace(stat("x", "S", "1", "2", "3"), "77", "x", 1), processStat{}, `parsing "x"`},
		{"threads are no number", stat("x", "S", "many", "2", "3"), processStat{}, `parsing "many"`},
		{"start is no number", stat("x", "S", "1", "-2", "3"), processStat{}, `parsing "-2"`},
		{"memory is no number", stat("x", "S", "1", "2", "3.5"), processStat{}, `parsing "3.5"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := parseStat([]byte(tt.text))
			if got != tt.want || (err == nil) != (tt.wantErr == "") || err != nil && !strings.Contains(err.Error(), tt.wantErr) {
				t.Errorf("parseStat(%q) = %v, %v, want %v, %q", tt.text, got, err, tt.want, tt.wantErr)
			}
		})
	}
}

func TestParseMaxFDs(t *testing.T) {
	line := func(soft string) string {
		return "Limit                     Soft Limit           Hard Limit           Units     \nMax open files            " + soft + "     524288               files     \n"
	}
	tests := []struct {
		name, text string
		want       float64
		wantErr    string
	}{
		{"soft limit", line("1024"), 1024, ""},
		{"no limit", line("unlimited"), math.Inf(1), ""},
		{"none may be opened", line("0"), 0, ""},
		{"no number", line("-1"), 0, `limits: "-1" is no number of open files`},
		{"no line", "Max cpu time              unlimited            unlimited            seconds\n", 0, "limits: no line Max open files"},
		{"line without a limit", "Max open files\n", 0, "limits: no line Max open files"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := parseMaxFDs([]byte(tt.text))
			if got != tt.want || fmt.Sprint(err) != tt.wantErr && (err != nil || tt.wantErr != "") {
				t.Errorf("parseMaxFDs() = %v, %v, want %v, %q", got, err, tt.want, tt.wantErr)
			}
		})
	}
}

func TestStatusLine(t *testing.T) {
	status := "Name:\tCapEff:\\nCapEff:\nTgid:\t 7\nCapEffs:\t1\nCapEff\nCapEff:\t2\nCapEff:\t3\n"
	for key, want := range map[string]string{"Tgid": "7", "CapEff": "2", "CapPrm": "none", "": "none"} {
		got, ok := StatusLine([]byte(status), key)
		if !ok {
			got = []byte("none")
		}
		if string(got) != want {
			t.Errorf("statusLine(%q) = %s, want %s", key, got, want)
		}
	}
}

// A file of any size is read completely, and the buffer is reused.
func TestProcReaderReadsWholeFiles(t *testing.T) {
	r := ProcReader{Mount: t.TempDir()}
	if err := os.Mkdir(filepath.Join(r.Mount, "7"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{0, 1, wholeProcFile - 1, wholeProcFile, wholeProcFile + 1, 4096, 100_000, maxProcFile, 3} {
		want := strings.Repeat("x", size)
		if err := os.WriteFile(filepath.Join(r.Mount, "7", "status"), []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := r.Read(7, "status"); err != nil || string(got) != want {
			t.Errorf("read() of %d bytes = %d bytes, %v, want all and no error", size, len(got), err)
		}
	}
	if err := os.Truncate(filepath.Join(r.Mount, "7", "status"), 1<<40); err != nil {
		t.Fatal(err)
	}
	if got, err := r.Read(7, "status"); err != nil || len(got) > 3*maxProcFile {
		t.Errorf("read() of an endless file = %d bytes, %v, want about %d and no error", len(got), err, maxProcFile)
	}
}

func TestProcReaderListsNoFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	for _, make := range []func() error{func() error { return nil }, func() error { return os.WriteFile(path, nil, 0o600) }} {
		if err := make(); err != nil {
			t.Fatal(err)
		}
		r := ProcReader{Mount: path}
		if pids, err := r.list(); err == nil {
			t.Errorf("list() = %v and no error, want one", pids)
		}
	}
}

// A process that ends between the search and the read of its children has none, and
// takes away nothing of the others.
func TestZombiesOfProcessThatEnds(t *testing.T) {
	mount := t.TempDir()
	for name, text := range map[string]string{
		"50/task/50/children": "51 52 ",
		"51/stat":             "51 (x) Z 50 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 7 0 0",
		"52/stat":             "52 (x) S 50 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 8 0 0",
	} {
		path := filepath.Join(mount, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	tests := []struct {
		name    string
		ctx     context.Context
		pids    []int
		want    string
		wantErr string
	}{
		{"one of two", t.Context(), []int{49, 50}, "1", ""},
		{"the only one", t.Context(), []int{49}, "absent", ""},
		{"no time is left", canceled, []int{50}, "absent", "read children of process 50: context canceled"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var b collectors.Batch
			var running []foundProcess
			for _, pid := range tt.pids {
				running = append(running, foundProcess{Proc: procfs.Proc{PID: pid}})
			}
			err := (&collector{name: "p"}).zombies(tt.ctx, &b, &ProcReader{Mount: mount}, running)
			got := "absent"
			if len(b.Samples) == 1 {
				got = fmt.Sprint(b.Samples[0].Value)
			}
			if got != tt.want || err == nil != (tt.wantErr == "") || err != nil && err.Error() != tt.wantErr {
				t.Errorf("zombies() = %s, %v, want %s, %q", got, err, tt.want, tt.wantErr)
			}
		})
	}
}

func TestSelectorString(t *testing.T) {
	for want, s := range map[string]Selector{
		"the process of Vitals": {ProcFS: "/host/proc"}, "pid 7": {PID: 7}, "pid_file /run/x": {PIDFile: "/run/x"},
		"name x": {Name: "x"}, "exe /bin/x": {Exe: "/bin/x"}, "cgroup /x": {Cgroup: "/x"},
	} {
		if got := s.String(); got != want {
			t.Errorf("String() = %q, want %q", got, want)
		}
	}
}

func TestReasonOf(t *testing.T) {
	for want, errs := range map[reason][]error{
		"":         {nil},
		Gone:       {os.ErrNotExist, syscall.ESRCH, &os.PathError{Err: syscall.ENOENT}, fmt.Errorf("x: %w", &Error{Reason: Gone, Err: os.ErrPermission})},
		forbidden:  {os.ErrPermission, syscall.EPERM, syscall.EACCES, errors.Join(errors.New("x"), syscall.EACCES)},
		unreadable: {syscall.EIO, syscall.EINVAL, io.EOF, context.Canceled},
		pidFile:    {&Error{Reason: pidFile, Err: os.ErrNotExist}},
	} {
		for _, err := range errs {
			if got := ReasonOf(err); got != want {
				t.Errorf("reasonOfProcess(%v) = %q, want %q", err, got, want)
			}
		}
	}
	if err := error(&Error{Reason: unreadable, Err: syscall.EIO}); !errors.Is(err, syscall.EIO) {
		t.Errorf("errors.Is(%v, EIO) = false, want true", err)
	}
}
