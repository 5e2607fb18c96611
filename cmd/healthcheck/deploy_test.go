package main

import (
	"io"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/vitals-health/vitals/internal/execprobe"
)

// execProbe is what the test reads of a probe in a manifest.
type execProbe struct {
	Exec             struct{ Command []string }
	TimeoutSeconds   int `yaml:"timeoutSeconds"`
	PeriodSeconds    int `yaml:"periodSeconds"`
	FailureThreshold int `yaml:"failureThreshold"`
}

// installed are the paths at which deploy/container/Dockerfile puts this program.
func installed(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("../../deploy/container/Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, m := range regexp.MustCompile(`(?m)^COPY (.*healthcheck) (\S+)$`).FindAllStringSubmatch(string(text), -1) {
		path := m[2]
		if strings.HasSuffix(path, "/") {
			path += "healthcheck"
		}
		paths = append(paths, path)
	}
	if len(paths) != 2 {
		t.Fatalf("the Dockerfile installs %q, want two paths", paths)
	}
	return paths
}

// The probes of the manifest run what the image has, in a style that uses 0 and 1,
// and end before the kubelet would end them. Alive is more patient than ready.
func TestExecProbeManifest(t *testing.T) {
	data, err := os.ReadFile("../../deploy/kubernetes/exec-probe.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var pod struct {
		Spec struct {
			Containers []struct {
				Name      string
				Readiness execProbe `yaml:"readinessProbe"`
				Liveness  execProbe `yaml:"livenessProbe"`
			}
		}
	}
	if err := yaml.Unmarshal(data, &pod); err != nil {
		t.Fatal(err)
	}
	workload := pod.Spec.Containers[0]
	for state, k := range map[string]execProbe{"ready": workload.Readiness, "alive": workload.Liveness} {
		p, err := parse(k.Exec.Command, func(string) string { return "" }, io.Discard)
		if err != nil || p.state != state || p.style != execprobe.Docker {
			t.Errorf("%v queries %q in style %s (%v), want %s in style docker", k.Exec.Command, p.state, p.style, err, state)
		}
		if limit := time.Duration(k.TimeoutSeconds) * time.Second; p.timeout >= limit {
			t.Errorf("%s: the probe ends after %s, want less than the kubelet's %s", state, p.timeout, limit)
		}
		if command := k.Exec.Command[0]; !strings.Contains(strings.Join(installed(t), " ")+" ", command+" ") {
			t.Errorf("%s runs %s, which the image does not have: it has %q", state, command, installed(t))
		}
	}
	patience := func(k execProbe) int { return k.PeriodSeconds * k.FailureThreshold }
	if r, a := patience(workload.Readiness), patience(workload.Liveness); r >= a {
		t.Errorf("the kubelet restarts after %d s and unroutes after %d s, want the restart later", a, r)
	}
}
