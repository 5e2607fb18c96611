package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"
)

// Without flags the command writes the files of dashboards/, side by side.
func TestCommittedAlertsAreGenerated(t *testing.T) {
	var out, errs bytes.Buffer
	dir := t.TempDir()
	if code := run([]string{"generate", "alerts", "--out=" + dir}, &out, &errs); code != exitOK {
		t.Fatalf("vitals generate alerts = %d\n%s%s", code, out.String(), errs.String())
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 7 {
		t.Errorf("vitals generate alerts wrote %v, want 7 files (%v)", entries, err)
	}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		path, want := "dashboards/alerts/"+e.Name(), string(text)
		if e.Name() == "mixin.libsonnet" {
			path, want = "dashboards/"+e.Name(), strings.Replace(want, "'alerts.yml'", "'alerts/alerts.yml'", 1)
		}
		if got := readDoc(t, path); got != want && *updateDocs {
			if err := os.WriteFile(filepath.Join(docsRoot, path), []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		} else if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s is not as generated: run go test ./cmd/vitals -run %s -update\n(-want +got):\n%s", path, t.Name(), diff)
		}
	}
}

// The PodMonitor selects the container of Vitals in the pod of the guide, by its name and the
// name of its port.
func TestPodMonitorFindsThePodOfTheGuide(t *testing.T) {
	var monitor struct {
		Spec struct {
			Endpoints []struct {
				Port        string
				Relabelings []struct{ Regex string }
			} `yaml:"podMetricsEndpoints"`
		}
	}
	if err := yaml.Unmarshal([]byte(readDoc(t, "dashboards/alerts/podmonitor.yaml")), &monitor); err != nil || len(monitor.Spec.Endpoints) != 1 {
		t.Fatalf("podmonitor.yaml = %+v, %v, want one endpoint", monitor, err)
	}
	endpoint := monitor.Spec.Endpoints[0]
	_, guide, _ := strings.Cut(readDoc(t, "docs/guides/kubernetes.md"), "\n## Prometheus\n")
	_, guide, _ = strings.Cut(guide, "```yaml\n")
	block, _, _ := strings.Cut(guide, "```")
	var pod struct {
		Spec struct {
			Containers []struct {
				Name  string
				Ports []struct{ Name string }
			}
		}
	}
	if err := yaml.Unmarshal([]byte(block), &pod); err != nil || len(pod.Spec.Containers) != 1 {
		t.Fatalf("the guide's pod = %+v, %v, want one container", pod, err)
	}
	c := pod.Spec.Containers[0]
	if c.Name != endpoint.Relabelings[0].Regex || !slices.ContainsFunc(c.Ports, func(p struct{ Name string }) bool { return p.Name == endpoint.Port }) {
		t.Errorf("the guide's container is %+v, want one named %s with a port named %s", c, endpoint.Relabelings[0].Regex, endpoint.Port)
	}
}
