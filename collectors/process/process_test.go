package process_test

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/capability"
	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/process"
	"github.com/vitals-health/vitals/collectors/process/proctest"
)

func TestExposition(t *testing.T) {
	c := collectortest.New(t, "daemon", "{name: kuryr-daemon, procfs: "+proctest.ProcFS(t, proctest.Kuryr()...)+"}", &process.Config{})
	samples, err := collectortest.Collect(t, c)
	if err != nil {
		t.Fatalf("Collect() = %v, want no error", err)
	}
	collectortest.Golden(t, "metrics.prom", proctest.Replace(collectortest.Exposition(samples, c.Describe()), 1500))
}

func TestGoneExposition(t *testing.T) {
	c := collectortest.New(t, "daemon", "{name: kuryr-daemon, procfs: "+proctest.ProcFS(t)+"}", &process.Config{})
	samples, err := collectortest.Collect(t, c)
	if err == nil {
		t.Fatal("Collect() = no error, want one")
	}
	collectortest.Golden(t, "gone.prom", collectortest.Exposition(samples, c.Describe()))
}

func TestIsLocal(t *testing.T) {
	for _, c := range []collectors.Kind{&process.Config{}, &capability.Config{Capabilities: []string{"KILL"}}} {
		if c.External() || c.Uses() != nil {
			t.Errorf("External(), Uses() of %T = %v, %v, want false, nil", c, c.External(), c.Uses())
		}
	}
}

// What one file of a process keeps back is absent, and the rest is exported.
func TestFaults(t *testing.T) {
	all := []string{
		"instances", "max_fds", "open_fds", "resident_memory_bytes", "restarts_total", "start_time_seconds", "states", "threads", "up", "zombie_children",
	}
	replace := func(path, text string) func(mount string) error {
		return func(mount string) error {
			path := filepath.Join(mount, path)
			return errors.Join(os.RemoveAll(path), os.WriteFile(path, []byte(text), 0o600))
		}
	}
	remove := func(path string) func(mount string) error {
		return func(mount string) error { return os.RemoveAll(filepath.Join(mount, path)) }
	}
	tests := []struct {
		name    string
		fault   func(mount string) error
		absent  string
		wantErr string
	}{
		{"none", remove("none"), "", ""},
		{"start of the host without its line", replace("stat", "cpu 1\nbtimes 5\n"), "start_time_seconds", "unreadable: read the start of the host: no number btime in /proc/stat"},
		{"start of the host in the first line", replace("stat", "btime 5\n"), "start_time_seconds", "unreadable: read the start of the host: no number btime in /proc/stat"},
		{"start of the host is no number", replace("stat", "cpu 1\nbtime x\n"), "start_time_seconds", "unreadable: read the start of the host: no number btime in /proc/stat"},
		{"start of the host is unknown", remove("stat"), "start_time_seconds", "unreadable: read the start of the host: open /proc/stat: no such file or directory"},
		{"descriptors that cannot be counted", replace("40/fd", ""), "open_fds max_fds", "unreadable: count descriptors of process 40: error reading file: Cannot read file: []: readdirent /proc/40/fd: not a directory"},
		{"limits without their line", replace("41/limits", ""), "open_fds max_fds", "unreadable: count descriptors of process 41: limits: no line Max open files"},
		{"children that cannot be listed", replace("40/task", ""), "zombie_children", "unreadable: list children of process 40: open /proc/40/task: not a directory"},
		{"kernel that does not list children", remove("40/task/40/children"), "zombie_children", ""},
		{"thread that has ended", func(mount string) error { return os.Mkdir(filepath.Join(mount, "40/task/49"), 0o700) }, "", ""},
		{"child that has ended", remove("43"), "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			mount := proctest.ProcFS(t, proctest.Kuryr()...)
			if err := tt.fault(mount); err != nil {
				t.Fatal(err)
			}
			c := collectortest.New(t, "p", "name: kuryr-daemon\nprocfs: "+mount, &process.Config{})
			samples, err := collectortest.Collect(t, c)
			got := strings.ReplaceAll(outcome(samples, err), mount, "/proc")
			if want := strings.Replace(tt.wantErr, "unreadable", "unreadable, up 1", 1); tt.wantErr != "" && got != want || tt.wantErr == "" && err != nil {
				t.Errorf("Collect() = %s, want %s", got, want)
			}
			present := map[string]bool{}
			for _, s := range samples {
				present[strings.TrimPrefix(s.Labels.Get(model.MetricNameLabel), "vitals_process_")] = true
			}
			for _, metric := range all {
				if want := !strings.Contains(" "+tt.absent+" ", " "+metric+" "); present[metric] != want {
					t.Errorf("vitals_process_%s present = %v, want %v", metric, present[metric], want)
				}
			}
		})
	}
}

// Of several processes, the descriptors are of the one that is nearest to its limit.
func TestDescriptors(t *testing.T) {
	tests := []struct {
		name      string
		processes []proctest.Process
		want      string
	}{
		{"nearest in proportion", []proctest.Process{{Fds: 9, MaxFDs: "100"}, {Fds: 8, MaxFDs: "10"}, {Fds: 2, MaxFDs: "4"}}, "8 of 10"},
		{"none open", []proctest.Process{{}, {}}, "0 of 1024"},
		{"no limit", []proctest.Process{{Fds: 9, MaxFDs: "unlimited"}}, "9 of +Inf"},
		{"no limit for one", []proctest.Process{{Fds: 9, MaxFDs: "unlimited"}, {Fds: 1}}, "1 of 1024"},
		{"limit that was lowered below what is open", []proctest.Process{{Fds: 9, MaxFDs: "0"}, {Fds: 9, MaxFDs: "9"}}, "9 of 0"},
		{"zombie", []proctest.Process{{Fds: 1, MaxFDs: "9"}, {State: "Z", Fds: 9, MaxFDs: "9"}}, "1 of 9"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for i := range tt.processes {
				tt.processes[i].PID, tt.processes[i].Comm = 50+i, "x"
			}
			c := collectortest.New(t, "p", "name: x\nprocfs: "+proctest.ProcFS(t, tt.processes...), &process.Config{})
			samples, err := collectortest.Collect(t, c)
			open, _ := collectortest.Value(samples, `vitals_process_open_fds{process="p"}`)
			limit, _ := collectortest.Value(samples, `vitals_process_max_fds{process="p"}`)
			if got := fmt.Sprintf("%v of %v", open, limit); got != tt.want || err != nil {
				t.Errorf("Collect() = %s, %v, want %s and no error", got, err, tt.want)
			}
		})
	}
}

func TestStates(t *testing.T) {
	var processes []proctest.Process
	want := map[string]float64{"other": 2}
	for i, s := range []struct{ letter, state string }{
		{"R", "running"}, {"S", "sleeping"}, {"D", "disk_sleep"}, {"T", "stopped"}, {"t", "tracing_stop"},
		{"Z", "zombie"}, {"X", "dead"}, {"I", "idle"}, {"P", "parked"}, {"W", ""}, {"?", ""},
	} {
		processes = append(processes, proctest.Process{PID: 50 + i, Comm: "x", State: s.letter})
		if s.state != "" {
			want[s.state] = 1
		}
	}
	c := collectortest.New(t, "p", "name: x\nprocfs: "+proctest.ProcFS(t, processes...), &process.Config{})
	samples, err := collectortest.Collect(t, c)
	if n, _ := collectortest.Value(samples, `vitals_process_instances{process="p"}`); n != 9 || err != nil {
		t.Errorf("Collect() = %v processes, %v, want 9 and no error", n, err)
	}
	seen := 0
	for _, s := range samples {
		if s.Labels.Get(model.MetricNameLabel) == "vitals_process_states" {
			seen++
			if state := s.Labels.Get("state"); s.Value != want[state] {
				t.Errorf("%v processes are %s, want %v", s.Value, state, want[state])
			}
		}
	}
	if seen != len(want) {
		t.Errorf("Collect() has %d states, want %d", seen, len(want))
	}
}

func TestZombieChildren(t *testing.T) {
	mount := proctest.ProcFS(t,
		proctest.Process{PID: 50, Comm: "x", Children: "51 52 "}, proctest.Process{PID: 51, Comm: "x", Children: "53 "},
		proctest.Process{PID: 52, Comm: "y", State: "Z"}, proctest.Process{PID: 53, Comm: "z", State: "Z"},
		proctest.Process{PID: 54, Comm: "z", State: "Z"}, proctest.Process{PID: 55, Comm: "z", State: "Z", Threads: 2})
	thread := filepath.Join(mount, "50", "task", "60")
	if err := os.Mkdir(thread, 0o700); err != nil {
		t.Fatal(err)
	}
	collectortest.Write(t, filepath.Join(thread, "children"), "54 55 99 x ")
	c := collectortest.New(t, "p", "name: x\nprocfs: "+mount, &process.Config{})
	samples, err := collectortest.Collect(t, c)
	if n, _ := collectortest.Value(samples, `vitals_process_zombie_children{process="p"}`); n != 3 || err != nil {
		t.Errorf("Collect() = %v zombies, %v, want 3 and no error", n, err)
	}
}

// A restart is detected by a change of the oldest process.
func TestRestarts(t *testing.T) {
	mount := proctest.ProcFS(t)
	is := func(p proctest.Process) func() {
		return func() { p.Comm = cmp.Or(p.Comm, "x"); p.Write(t, mount) }
	}
	gone := func(pids ...int) func() {
		return func() {
			for _, pid := range pids {
				if err := os.RemoveAll(filepath.Join(mount, strconv.Itoa(pid))); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	steps := []struct {
		name string
		do   func()
		want string
	}{
		{"never seen", func() {}, "0, up 0"},
		{"first seen", is(proctest.Process{PID: 50, Start: 100}), "0, up 1"},
		{"still there", func() {}, "0, up 1"},
		{"a younger one beside it", is(proctest.Process{PID: 51, Start: 200}), "0, up 1"},
		{"the younger one is another", is(proctest.Process{PID: 51, Start: 300}), "0, up 1"},
		{"it has ended, and the younger one is the oldest", gone(50), "1, up 1"},
		{"all gone", gone(51), "1, up 0"},
		{"still gone", func() {}, "1, up 0"},
		{"back with another number", is(proctest.Process{PID: 60, Start: 400}), "2, up 1"},
		{"its number is used again", is(proctest.Process{PID: 60, Start: 500}), "3, up 1"},
		{"it has ended and was not waited for", is(proctest.Process{PID: 60, Start: 500, State: "Z"}), "3, up 0"},
		{"another runs beside the zombie", is(proctest.Process{PID: 61, Start: 600}), "4, up 1"},
		{"hidden", gone(1, 60, 61), "4, up unknown"},
		{"shown again", func() { is(proctest.Process{PID: 1, Comm: "init"})(); is(proctest.Process{PID: 61, Start: 600})() }, "4, up 1"},
	}
	byName := collectortest.New(t, "p", "name: x\nprocfs: "+mount, &process.Config{})
	for _, step := range steps {
		step.do()
		samples, _ := collectortest.Collect(t, byName)
		restarts, _ := collectortest.Value(samples, `vitals_process_restarts_total{process="p"}`)
		up := "unknown"
		if v, ok := collectortest.Value(samples, `vitals_process_up{process="p"}`); ok {
			up = fmt.Sprint(v)
		}
		if got := fmt.Sprintf("%v, up %s", restarts, up); got != step.want {
			t.Errorf("%s: restarts %s, want %s", step.name, got, step.want)
		}
	}
}
