package process_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/process"
	"github.com/vitals-health/vitals/collectors/process/proctest"
)

// outcome formats the result of a collection in one line: the number of processes
// and the start of the oldest, or the reason of the failure.
func outcome(samples []collectors.Sample, err error) string {
	for _, reason := range []string{"gone", "pid_file", "forbidden", "unreadable"} {
		if v, _ := collectortest.Value(samples, fmt.Sprintf(`vitals_process_failure{process="p",reason=%q}`, reason)); v == 1 {
			up, known := collectortest.Value(samples, `vitals_process_up{process="p"}`)
			if known {
				return fmt.Sprintf("%s, up %v: %v", reason, up, err)
			}
			return fmt.Sprintf("%s: %v", reason, err)
		}
	}
	if err != nil {
		return fmt.Sprintf("no reason: %v", err)
	}
	n, _ := collectortest.Value(samples, `vitals_process_instances{process="p"}`)
	start, _ := collectortest.Value(samples, `vitals_process_start_time_seconds{process="p"}`)
	return fmt.Sprintf("%v since %v", n, math.Round(100*(start-1_700_000_000))/100)
}

// collectLine runs a collection from a fake proc(5).
func collectLine(t *testing.T, config, mount string) string {
	t.Helper()
	c := collectortest.New(t, "p", config+"\nprocfs: "+mount+"\n", &process.Config{})
	samples, err := collectortest.Collect(t, c)
	return strings.ReplaceAll(outcome(samples, err), mount, "/proc")
}

func TestIsFound(t *testing.T) {
	long := func(pid int, args ...string) proctest.Process {
		return proctest.Process{PID: pid, Comm: "kuryr-cni-daemo", Start: pid, Args: args}
	}
	tests := []struct {
		name, config string
		processes    []proctest.Process
		want         string
	}{
		{"own process", "{}", nil, "1 since 0"},
		{"by its number", "pid: 41", proctest.Kuryr(), "1 since 43"},
		{"by a number that nothing has", "pid: 99", proctest.Kuryr(), "gone, up 0: no process 99"},
		{"by the number of a zombie", "pid: 42", proctest.Kuryr(), "gone, up 0: find pid 42: it has ended and is a zombie (1 found)"},
		{"by the number of a thread", "pid: 50", []proctest.Process{{PID: 50, Comm: "x", Tgid: 40}}, "gone, up 0: no process 50: it is a thread of 40"},
		{"first thread has ended, others run on", "pid: 50", []proctest.Process{{PID: 50, Comm: "x", State: "Z", Threads: 2, Start: 500}}, "1 since 5"},

		{"by name, the oldest first", "name: kuryr-daemon", proctest.Kuryr(), "2 since 42"},
		{"as old as another", "name: x", []proctest.Process{{PID: 60, Comm: "x"}, {PID: 50, Comm: "x"}}, "2 since 0"},
		{"by a name that nothing has", "name: kuryr", proctest.Kuryr(), "gone, up 0: no process of name kuryr"},
		{"by the name of zombies", "name: x", []proctest.Process{{PID: 50, Comm: "x", State: "Z"}, {PID: 51, Comm: "x", State: "X"}}, "gone, up 0: find name x: it has ended and is a zombie (2 found)"},
		{"beside an older zombie", "name: x", []proctest.Process{{PID: 50, Comm: "x", State: "Z", Start: 100}, {PID: 51, Comm: "x", Start: 200}}, "1 since 2"},
		{"name with a parenthesis and a space", `name: "a) R (b"`, []proctest.Process{{PID: 50, Comm: "a) R (b", Start: 300}}, "1 since 3"},
		{"thread of the kernel", "name: kthreadd", []proctest.Process{{PID: 2, Comm: "kthreadd", Start: 1}}, "1 since 0.01"},
		{"thread of the kernel with a long name", "name: irq/24-very-long-name", nil, `name: name "irq/24-very-long-name": expected the name of a process without its directory`},
		{"thread of the kernel with more than 15 bytes", "name: kvm-nx-lpage-recovery-7", []proctest.Process{{PID: 7, Comm: "kvm-nx-lpage-recovery-7", Start: 7}}, "1 since 0.07"},
		{"name of 15 bytes", "name: kuryr-cni-daemo", []proctest.Process{long(50, "/bin/kuryr-cni-daemon")}, "1 since 0.5"},
		{"long name, matched by argv[0]", "name: kuryr-cni-daemon-b", []proctest.Process{long(50, "/bin/kuryr-cni-daemon-a"), long(51, "/bin/kuryr-cni-daemon-b", "-x")}, "1 since 0.51"},
		{"long name, matched by the script", "name: kuryr-cni-daemon-b", []proctest.Process{long(50, "/bin/python3", "/bin/kuryr-cni-daemon-a"), long(51, "/bin/python3", "-u", "/bin/kuryr-cni-daemon-b")}, "1 since 0.51"},
		{"long name, matched by the program", "name: kuryr-cni-daemon-b", []proctest.Process{
			{PID: 50, Comm: "kuryr-cni-daemo", Exe: "/bin/kuryr-cni-daemon-a"}, {PID: 51, Comm: "kuryr-cni-daemo", Exe: "/bin/kuryr-cni-daemon-b (deleted)", Start: 51},
		}, "1 since 0.51"},
		{"long name of another program", "name: kuryr-cni-daemon", []proctest.Process{long(50, "/bin/kuryr-cni-daemonize")}, "gone, up 0: no process of name kuryr-cni-daemon"},
		{"long name in a title", "name: kuryr-cni-daemon", []proctest.Process{long(50, "kuryr-cni-daemon: worker [/bin/x 3]")}, "1 since 0.5"},
		{"long name in another's title", "name: kuryr-cni-daemon", []proctest.Process{long(50, "kuryr-cni-daemonize: worker [/bin/kuryr-cni-daemon]")}, "gone, up 0: no process of name kuryr-cni-daemon"},
		{"long name of a link to a version", "name: kuryr-cni-daemon", []proctest.Process{{PID: 50, Comm: "kuryr-cni-daemo", Args: []string{"/bin/kuryr-cni-daemon"}, Exe: "/opt/kuryr-cni-daemon-1.2", Start: 50}}, "1 since 0.5"},
		{"long name without a matching argument", "name: kuryr-cni-daemon", []proctest.Process{long(50, "main", "3", "4", "kuryr-cni-daemonize")}, "1 since 0.5"},
		{"long name of a zombie", "name: kuryr-cni-daemon", []proctest.Process{{PID: 50, Comm: "kuryr-cni-daemo", State: "Z"}}, "gone, up 0: find name kuryr-cni-daemon: it has ended and is a zombie (1 found)"},

		{"by what is before the colon of a title", "name: kuryr-daemon", []proctest.Process{{PID: 50, Comm: "kuryr-daemon: m", Start: 200}, {PID: 51, Comm: "kuryr-daemon:", Start: 100}}, "2 since 1"},
		{"by what a title has elsewhere", "name: kuryr-daemon", []proctest.Process{
			{PID: 50, Comm: "kuryr-daemon m"}, {PID: 51, Comm: "kuryr-daemon-x:"}, {PID: 52, Comm: "x: kuryr-daemon"}, {PID: 53, Comm: "kuryr"},
		}, "gone, up 0: no process of name kuryr-daemon"},

		{"by its program", "exe: /usr/bin/python3.12", proctest.Kuryr(), "2 since 42"},
		{"by a program that was replaced", "exe: /usr/sbin/ip", proctest.Kuryr(), "1 since 50.01"},
		{"by a program that begins alike", "exe: /usr/bin/python3.1", proctest.Kuryr(), "gone, up 0: no process of exe /usr/bin/python3.1"},

		{"by cgroup v2 above", "cgroup: /system.slice", proctest.Kuryr(), "2 since 42"},
		{"by cgroup v2", "cgroup: /system.slice/kuryr.service/worker/", proctest.Kuryr(), "1 since 43"},
		{"by a cgroup that begins alike", "cgroup: /system.slice/kuryr", proctest.Kuryr(), "gone, up 0: no process of cgroup /system.slice/kuryr"},
		{"by cgroup v1", "cgroup: /kuryr", []proctest.Process{{PID: 50, Comm: "x", Cgroup: "3:cpu,cpuacct:/\n2:memory:/kuryr\n1:name=systemd:/x\n"}}, "1 since 0"},
		{"by a hybrid's cgroup v2", "cgroup: /kuryr", []proctest.Process{{PID: 50, Comm: "x", Cgroup: "2:memory:/\n1:name=systemd:/\n0::/kuryr/a:b\n"}}, "1 since 0"},
		{"by a cgroup that was removed", "cgroup: /kuryr", []proctest.Process{{PID: 50, Comm: "x", Cgroup: "0::/kuryr (deleted)\n"}}, "1 since 0"},
		{"by a cgroup outside of the namespace", "cgroup: /../kuryr", []proctest.Process{{PID: 50, Comm: "x", Cgroup: "0::/../kuryr\n"}}, "1 since 0"},
		{"by the root of all cgroups", "cgroup: /", []proctest.Process{{PID: 50, Comm: "x", Cgroup: "0::/kuryr\n"}}, "2 since 0"},
		{"without cgroups", "cgroup: /", []proctest.Process{{PID: 1, Comm: "x", Cgroup: "\n"}}, "gone, up 0: no process of cgroup /"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if problems := collectortest.Problems(t, tt.config, &process.Config{}); problems != "" {
				if problems != tt.want {
					t.Errorf("Problems() = %q, want %q", problems, tt.want)
				}
				return
			}
			config := strings.Trim(tt.config, "{}")
			if got := collectLine(t, config, proctest.ProcFS(t, tt.processes...)); got != tt.want {
				t.Errorf("Collect() with %s = %s, want %s", tt.config, got, tt.want)
			}
		})
	}
}

// What proc(5) lacks is a process that has gone, or one that is not shown.
func TestVanishesOrHides(t *testing.T) {
	remove := func(paths ...string) func(mount string) error {
		return func(mount string) error {
			for _, path := range paths {
				if err := os.RemoveAll(filepath.Join(mount, path)); err != nil {
					return err
				}
			}
			return nil
		}
	}
	replace := func(path, text string) func(mount string) error {
		return func(mount string) error { return os.WriteFile(filepath.Join(mount, path), []byte(text), 0o600) }
	}
	directory := func(path string) func(mount string) error {
		return func(mount string) error {
			return os.Mkdir(filepath.Join(mount, path), 0o700)
		}
	}
	tests := []struct {
		name, config string
		fault        func(mount string) error
		want         string
	}{
		{"vanishes before its name is read", "name: kuryr-daemon", remove("40/comm"), "1 since 43"},
		{"vanishes once its name is read", "name: kuryr-daemon", remove("40/stat"), "1 since 43"},
		{"vanishes while its program is read", "exe: /usr/bin/python3.12", remove("40/exe"), "1 since 43"},
		{"vanishes while its cgroups are read", "cgroup: /system.slice", remove("40/cgroup"), "1 since 43"},
		{"vanishes while its number is looked up", "pid: 40", remove("40/stat"), "gone, up 0: no process 40"},
		{"all vanish", "name: kuryr-daemon", remove("40", "41"), "gone, up 0: no process of name kuryr-daemon"},
		{"others are hidden", "name: kuryr-daemon", remove("1", "40", "41"), "forbidden: no process of name kuryr-daemon that is shown: /proc hides those of other users"},
		{"others are hidden, and a number is looked up", "pid: 40", remove("1", "40"), "forbidden: no process 40 that is shown: /proc hides those of other users"},
		{"others are hidden, and one of our own is found", "name: kuryr-daemon", remove("1", "40"), "1 since 43"},
		{"no proc(5) at all", "name: kuryr-daemon", remove("1", "self", "40", "41", "42", "43", "44"), "unreadable: no processes in /proc: expected a mount of proc(5)"},
		{"proc(5) of a PID namespace without us", "", remove("self"), "unreadable: find the process of Vitals: readlink /proc/self: no such file or directory"},
		{"own process under no number", "", func(mount string) error {
			return errOf(remove("self")(mount), os.Symlink("x/y", filepath.Join(mount, "self")))
		}, `unreadable: find the process of Vitals: self is "x/y", want a number`},
		{"stat without fields", "pid: 40", replace("40/stat", "40 (kuryr-daemon)"), `unreadable: read process 40: stat "40 (kuryr-daemon)": expected at least 22 fields after the name`},
		{"empty stat", "name: kuryr-daemon", func(mount string) error {
			return errOf(replace("40/stat", "")(mount), replace("41/stat", "")(mount))
		}, `unreadable: find name kuryr-daemon: stat "": expected at least 22 fields after the name`},
		{"empty stat of one of them", "name: kuryr-daemon", replace("40/stat", ""), "1 since 43"},
		{"name that cannot be read", "name: else", func(mount string) error {
			return errOf(remove("40/comm")(mount), directory("40/comm")(mount))
		}, "unreadable: find name else: read /proc/40/comm: is a directory"},
		{"program that is no link", "exe: /else", replace("44/exe", ""), "unreadable: find exe /else: readlink /proc/44/exe: invalid argument"},
		{"number of a process that is none", "name: kuryr-daemon", directory("-40"), "2 since 42"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			mount := proctest.ProcFS(t, proctest.Kuryr()...)
			if err := tt.fault(mount); err != nil {
				t.Fatal(err)
			}
			if got := collectLine(t, tt.config, mount); got != tt.want {
				t.Errorf("Collect() = %s, want %s", got, tt.want)
			}
		})
	}
}

func errOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// The kernel resolves the links to a program, so a link is the program of no process.
func TestByLinkToItsProgram(t *testing.T) {
	dir := collectortest.Dir(t)
	collectortest.Write(t, dir+"/python3.12", "")
	if err := os.Symlink("python3.12", dir+"/python3"); err != nil {
		t.Fatal(err)
	}
	mount := proctest.ProcFS(t, proctest.Process{PID: 50, Comm: "x", Exe: dir + "/python3.12"})
	got := strings.ReplaceAll(collectLine(t, "exe: "+dir+"/python3", mount), dir, "/bin")
	if want := "gone, up 0: no process of exe /bin/python3, which links to /bin/python3.12: use that path"; got != want {
		t.Errorf("Collect() = %s, want %s", got, want)
	}
}

func TestFSIsElsewhere(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	collectortest.Write(t, file, "")
	for mount, want := range map[string]string{
		filepath.Join(file, "below"): "not a directory",
		file:                         "is not a directory",
		file + "-missing":            "no such file or directory",
	} {
		if got := collectLine(t, "name: x", mount); !strings.HasPrefix(got, "unreadable: open proc(5): ") || !strings.HasSuffix(got, want) {
			t.Errorf("Collect() with procfs %s = %s, want unreadable and %s", mount, got, want)
		}
	}
}

func TestByPIDFile(t *testing.T) {
	dir := collectortest.Dir(t)
	path := filepath.Join(dir, "pid")
	text := func(s string) func() error {
		return func() error { return os.WriteFile(path, []byte(s), 0o600) }
	}
	// The error has no content of the file.
	const none = "pid_file, up 0: read PID file PID: its first line is no number of a process"
	var writer *os.File
	tests := []struct {
		name string
		make func() error
		want string
	}{
		{"number", text("40"), "1 since 42"},
		{"number and a line break", text("40\n"), "1 since 42"},
		{"number and more lines", text(" 40 \r\n/var/lib/postgresql\n"), "1 since 42"},
		{"symbolic link", func() error { return errOf(text("41\n")(), os.Rename(path, path+"2"), os.Symlink(path+"2", path)) }, "1 since 43"},
		{"stale number", text("77\n"), "gone, up 0: no process 77"},
		{"stale number that a thread has now", text("50\n"), "gone, up 0: no process 50: it is a thread of 40"},
		{"number that no process can have", text("9999999999\n"), "gone, up 0: no process 9999999999"},
		{"missing", func() error { return nil }, "pid_file, up 0: read PID file: open PID: no such file or directory"},
		{"empty", text(""), none},
		{"empty first line", text("\n40\n"), none},
		{"garbage", text("kuryr\x00\n"), none},
		{"number and garbage", text("40x\n"), none},
		{"below zero", text("-40\n"), none},
		{"zero", text("0\n"), none},
		{"number that is too large for any", text(strings.Repeat("9", 100)), none},
		{"huge file", func() error { return errOf(text("")(), os.Truncate(path, 1<<40)) }, none},
		{"directory", func() error { return os.Mkdir(path, 0o700) }, "pid_file, up 0: read PID file PID: it is a directory, expected a regular file"},
		{"fifo without a writer", func() error { return syscall.Mkfifo(path, 0o600) }, "pid_file, up 0: read PID file PID: it is a fifo, expected a regular file"},
		{"fifo whose writer is silent", func() (err error) {
			err = syscall.Mkfifo(path, 0o600)
			writer, _ = os.OpenFile(path, os.O_RDWR, 0)
			return err
		}, "pid_file, up 0: read PID file PID: it is a fifo, expected a regular file"},
		{"loop of links", func() error { return os.Symlink(path, path) }, "unreadable: read PID file: open PID: too many levels of symbolic links"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := errOf(os.RemoveAll(path), tt.make()); err != nil {
				t.Fatal(err)
			}
			mount := proctest.ProcFS(t, append(proctest.Kuryr(), proctest.Process{PID: 50, Comm: "x", Tgid: 40})...)
			if got := strings.ReplaceAll(collectLine(t, "pid_file: "+path, mount), path, "PID"); got != tt.want {
				t.Errorf("Collect() = %s, want %s", got, tt.want)
			}
		})
	}
	if writer.Close() != nil {
		t.Error("the writer's end of the FIFO was not open")
	}
	t.Run("a file where a directory should be", func(t *testing.T) {
		collectortest.Write(t, path+"3", "40")
		if got := collectLine(t, "pid_file: "+path+"3/pid", proctest.ProcFS(t)); !strings.HasPrefix(got, "pid_file, up 0: ") {
			t.Errorf("Collect() = %s, want pid_file", got)
		}
	})
}

func TestSearchEndsWithItsContext(t *testing.T) {
	var processes []proctest.Process
	for i := range 20 {
		processes = append(processes, proctest.Process{PID: 100 + i, Comm: "x", Children: strconv.Itoa(100 + i)})
	}
	c := collectortest.New(t, "p", "name: x\nprocfs: "+proctest.ProcFS(t, processes...), &process.Config{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	samples, err := c.Collect(ctx)
	if got, want := outcome(samples, err), "unreadable: find name x: context canceled"; got != want {
		t.Errorf("Collect() with a context that has ended = %s, want %s", got, want)
	}
}

func TestProblems(t *testing.T) {
	tests := []struct{ name, config, want string }{
		{"the process of Vitals", "{}", ""},
		{"one way", "name: kuryr-daemon", ""},
		{"another proc(5)", "{pid: 1, procfs: /host/proc}", ""},
		{"two ways", "{name: x, exe: /y}", ": name, exe: expected at most one of pid, pid_file, name, exe, argument, cgroup"},
		{"all ways", "{pid: 1, pid_file: /a, name: x, exe: /y, argument: a, cgroup: /z}", ": pid, pid_file, name, exe, argument, cgroup: expected at most one of pid, pid_file, name, exe, argument, cgroup"},
		{"number below zero", "pid: -1", "pid: pid -1: expected a number above 0"},
		{"path for a name", "name: /usr/bin/kuryr-daemon", `name: name "/usr/bin/kuryr-daemon": expected the name of a process without its directory`},
		{"relative paths", "{exe: python3, procfs: proc}", "exe: path \"python3\": expected an absolute path\nprocfs: path \"proc\": expected an absolute path"},
		{"relative cgroup", "cgroup: system.slice", `cgroup: path "system.slice": expected an absolute path`},
		{"relative PID file", "pid_file: run/pid", `pid_file: path "run/pid": expected an absolute path`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := collectortest.Problems(t, tt.config, &process.Config{}); got != tt.want {
				t.Errorf("Problems() = %q, want %q", got, tt.want)
			}
		})
	}
}
