package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vitals-health/vitals/collectors/cgroup"
	"github.com/vitals-health/vitals/collectors/process"
	"github.com/vitals-health/vitals/internal/config"
)

// mustLoadCNI loads the CNI daemon's profile with a kuryr.conf and with --set.
func mustLoadCNI(t *testing.T, conf string, set map[string]string) *config.Loaded {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kuryr.conf")
	writeFile(t, path, conf)
	p := &program{profile: "kuryr-cni", kuryrConf: path, set: set}
	l, errs := p.load()
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

func checkCgroup(t *testing.T, l *config.Loaded, want cgroup.Config) {
	t.Helper()
	if diff := cmp.Diff(&want, collectorNamed(l, "memory").Cgroup); diff != "" {
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

// One evaluation with the shipped profile, from the command line to the exit code. This
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
