package process_test

import (
	"strings"
	"testing"

	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/process"
	"github.com/vitals-health/vitals/collectors/process/proctest"
)

func TestByArgument(t *testing.T) {
	python := func(args ...string) []string { return append([]string{"/usr/bin/python3"}, args...) }
	tests := []struct {
		name string
		args []string
		want bool
	}{
		{"script behind its interpreter", python("/usr/bin/nova-conductor"), true},
		{"script behind an option", python("-u", "/usr/bin/nova-conductor", "--config-file", "/etc/nova/nova.conf"), true},
		{"program", []string{"/usr/sbin/nova-conductor"}, true},
		{"program without its folder", []string{"nova-conductor"}, true},
		{"argument", []string{"supervise", "nova-conductor"}, true},
		{"title", []string{"nova-conductor: worker 1"}, true},
		{"title with the command line behind it", []string{"nova-conductor (/usr/bin/python3 /usr/bin/nova-conductor)"}, true},
		{"title with what it has overwritten", []string{"nova-conductor: worker 1", "", "", ""}, true},
		{"nothing of it", python("/usr/bin/nova-scheduler"), false},
		{"begins alike", python("/usr/bin/nova-conductor2"), false},
		{"ends alike", python("/usr/bin/super-nova-conductor"), false},
		{"part of a line", []string{"sh", "-c", "exec nova-conductor --debug"}, false},
		{"title of another, with the command line behind it", []string{"privsep (/usr/bin/nova-conductor)"}, false},
		{"title that is not the first", []string{"grep", "nova-conductor: worker"}, false},
		{"folder", []string{"ls", "/etc/nova-conductor/"}, false},
		{"option with a path", python("/usr/bin/x", "--log-dir=/var/log/nova-conductor"), false},
		{"option", []string{"x", "--nova-conductor"}, false},
		{"in another case", python("/usr/bin/Nova-Conductor"), false},
		{"thread of the kernel", nil, false},
		{"no arguments", []string{""}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := collectLine(t, "argument: nova-conductor", proctest.ProcFS(t, proctest.Process{PID: 50, Comm: "python3", Args: tt.args}))
			want := "gone, up 0: no process of argument nova-conductor"
			if tt.want {
				want = "1 since 0"
			}
			if got != want {
				t.Errorf("Collect() of %q = %s, want %s", tt.args, got, want)
			}
		})
	}
	for argument, want := range map[string]string{
		"/usr/bin/nova-conductor": "1 since 0", "bin/nova-conductor": "gone, up 0: no process of argument bin/nova-conductor",
		"--config-file=/etc/x": "1 since 0", "x": "gone, up 0: no process of argument x", "two words": "1 since 0",
	} {
		mount := proctest.ProcFS(t, proctest.Process{PID: 50, Comm: "python3", Args: python("/usr/bin/nova-conductor", "--config-file=/etc/x", "two words")})
		if got := collectLine(t, "argument: "+argument, mount); got != want {
			t.Errorf("Collect() with the argument %s = %s, want %s", argument, got, want)
		}
	}
}

// A check that has the name of the searched program among its arguments, in a script of that name,
// finds neither itself nor the script, nor what it starts.
func TestIsNoRelative(t *testing.T) {
	const check, vitals, hook, helper, nova = 20, 30, 40, 41, 50
	tree := []proctest.Process{
		{PID: 10, Comm: "sshd", Exe: "/usr/sbin/sshd", Parent: 1},
		{PID: check, Comm: "nova-compute", Exe: "/usr/bin/bash", Args: []string{"bash", "/openstack/nova-compute"}, Parent: 10, Start: 100},
		{PID: vitals, Comm: "vitals", Exe: "/usr/bin/vitals", Args: []string{"vitals", "once", "nova-compute"}, Parent: check, Start: 200},
		{PID: hook, Comm: "nova-compute", Exe: "/usr/bin/bash", Args: []string{"bash", "/hooks/nova-compute"}, Parent: vitals, Start: 300},
		{PID: helper, Comm: "sleep", Exe: "/usr/bin/sleep", Args: []string{"sleep", "nova-compute"}, Parent: hook, Start: 400},
	}
	service := proctest.Process{PID: nova, Comm: "nova-compute", Exe: "/usr/bin/python3.12", Args: []string{"python3", "/usr/bin/nova-compute"}, Parent: 1, Start: 500}
	relative := func(text string, pid string) string {
		return "gone, up 0: no process of " + text + " except " + pid + ", which is Vitals, its ancestor or its descendant: only pid and pid_file select it"
	}
	tests := []struct {
		name, config string
		self         int
		processes    []proctest.Process
		want         string
	}{
		{"argument", "argument: nova-compute", vitals, append(tree[:5:5], service), "1 since 5"},
		{"name", "name: nova-compute", vitals, append(tree[:5:5], service), "1 since 5"},
		{"argument of nothing else", "argument: nova-compute", vitals, tree, relative("argument nova-compute", "20")},
		{"name of nothing else", "name: nova-compute", vitals, tree, relative("name nova-compute", "20")},
		{"program of what has started it", "exe: /usr/sbin/sshd", vitals, tree, relative("exe /usr/sbin/sshd", "10")},
		{"program of what it has started", "exe: /usr/bin/sleep", vitals, tree, relative("exe /usr/bin/sleep", "41")},
		{"its own program", "exe: /usr/bin/vitals", vitals, tree, relative("exe /usr/bin/vitals", "30")},
		{"its own argument", "argument: once", vitals, tree, relative("argument once", "30")},
		{"first process, which a container is there for", "name: init", vitals, tree, "1 since 0"},
		{"by number", "pid: 20", vitals, tree, "1 since 1"},
		{"by cgroup", "cgroup: /", vitals, tree, "6 since 0"},
		{"own process", "", vitals, tree, "1 since 2"},
		{"Vitals is another one", "argument: nova-compute", 10, append(tree[:5:5], service), "1 since 5"},
		{"Vitals is the first process, which inherits others", "name: nova-compute", 1, append(tree[:5:5], service), "3 since 1"},
		{"Vitals is the first process", "name: init", 1, tree, relative("name init", "1")},
		{"Vitals is not shown", "name: nova-compute", 0, tree, "2 since 1"},
		{"parents in a circle", "name: a", vitals, []proctest.Process{{PID: vitals, Comm: "vitals", Parent: 60}, {PID: 60, Comm: "a", Parent: vitals}, {PID: 61, Comm: "a", Parent: 62, Start: 700}, {PID: 62, Comm: "b", Parent: 61}}, "1 since 7"},
		{"parent that has ended", "name: a", vitals, []proctest.Process{{PID: vitals, Comm: "vitals", Parent: 99}, {PID: 61, Comm: "a", Parent: 98, Start: 700}}, "1 since 7"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			mount := proctest.ProcFS(t, tt.processes...)
			proctest.Self(t, mount, tt.self)
			if got := collectLine(t, tt.config, mount); got != tt.want {
				t.Errorf("Collect() = %s, want %s", got, tt.want)
			}
		})
	}
}

// With the host's processes in sight, those of other PID namespaces and containers are
// passed over.
func TestPIDNamespace(t *testing.T) {
	const host, first, container = "pid:[4026531836]", "cgroup:[4026531835]", "cgroup:[4026532200]"
	var id, other = strings.Repeat("0123456789abcdef", 4), strings.Repeat("fedcba9876543210", 4)
	vitals := func(p proctest.Process) proctest.Process { p.PID, p.Comm = 30, "vitals"; return p }
	rsync := func(p proctest.Process) proctest.Process { p.PID, p.Comm = 50, "rsync"; return p }
	foreign := "gone, up 0: no process of name rsync in the PID namespace and container of Vitals: process 50 is in another, pid_namespace any selects it too"
	tests := []struct {
		name          string
		vitals, rsync proctest.Process
		want          string
	}{
		{"same namespace", proctest.Process{Nspid: "30"}, proctest.Process{Nspid: "50"}, "1 since 0"},
		{"container on the host", proctest.Process{Nspid: "30", Pidns: host, Cgroupns: first}, proctest.Process{Nspid: "50\t7"}, foreign},
		{"kernel without NSpid", proctest.Process{}, proctest.Process{}, "1 since 0"},
		{"the host's proc(5), and the same container", proctest.Process{Nspid: "30\t3", Pidns: "pid:[7]"}, proctest.Process{Nspid: "50\t5", Pidns: "pid:[7]"}, "1 since 0"},
		{"the host's proc(5), and another container", proctest.Process{Nspid: "30\t3", Pidns: "pid:[7]"}, proctest.Process{Nspid: "50\t5", Pidns: "pid:[8]"}, foreign},
		{"the host's proc(5), and the host", proctest.Process{Nspid: "30\t3", Pidns: "pid:[7]"}, proctest.Process{Nspid: "50", Pidns: host}, foreign},
		{"both on the host", proctest.Process{Nspid: "30", Pidns: host, Cgroupns: first, Cgroup: "0::/system.slice/vitals.service\n"}, proctest.Process{Nspid: "50", Cgroup: "0::/system.slice/rsync.service\n"}, "1 since 0"},
		{"kernel without cgroup namespaces", proctest.Process{Nspid: "30", Pidns: host, Cgroup: "2:cpu:/a\n"}, proctest.Process{Nspid: "50", Cgroup: "2:cpu:/b\n"}, "1 since 0"},
		{"container with the host's processes, and its own", proctest.Process{Nspid: "30", Pidns: host, Cgroupns: container}, proctest.Process{Nspid: "50", Cgroup: "0::/\n"}, "1 since 0"},
		{"container with the host's processes, and below it", proctest.Process{Nspid: "30", Pidns: host, Cgroupns: container}, proctest.Process{Nspid: "50", Cgroup: "0::/..data/x\n"}, "1 since 0"},
		{"container with the host's processes, and one of them", proctest.Process{Nspid: "30", Pidns: host, Cgroupns: container}, proctest.Process{Nspid: "50", Cgroup: "0::/../../system.slice/rsync.service\n"}, foreign},
		{"container with the host's processes, and the root", proctest.Process{Nspid: "30", Pidns: host, Cgroupns: container}, proctest.Process{Nspid: "50", Cgroup: "0::/..\n"}, foreign},
		{"container with the host's processes, and cgroups of version 1", proctest.Process{Nspid: "30", Pidns: host, Cgroupns: container}, proctest.Process{Nspid: "50", Cgroup: "3:cpu:/\n2:memory:/../x\n"}, foreign},
		{"a container's cgroups of the host, and its own", proctest.Process{Nspid: "30", Pidns: host, Cgroupns: first, Cgroup: "2:cpu:/\n0::/machine.slice/libpod-" + id + ".scope/container\n"},
			proctest.Process{Nspid: "50", Cgroup: "2:cpu:/\n0::/machine.slice/libpod-" + id + ".scope/x\n"}, "1 since 0"},
		{"a container's cgroups of the host, and another container", proctest.Process{Nspid: "30", Pidns: host, Cgroupns: first, Cgroup: "0::/machine.slice/libpod-" + id + ".scope\n"},
			proctest.Process{Nspid: "50", Cgroup: "0::/machine.slice/libpod-" + other + ".scope\n"}, foreign},
		{"a container's cgroups of the host, and the host", proctest.Process{Nspid: "30", Pidns: host, Cgroupns: first, Cgroup: "5:cpu:/docker/" + id + "\n"}, proctest.Process{Nspid: "50", Cgroup: "5:cpu:/system.slice/rsync.service\n"}, foreign},
		{"containers that share a PID namespace of their own", proctest.Process{Nspid: "30", Pidns: "pid:[7]", Cgroupns: container}, proctest.Process{Nspid: "50", Cgroup: "0::/../x\n"}, "1 since 0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			mount := proctest.ProcFS(t, vitals(tt.vitals), rsync(tt.rsync))
			proctest.Self(t, mount, 30)
			if got := collectLine(t, "name: rsync\npid_namespace: own", mount); got != tt.want {
				t.Errorf("Collect() = %s, want %s", got, tt.want)
			}
			for _, config := range []string{"name: rsync\npid_namespace: any", "name: rsync", "pid: 50", "cgroup: /"} {
				if got := collectLine(t, config, mount); !strings.HasSuffix(got, " since 0") {
					t.Errorf("Collect() with %q = %s, want that it is found", config, got)
				}
			}
		})
	}
	t.Run("Vitals is not shown", func(t *testing.T) {
		mount := proctest.ProcFS(t, rsync(proctest.Process{Nspid: "50"}))
		proctest.Self(t, mount, 0)
		want := "unreadable: find name rsync: find the PID namespace of Vitals: open /proc/0/status: no such file or directory"
		if got := collectLine(t, "name: rsync\npid_namespace: own", mount); got != want {
			t.Errorf("Collect() = %s, want %s", got, want)
		}
	})
}

func TestPIDNamespaceProblems(t *testing.T) {
	const alone = "pid_namespace: pid_namespace without a search: expected name, exe or argument, too"
	for config, want := range map[string]string{
		"{name: x, pid_namespace: own}":      "",
		"{exe: /x, pid_namespace: any}":      "",
		"{argument: x, pid_namespace: own}":  "",
		"{name: x, pid_namespace: host}":     `pid_namespace: pid_namespace "host": expected own or any`,
		"pid_namespace: own":                 alone,
		"{pid: 1, pid_namespace: any}":       alone,
		"{pid_file: /x, pid_namespace: any}": alone,
		"{cgroup: /x, pid_namespace: own}":   alone,
		`argument: "a\0b"`:                   `argument: argument "a\x00b": expected no NUL`,
	} {
		if got := collectortest.Problems(t, config, &process.Config{}); got != want {
			t.Errorf("Problems() of %s = %q, want %q", config, got, want)
		}
	}
}
