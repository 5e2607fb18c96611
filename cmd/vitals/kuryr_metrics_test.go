package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vitals-health/vitals/collectors/kinds"
)

// exportedByKuryr are the metrics of Kuryr's exporters (kuryr_kubernetes/controller/managers/prometheus_exporter.py
// and kuryr_kubernetes/cni/prometheus_exporter.py), by the page that has their equivalents.
func exportedByKuryr() map[string][]string {
	return map[string][]string{
		"docs/guides/kuryr-controller.md": {
			"kuryr_quota_free_count", "kuryr_port_quota_per_subnet", "kuryr_critical_lb_members_count", "kuryr_critical_lb_state",
			"kuryr_pod_creation_latency", "kuryr_load_balancer_readiness_total", "kuryr_port_readiness_total",
		},
		"docs/guides/kuryr-cni.md": {"kuryr_cni_request_duration_seconds"},
	}
}

// Each metric of Kuryr's exporters has equivalents, which Vitals exports or takes over from Kuryr.
func TestKuryrMetricsHaveEquivalents(t *testing.T) {
	var own []string
	for _, kind := range kinds.Names() {
		for _, m := range kinds.New(kind).Metrics("") {
			own = append(own, m.Name)
		}
	}
	for page, want := range exportedByKuryr() {
		var listed []string
		for _, table := range docTables(readDoc(t, page), "Kuryr's metric") {
			for _, row := range table.rows {
				theirs, equivalents := codeSpans(row[0]), codeSpans(row[1])
				listed = append(listed, theirs...)
				if len(theirs) != 1 || len(equivalents) == 0 {
					t.Errorf("%s: the row %q has %d metrics of Kuryr and %d of Vitals, want one and some", page, row[0], len(theirs), len(equivalents))
					continue
				}
				for _, name := range equivalents {
					if !slices.Contains(own, name) && !strings.HasPrefix(name, theirs[0]) {
						t.Errorf("%s: %s for %s is neither a metric of Vitals nor the same of Kuryr", page, name, theirs[0])
					}
				}
			}
		}
		if diff := cmp.Diff(want, listed); diff != "" {
			t.Errorf("%s: metrics of Kuryr's exporter (-want +listed):\n%s", page, diff)
		}
	}
}
