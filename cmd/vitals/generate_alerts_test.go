package main

import (
	"bytes"
	"path/filepath"
	"slices"
	"testing"

	"gopkg.in/yaml.v3"
)

// The files about alerts in dashboards/ are those that the command makes.
func TestCommittedAlertsAreGenerated(t *testing.T) {
	var out, errs bytes.Buffer
	if code := run([]string{"generate", "alerts", "--check", "--out=" + filepath.Join(docsRoot, "dashboards")}, &out, &errs); code != exitOK {
		t.Errorf("vitals generate alerts --check = %d\n%s%s\nrun go run ./cmd/vitals generate alerts", code, out.String(), errs.String())
	}
}

// The PodMonitor finds the container of Vitals in every deployment, by its name and the
// name of its port.
func TestPodMonitorFindsTheDeployments(t *testing.T) {
	var monitor struct {
		Spec struct {
			Endpoints []struct {
				Port        string
				Relabelings []struct{ Regex string }
			} `yaml:"podMetricsEndpoints"`
		}
	}
	if err := yaml.Unmarshal([]byte(readDoc(t, "dashboards/podmonitor.yaml")), &monitor); err != nil || len(monitor.Spec.Endpoints) != 1 {
		t.Fatalf("podmonitor.yaml = %+v, %v, want one endpoint", monitor, err)
	}
	endpoint := monitor.Spec.Endpoints[0]
	eachDeployment(t, func(t *testing.T, d deployment) {
		c, ok := containers(t, d.file)[endpoint.Relabelings[0].Regex]
		if !ok || !slices.ContainsFunc(c.Ports, func(p manifestPort) bool { return p.Name == endpoint.Port }) {
			t.Errorf("the container has the ports %v, want one named %s of a container named %s", c.Ports, endpoint.Port, endpoint.Relabelings[0].Regex)
		}
	})
}
