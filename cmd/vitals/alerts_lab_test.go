package main

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/rules"
)

// firing returns the alerts about Vitals that fire, with the label rule of each, if /metrics
// does not change for a quarter of an hour.
func (l *kuryrLab) firing(t *testing.T) []string {
	t.Helper()
	f, errs := rules.Parse("alerts.yml", []byte(readDoc(t, "dashboards/alerts/alerts.yml")), nil)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	start := time.Now()
	sim, err := evaluator.NewSimulation(evaluator.Config{Files: []*rules.File{f}}, evaluator.SimulationOptions{}, start)
	if err != nil {
		t.Fatal(err)
	}
	families := parseExposition(t, "/metrics", l.get(t, "/metrics").body)
	var snap *evaluator.Snapshot
	for passed := time.Duration(0); passed <= 15*time.Minute; passed += 15 * time.Second {
		samples := append(scraped(families, passed), evaluator.Sample{Labels: target("up"), Value: 1})
		for i := range samples {
			samples[i].T = start.Add(passed).UnixMilli()
		}
		if err := sim.Append(samples...); err != nil {
			t.Fatal(err)
		}
		snap = sim.Evaluate(t.Context(), start.Add(passed))
	}
	var names []string
	for _, r := range snap.Rules {
		for _, a := range r.Alerts {
			if a.Firing {
				names = append(names, strings.TrimSpace(r.Name+" "+a.Labels.Get("rule")))
			}
		}
	}
	slices.Sort(names)
	return names
}

// target returns the labels of a series as Prometheus stores it.
func target(metric string, pairs ...string) labels.Labels {
	return labels.FromStrings(append(pairs, "__name__", metric, "job", "vitals", "instance", "a")...)
}

// scraped returns the samples of a scrape this long after the first one. The time of the last
// evaluation advances.
func scraped(families map[string]*dto.MetricFamily, passed time.Duration) []evaluator.Sample {
	var all []evaluator.Sample
	for name, family := range families {
		for _, m := range family.GetMetric() {
			var pairs []string
			for _, l := range m.GetLabel() {
				pairs = append(pairs, l.GetName(), l.GetValue())
			}
			v := m.GetGauge().GetValue() + m.GetCounter().GetValue() + m.GetUntyped().GetValue()
			if name == "vitals_evaluation_timestamp_seconds" {
				v += passed.Seconds()
			}
			all = append(all, evaluator.Sample{Labels: target(name, pairs...), Value: v})
		}
	}
	return all
}

// A healthy workload raises none of the alerts about Vitals, also where the profile
// has rules about absent dependencies. A missing dependency raises those alerts.
func TestAlertsOfTheShippedProfiles(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func(*testing.T, labOptions) *kuryrLab{"kuryr-controller": startKuryrLab, "kuryr-cni": startCNILab} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lab := start(t, labOptions{pace: calmPace})
			settled := func(ready bool) {
				soon(t, func() string {
					if got := lab.get(t, "/ready?verbose"); (got.code == http.StatusOK) != ready {
						return fmt.Sprintf("ready = %d %s, want it ready: %t", got.code, got.body, ready)
					}
					return ""
				})
				lab.round(t)
			}
			settled(true)
			if diff := cmp.Diff([]string{}, lab.firing(t), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("alerts of a healthy workload (-want +got):\n%s", diff)
			}
			fault("kubernetes", "500")(t, lab)
			settled(false)
			if got := lab.firing(t); !slices.Contains(got, "VitalsNotReady") || slices.Contains(got, "VitalsNotAlive") || slices.Contains(got, "VitalsDown") {
				t.Errorf("alerts while Kubernetes answers 500 are %q, want VitalsNotReady, and neither VitalsNotAlive nor VitalsDown", got)
			}
		})
	}
}
