package profiles

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
	"github.com/vitals-health/vitals/internal/config"
)

func checkCgroup(t *testing.T, l *config.Loaded, want cgroup.Config) {
	t.Helper()
	if diff := cmp.Diff(&want, collectorNamed(l, "memory").Cgroup); diff != "" {
		t.Errorf("memory (-want +got):\n%s", diff)
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
	l, errs := Load(Options{Name: "kuryr-cni", KuryrConf: path})
	if len(errs) > 0 {
		t.Fatalf("Load() = %v, want no errors", errs)
	}
	if got, want := l.Config.Server, (config.ServerConfig{ListenAddress: ":8190", FailingStatus: 500}); got != want {
		t.Errorf("server = %+v, want %+v", got, want)
	}
	wantKubernetes := &kubernetes.Config{
		Server: "https://192.0.2.10:6443", TokenFile: "/etc/kuryr/token", CAFile: "/etc/kuryr/ca.crt",
		WatchIdleTimeout: model.Duration(90 * time.Second),
		Access:           []kubernetes.Access{{Verb: "watch", Resource: "pods"}, {Verb: "watch", Resource: "openstack.org/kuryrports"}},
	}
	if diff := cmp.Diff(wantKubernetes, collectorNamed(l, "kubernetes").Kubernetes); diff != "" {
		t.Errorf("kubernetes (-want +got):\n%s", diff)
	}
	checkCgroup(t, l, cgroup.Config{Limit: new(collectors.Size(1 << 30))})
	events := collectorNamed(l, "components").Components.Events
	if got := events["cni_add"].Limit; got == nil || *got != 7 {
		t.Errorf("limit of cni_add = %v, want 7", got)
	}
	if got := events["cni_del"].Limit; got != nil {
		t.Errorf("limit of cni_del = %d, want none", *got)
	}
	if got, want := collectorNamed(l, "cni-metrics").Scrape.URL, "http://127.0.0.1:19655/metrics"; got != want {
		t.Errorf("URL of the daemon's metrics = %q, want %q", got, want)
	}
	if got := collectorNamed(l, "kuryr-conf").File.Path; got != path {
		t.Errorf("file = %q, want %q, which was read", got, path)
	}
	if !l.Sources.Has(path) {
		t.Errorf("the configuration does not consist of %s, want it to: a change of it is a change of the configuration", path)
	}
}

// hasRule reports whether the configuration has a rule.
func hasRule(l *config.Loaded, name string) bool {
	for _, f := range l.Rules {
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
		l := mustLoad(t, "kuryr-cni", "[cni_health_server]\n"+conf+"\n", nil)
		if got := hasRule(l, "MemoryLimitExceeded"); got != want {
			t.Errorf("with %q the rule MemoryLimitExceeded is there: %t, want %t", conf, got, want)
		}
		if got := collectorNamed(l, "memory").Cgroup.Limit != nil; got != want {
			t.Errorf("with %q there is a limit: %t, want %t", conf, got, want)
		}
	}
}

// Where the timeout of requests is within the failure bucket, the histogram is not used.
func TestCNIHistogramNeedsLongTimeouts(t *testing.T) {
	for conf, want := range map[string]bool{"": true, "vif_annotation_timeout = 50": false, "vif_annotation_timeout = 51": true} {
		l := mustLoad(t, "kuryr-cni", "[cni_daemon]\n"+conf+"\n", nil)
		if got := hasRule(l, "CNIAddFailingByHistogram"); got != want {
			t.Errorf("with %q the rule CNIAddFailingByHistogram is there: %t, want %t", conf, got, want)
		}
		if !hasRule(l, "CNIAddFailing") {
			t.Errorf("with %q the rule CNIAddFailing is not there, want it always", conf)
		}
	}
}

func TestCNIVariables(t *testing.T) {
	l := mustLoad(t, "kuryr-cni", "", map[string]string{
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
		"interfaces": collectorNamed(l, "netlink").Netlink.Interfaces, "expect": collectorNamed(l, "components").Components.Expect,
		"kubeconfig": collectorNamed(l, "kubernetes").Kubernetes.Kubeconfig, "server": collectorNamed(l, "kubernetes").Kubernetes.Server,
		"capability": collectorNamed(l, "net-admin").Capability.Process, "process": collectorNamed(l, "daemon").Process,
		"booleans": collectorNamed(l, "components").Components.SharedBooleans,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what --set set (-want +got):\n%s", diff)
	}
	checkCgroup(t, l, cgroup.Config{Process: &daemon})
}

func TestCNIVariableMistakes(t *testing.T) {
	const form = "expected NAME:/PATH or NAME:/PATH:DEADLINE, and commas between several"
	for _, tt := range []struct{ name, value, want string }{
		{"proces", "x", "--set proces=...: the profile has no such variable, expected components, interfaces, kubeconfig, original, process or shared_booleans"},
		{"shared_booleans", "watcher", "--set shared_booleans=watcher: " + form},
		{"shared_booleans", "watcher:dev/shm", "--set shared_booleans=watcher:dev/shm: " + form},
		{"shared_booleans", "w:/dev/shm/w:30", `--set shared_booleans=w:/dev/shm/w:30: deadline "30": expected a duration such as 30s`},
		{"shared_booleans", "a:/b,:/c", "--set shared_booleans=a:/b,:/c: " + form},
		{"interfaces", "br-int,", `collectors[2].netlink.interfaces[1]: interface "": expected`},
		{"process", "", "--set process=: expected a value, or no such flag"},
		{"kubeconfig", "", "--set kubeconfig=: expected a value, or no such flag"},
		{"process", "/usr/bin/kuryr-daemon", `name "/usr/bin/kuryr-daemon": expected the name of a process without its directory`},
	} {
		t.Run(tt.name+"="+tt.value, func(t *testing.T) {
			_, errs := load(t, "kuryr-cni", "", map[string]string{tt.name: tt.value})
			if err := errors.Join(errs...); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Load() = %v, want %q", err, tt.want)
			}
		})
	}
}
