package main

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/cgroup"
	"github.com/vitals-health/vitals/collectors/components"
	"github.com/vitals-health/vitals/collectors/kubernetes"
	"github.com/vitals-health/vitals/collectors/process"
)

// loadCNI loads the CNI daemon's profile with a kuryr.conf and with --set.
func loadCNI(t *testing.T, conf string, set map[string]string) (*loaded, []error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kuryr.conf")
	writeFile(t, path, conf)
	p := &program{profile: "kuryr-cni", kuryrConf: path, set: set}
	return p.load()
}

// mustLoadCNI is loadCNI without mistakes.
func mustLoadCNI(t *testing.T, conf string, set map[string]string) *loaded {
	t.Helper()
	l, errs := loadCNI(t, conf, set)
	if len(errs) > 0 {
		t.Fatalf("load() = %v, want no mistakes", errs)
	}
	return l
}

// cniConfChecks are the scenarios that kuryr.conf decides before anything runs.
func cniConfChecks() []scenarioCheck {
	return []scenarioCheck{
		{"N10", "`cg_path` is set", "that cgroup is measured", func(t *testing.T) {
			const path = "/sys/fs/cgroup/system.slice/kuryr-cni.service"
			checkCgroup(t, mustLoadCNI(t, "[cni_health_server]\ncg_path = "+path+"\n", nil), cgroup.Config{Path: path})
		}},
		{"N11", "`cg_path` is not set", "the own cgroup is measured", func(t *testing.T) {
			checkCgroup(t, mustLoadCNI(t, "[cni_health_server]\nport = 8090\n", nil), cgroup.Config{})
		}},
		{"N11", "`cg_path` is set, and `--set process`", "the cgroup of that process is measured", func(t *testing.T) {
			l := mustLoadCNI(t, "[cni_health_server]\ncg_path = /sys/fs/cgroup/x\n", map[string]string{"process": "kuryr-daemon"})
			checkCgroup(t, l, cgroup.Config{Process: &process.Selector{Name: "kuryr-daemon", PIDNamespace: "any"}})
		}},
		{"N16", "`max_memory_usage` is 0", "an error that names file and line, exit code 3", memoryMistake("0")},
		{"N17", "`max_memory_usage` is -2", "an error that names file and line, exit code 3", memoryMistake("-2")},
	}
}

func checkCgroup(t *testing.T, l *loaded, want cgroup.Config) {
	t.Helper()
	if diff := cmp.Diff(&want, l.collector("memory").Cgroup); diff != "" {
		t.Errorf("memory (-want +got):\n%s", diff)
	}
}

func memoryMistake(value string) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		path := filepath.Join(t.TempDir(), "kuryr.conf")
		writeFile(t, path, "[cni_health_server]\n\nmax_memory_usage = "+value+"\n")
		want := path + `:3: [cni_health_server] max_memory_usage "` + value + "\": expected a number of MiB, 1 or more, or -1 for no limit\n"
		for _, command := range []string{"run", "once"} {
			code, _, stderr := vitals(command, "--profile=kuryr-cni", "--kuryr.conf="+path)
			if code != exitConfig || stderr != want {
				t.Errorf("%s = %d %q, want %d %q", command, code, stderr, exitConfig, want)
			}
		}
	}
}

func TestCNIConf(t *testing.T) {
	for _, c := range cniConfChecks() {
		t.Run(c.id+" "+c.name, c.check)
	}
}

func TestCNIConfIsTakenOver(t *testing.T) {
	conf := `[kubernetes]
api_root = https://192.0.2.10:6443
token_file = /etc/kuryr/token
ssl_ca_crt_file = /etc/kuryr/ca.crt
ssl_verify_server_crt = True
enabled_handlers = vif,namespace
[cni_health_server]
port = 8190
max_memory_usage = 1024
[cni_daemon]
cni_failures_count = 7
[prometheus_exporter]
cni_exporter_port = 19655
`
	path := filepath.Join(t.TempDir(), "kuryr.conf")
	writeFile(t, path, conf)
	p := &program{profile: "kuryr-cni", kuryrConf: path}
	l, errs := p.load()
	if len(errs) > 0 {
		t.Fatalf("load() = %v, want no mistakes", errs)
	}
	if got, want := l.cfg.Server, (ServerConfig{ListenAddress: ":8190", FailingStatus: 500}); got != want {
		t.Errorf("server = %+v, want %+v", got, want)
	}
	wantKubernetes := &kubernetes.Config{
		Server: "https://192.0.2.10:6443", TokenFile: "/etc/kuryr/token", CAFile: "/etc/kuryr/ca.crt",
		WatchIdleTimeout: model.Duration(90 * time.Second),
		Access:           []kubernetes.Access{{Verb: "watch", Resource: "pods"}, {Verb: "watch", Resource: "openstack.org/kuryrports"}},
	}
	if diff := cmp.Diff(wantKubernetes, l.collector("kubernetes").Kubernetes); diff != "" {
		t.Errorf("kubernetes (-want +got):\n%s", diff)
	}
	checkCgroup(t, l, cgroup.Config{Limit: new(collectors.Size(1024 * mebibyte))})
	events := l.collector("components").Components.Events
	if got := events["cni_add"].Limit; got == nil || *got != 7 {
		t.Errorf("limit of cni_add = %v, want 7", got)
	}
	if got := events["cni_del"].Limit; got != nil {
		t.Errorf("limit of cni_del = %d, want none", *got)
	}
	if got, want := l.collector("cni-metrics").Scrape.URL, "http://127.0.0.1:19655/metrics"; got != want {
		t.Errorf("URL of the daemon's metrics = %q, want %q", got, want)
	}
	if got := l.collector("kuryr-conf").File.Path; got != path {
		t.Errorf("file = %q, want %q, which was read", got, path)
	}
	if _, ok := l.sources.seen[path]; !ok {
		t.Errorf("the configuration does not consist of %s, want it to: a change of it is a change of the configuration", path)
	}
}

// hasRule says whether the configuration has a rule.
func hasRule(l *loaded, name string) bool {
	for _, f := range l.files {
		for _, g := range f.Groups {
			for _, r := range g.Rules {
				if r.Alert == name {
					return true
				}
			}
		}
	}
	return false
}

// Without a limit there is none to exceed, and no rule that could be unknown.
func TestCNIMemoryLimitIsOffByDefault(t *testing.T) {
	for conf, want := range map[string]bool{"": false, "max_memory_usage = -1": false, "max_memory_usage = 1": true} {
		l := mustLoadCNI(t, "[cni_health_server]\n"+conf+"\n", nil)
		if got := hasRule(l, "MemoryLimitExceeded"); got != want {
			t.Errorf("with %q the rule MemoryLimitExceeded is there: %t, want %t", conf, got, want)
		}
		if got := l.collector("memory").Cgroup.Limit != nil; got != want {
			t.Errorf("with %q there is a limit: %t, want %t", conf, got, want)
		}
	}
}

// Where requests give up waiting too soon for the histogram to tell, it does not judge.
func TestCNIHistogramNeedsLongTimeouts(t *testing.T) {
	for conf, want := range map[string]bool{"": true, "vif_annotation_timeout = 50": false, "vif_annotation_timeout = 51": true} {
		l := mustLoadCNI(t, "[cni_daemon]\n"+conf+"\n", nil)
		if got := hasRule(l, "CNIAddFailingByHistogram"); got != want {
			t.Errorf("with %q the rule CNIAddFailingByHistogram is there: %t, want %t", conf, got, want)
		}
		if !hasRule(l, "CNIAddFailing") {
			t.Errorf("with %q the rule CNIAddFailing is not there, want it always", conf)
		}
	}
}

func TestCNIVariables(t *testing.T) {
	l := mustLoadCNI(t, "", map[string]string{
		"components": "watcher,server", "interfaces": "br-int,eth0", "kubeconfig": "/etc/kubeconfig", "process": "kuryr-daemon",
		"shared_booleans": "watcher:/dev/shm/kuryr/watcher,server:/dev/shm/kuryr/server:30s",
	})
	daemon := process.Selector{Name: "kuryr-daemon", PIDNamespace: "any"}
	want := map[string]any{
		"interfaces": []string{"br-int", "eth0"}, "expect": []string{"watcher", "server"}, "kubeconfig": "/etc/kubeconfig", "server": "",
		"capability": &daemon, "process": &process.Config{Selector: daemon},
		"booleans": map[string]components.SharedBoolean{
			"watcher": {Path: "/dev/shm/kuryr/watcher"}, "server": {Path: "/dev/shm/kuryr/server", Deadline: model.Duration(30 * time.Second)},
		},
	}
	got := map[string]any{
		"interfaces": l.collector("netlink").Netlink.Interfaces, "expect": l.collector("components").Components.Expect,
		"kubeconfig": l.collector("kubernetes").Kubernetes.Kubeconfig, "server": l.collector("kubernetes").Kubernetes.Server,
		"capability": l.collector("net-admin").Capability.Process, "process": l.collector("daemon").Process,
		"booleans": l.collector("components").Components.SharedBooleans,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what --set set (-want +got):\n%s", diff)
	}
	checkCgroup(t, l, cgroup.Config{Process: &daemon})
}

func TestCNIVariableMistakes(t *testing.T) {
	const form = "expected NAME:/PATH or NAME:/PATH:DEADLINE, and commas between several"
	for _, tt := range []struct{ name, value, want string }{
		{"proces", "x", "--set proces=...: the profile has no such variable, expected components, interfaces, kubeconfig, process or shared_booleans"},
		{"shared_booleans", "watcher", "--set shared_booleans=watcher: " + form},
		{"shared_booleans", "watcher:dev/shm", "--set shared_booleans=watcher:dev/shm: " + form},
		{"shared_booleans", "w:/dev/shm/w:30", `--set shared_booleans=w:/dev/shm/w:30: deadline "30": expected a duration such as 30s`},
		{"shared_booleans", "a:/b,:/c", "--set shared_booleans=a:/b,:/c: " + form},
		{"interfaces", "br-int,", `collectors[2].netlink.interfaces[1]: interface "": expected`},
		{"process", "", "--set process=: expected a value, or no such flag"},
		{"kubeconfig", "", "--set kubeconfig=: expected a value, or no such flag"},
		{"process", "/usr/bin/kuryr-daemon", `name "/usr/bin/kuryr-daemon": expected a process's name without its folder`},
	} {
		t.Run(tt.name+"="+tt.value, func(t *testing.T) {
			_, errs := loadCNI(t, "", map[string]string{tt.name: tt.value})
			if err := errors.Join(errs...); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("load() = %v, want %q", err, tt.want)
			}
		})
	}
}

// The controller's profile has not the variables of the other one.
func TestControllerVariables(t *testing.T) {
	p := &program{profile: "kuryr-controller", set: map[string]string{"process": "x"}}
	if _, errs := p.load(); len(errs) != 1 || !strings.HasSuffix(errs[0].Error(), "expected components or kubeconfig") {
		t.Errorf("load() = %v, want a mistake that names the variables", errs)
	}
}

// One look with the shipped profile, from the command line to the exit code. This
// machine runs no CNI daemon; its netlink and its cgroup are real.
func TestCNIOnce(t *testing.T) {
	t.Parallel()
	cloud := newCloud(t)
	path := filepath.Join(t.TempDir(), "kuryr.conf")
	writeFile(t, path, fillIn(t, cniConf, cloud, t.TempDir()))
	once := func(state string) (int, string) {
		code, stdout, _ := vitals("once", state, "--profile=kuryr-cni", "--kuryr.conf="+path, "--set=process=no-such-daemon", "--set=components=watcher")
		return code, stdout
	}
	const missing = "failing 1 DaemonGone failing: The CNI daemon does not run."
	if code, stdout := once("ready"); code != exitFailing || !strings.HasPrefix(stdout, missing) {
		t.Errorf("once ready = %d %q, want %d %q", code, stdout, exitFailing, missing)
	}
	if code, stdout := once("alive"); code != exitOK || !strings.HasPrefix(stdout, "ok 0 alive: ") {
		t.Errorf("once alive = %d %q, want 0 and ok: no restart brings a daemon to a machine that has none", code, stdout)
	}
}
