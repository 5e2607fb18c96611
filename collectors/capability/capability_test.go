package capability_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/capability"
	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/process/proctest"
)

func TestExposition(t *testing.T) {
	c := collectortest.New(t, "net-admin", "{capabilities: [NET_ADMIN, cap_chown], process: {name: kuryr-daemon, procfs: "+proctest.ProcFS(t, proctest.Kuryr()...)+"}}", &capability.Config{})
	samples, err := collectortest.Collect(t, c)
	if err != nil {
		t.Fatalf("Collect() = %v, want no error", err)
	}
	collectortest.Golden(t, "metrics.prom", collectortest.Exposition(samples, c.Describe()))
}

func TestProblems(t *testing.T) {
	tests := []struct{ name, config, want string }{
		{"none", "{}", `capabilities: no capabilities: expected at least one name, such as NET_ADMIN`},
		{"nearly a name", "capabilities: [NET_ADMN]", `capabilities[0]: capability "NET_ADMN": did you mean NET_ADMIN?`},
		{"nearly a name, as the kernel writes it", "capabilities: [cap_net_admi]", `capabilities[0]: capability "cap_net_admi": did you mean NET_ADMIN?`},
		{"nearly more than one name", "capabilities: [SETID]", `capabilities[0]: capability "SETID": did you mean FSETID?`},
		{"without the line", "capabilities: [sysadmin]", `capabilities[0]: capability "sysadmin": did you mean SYS_ADMIN?`},
		{"no name at all", "capabilities: [root]", `capabilities[0]: capability "root": expected a name of capabilities(7), such as NET_ADMIN`},
		{"a number", "capabilities: ['12']", `capabilities[0]: capability "12": expected a name of capabilities(7), such as NET_ADMIN`},
		{"an empty name", "capabilities: ['']", `capabilities[0]: capability "": expected a name of capabilities(7), such as NET_ADMIN`},
		{"the last one's other name", "capabilities: [CAP_LAST_CAP]", `capabilities[0]: capability "CAP_LAST_CAP": expected a name of capabilities(7), such as NET_ADMIN`},
		{"twice", "capabilities: [NET_ADMIN, cap_net_admin]", `capabilities[1]: capability "cap_net_admin": expected each once`},
		{"two keys for the process", "{capabilities: [KILL], process: {pid: 1, name: x}}", `process: pid, name: expected at most one of pid, pid_file, name, exe, argument, cgroup`},
		{"relative path to the process", "{capabilities: [KILL], process: {exe: x}}", `process.exe: path "x": expected an absolute path`},
		{"every way to write it", "capabilities: [CAP_NET_ADMIN, net_raw, Sys_Admin]", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := collectortest.Problems(t, tt.config, &capability.Config{}); got != tt.want {
				t.Errorf("Problems() = %q, want %q", got, tt.want)
			}
		})
	}
}

// outcome renders what is known of each set: has, lacks or unknown.
func outcome(samples []collectors.Sample, name string) string {
	var known []string
	for _, set := range []string{"effective", "permitted", "bounding", "ambient"} {
		text := "unknown"
		if v, ok := collectortest.Value(samples, fmt.Sprintf(`vitals_process_capability{capability=%q,process="p",set=%q}`, name, set)); ok {
			text = map[float64]string{0: "lacks", 1: "has"}[v]
		}
		known = append(known, text)
	}
	return strings.Join(known, " ")
}

func TestSets(t *testing.T) {
	const none, netAdmin, all = "0000000000000000", "0000000000001000", "000001ffffffffff"
	caps := func(effective, permitted, bounding, ambient string) string {
		return "CapInh:\t" + all + "\nCapPrm:\t" + permitted + "\nCapEff:\t" + effective + "\nCapBnd:\t" + bounding + "\nCapAmb:\t" + ambient + "\nNoNewPrivs:\t0\n"
	}
	tests := []struct {
		name      string
		processes []proctest.Process
		want      string
		wantErr   string
	}{
		{"all", []proctest.Process{{Caps: caps(all, all, all, all)}}, "has has has has", ""},
		{"none", []proctest.Process{{Caps: caps(none, none, none, none)}}, "lacks lacks lacks lacks", ""},
		{"all others", []proctest.Process{{Caps: caps("000001ffffffefff", all, none, none)}}, "lacks has lacks lacks", ""},
		{"that one alone", []proctest.Process{{Caps: caps(netAdmin, none, netAdmin, none)}}, "has lacks has lacks", ""},
		{"bits that no capability has yet", []proctest.Process{{Caps: caps("ffffffffffffffff", "fffffe0000000000", none, none)}}, "has lacks lacks lacks", ""},
		{"both of two", []proctest.Process{{Caps: caps(all, all, all, none)}, {Caps: caps(netAdmin, netAdmin, netAdmin, netAdmin)}}, "has has has lacks", ""},
		{"one of two", []proctest.Process{{Caps: caps(all, all, all, all)}, {Caps: caps(none, netAdmin, none, netAdmin)}}, "lacks has lacks has", ""},
		{"one runs, one is a zombie", []proctest.Process{{Caps: caps(all, all, all, all)}, {State: "Z", Caps: caps(none, none, none, none)}}, "has has has has", ""},
		{"zombie alone", []proctest.Process{{State: "Z"}}, "unknown unknown unknown unknown", "gone: find name x: it has ended and is a zombie (1 found)"},
		{"no process", nil, "unknown unknown unknown unknown", "gone: no process of name x"},
		{"no line", []proctest.Process{{Caps: "Seccomp:\t0\n"}}, "unknown unknown unknown unknown", "unreadable: read capabilities of process 50: no line CapEff\nno line CapPrm\nno line CapBnd\nno line CapAmb"},
		{"kernel before Linux 4.3", []proctest.Process{{Caps: "CapInh:\t0\nCapPrm:\t1000\nCapEff:\t1000\nCapBnd:\t0\n"}}, "has has lacks unknown", "unreadable: read capabilities of process 50: no line CapAmb"},
		{"line cut off", []proctest.Process{{Caps: "CapPrm:\t" + all + "\nCapBnd:\t" + all + "\nCapAmb:\t" + none + "\nCapEff:"}}, "unknown has has lacks", `unreadable: read capabilities of process 50: line CapEff: "" is not a mask`},
		{"mask that is none", []proctest.Process{{Caps: caps("root", all, all, none)}}, "unknown has has lacks", `unreadable: read capabilities of process 50: line CapEff: "root" is not a mask`},
		{"mask of more than 64 bits", []proctest.Process{{Caps: caps(all+none, all, all, none)}}, "unknown has has lacks", `unreadable: read capabilities of process 50: line CapEff: "000001ffffffffff0000000000000000" is not a mask`},
		{"mask below zero", []proctest.Process{{Caps: caps("-1", all, all, none)}}, "unknown has has lacks", `unreadable: read capabilities of process 50: line CapEff: "-1" is not a mask`},
		{"no line in one of two", []proctest.Process{{Caps: caps(all, all, all, all)}, {Caps: "CapEff:\t" + none + "\nCapPrm:\t" + all}}, "lacks has unknown unknown", "unreadable: read capabilities of process 51: no line CapBnd\nno line CapAmb"},
		{"no line in the other of two", []proctest.Process{{Caps: "CapEff:\t" + none + "\nCapPrm:\t" + all}, {Caps: caps(all, all, all, all)}}, "lacks has unknown unknown", "unreadable: read capabilities of process 50: no line CapBnd\nno line CapAmb"},
		{"name with the text of the line", []proctest.Process{{Comm: `x\nCapEff:\t` + all, Caps: caps(none, none, none, none)}, {Caps: caps(none, none, none, none)}}, "lacks lacks lacks lacks", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for i := range tt.processes {
				p := &tt.processes[i]
				p.PID = 50 + i
				if p.Comm == "" {
					p.Comm = "x"
				}
			}
			c := collectortest.New(t, "p", "capabilities: [net_admin]\nprocess: {name: x, procfs: '"+proctest.ProcFS(t, tt.processes...)+"'}", &capability.Config{})
			samples, err := collectortest.Collect(t, c)
			if got := outcome(samples, "NET_ADMIN"); got != tt.want {
				t.Errorf("Collect() = %s, want %s", got, tt.want)
			}
			if got := failure(samples, err); got != tt.wantErr {
				t.Errorf("Collect() failed with %q, want %q", got, tt.wantErr)
			}
		})
	}
}

// failure formats the reason and the error of a collection; both are empty where
// nothing failed.
func failure(samples []collectors.Sample, err error) string {
	var failure string
	for _, s := range samples {
		if s.Labels.Get(model.MetricNameLabel) == "vitals_process_failure" && s.Value == 1 {
			failure += s.Labels.Get("reason")
		}
	}
	if err != nil {
		failure += ": " + err.Error()
	}
	return failure
}

// A capability that is newer than the kernel cannot be had, and cannot be missed.
func TestIsNewerThanTheKernel(t *testing.T) {
	mount := proctest.ProcFS(t)
	path := filepath.Join(mount, "sys", "kernel", "cap_last_cap")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	c := collectortest.New(t, "p", "capabilities: [AUDIT_READ, BPF, checkpoint_restore]\nprocess: {pid: 1, procfs: "+mount+"}", &capability.Config{})
	const known, unknown = "lacks lacks has lacks", "unknown unknown unknown unknown"
	tests := []struct{ name, last, newest, want string }{
		{"all are known", "40\n", known, ""},
		{"later kernel", "43\n", known, ""},
		{"kernel without cap_last_cap", "", known, ""},
		{"earlier kernel", "37\n", unknown, "unreadable: the kernel has no capability BPF: its number is 39, the last is 37\nthe kernel has no capability CHECKPOINT_RESTORE: its number is 40, the last is 37"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			collectortest.Write(t, path, tt.last)
			samples, err := collectortest.Collect(t, c)
			for name, want := range map[string]string{"AUDIT_READ": known, "BPF": tt.newest, "CHECKPOINT_RESTORE": tt.newest} {
				if got := outcome(samples, name); got != want {
					t.Errorf("Collect() = %s for %s, want %s", got, name, want)
				}
			}
			if got := failure(samples, err); got != tt.want {
				t.Errorf("Collect() failed with %q, want %q", got, tt.want)
			}
		})
	}
}

// A process that ends between the search and the reading of its sets is none.
func TestOfProcessThatEnds(t *testing.T) {
	mount := proctest.ProcFS(t, proctest.Kuryr()...)
	c := collectortest.New(t, "p", "capabilities: [NET_ADMIN]\nprocess: {name: kuryr-daemon, procfs: "+mount+"}", &capability.Config{})
	for i, want := range []string{"", "gone: find name kuryr-daemon: it has just ended"} {
		if err := os.Remove(filepath.Join(mount, fmt.Sprint(40+i), "status")); err != nil {
			t.Fatal(err)
		}
		samples, err := collectortest.Collect(t, c)
		if got := failure(samples, err); got != want {
			t.Errorf("Collect() without %d of 2 processes failed with %q, want %q", i+1, got, want)
		}
		if known := outcome(samples, "NET_ADMIN") != "unknown unknown unknown unknown"; known != (want == "") {
			t.Errorf("Collect() without %d of 2 processes: known %v, want %v", i+1, known, want == "")
		}
	}
}
