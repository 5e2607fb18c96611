package alerts_test

import (
	"context"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"

	"github.com/vitals-health/vitals/dashboards/alerts"
	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/rules"
)

// A Vitals that loads alerts.yml, with the metrics of another one that fails in every way,
// shows the alerts, and derives its verdicts only from its own rules. Alerts take the label
// state from their series, which is not a label of the rule.
func TestAlertsDoNotChangeVerdicts(t *testing.T) {
	own := ruleFile(t, "own.yml", `groups: [{name: g, rules: [{alert: AppDown, expr: app_up == 0, labels: {state: ready}}, {alert: AppDead, expr: app_up == 0, labels: {state: alive}}]}]`)
	about := ruleFile(t, "alerts.yml", alertFiles(t, alerts.Options{})["alerts.yml"])
	start := time.Unix(1_700_000_000, 0)
	sim, err := evaluator.NewSimulation(evaluator.Config{Files: []*rules.File{own, about}}, evaluator.SimulationOptions{}, start)
	if err != nil {
		t.Fatal(err)
	}
	var snap *evaluator.Snapshot
	for at := start; at.Sub(start) <= 15*time.Minute; at = at.Add(15 * time.Second) {
		add := func(v float64, pairs ...string) {
			if err := sim.Append(evaluator.Sample{Labels: labels.FromStrings(pairs...), T: at.UnixMilli(), Value: v}); err != nil {
				t.Fatal(err)
			}
		}
		add(1, "__name__", "app_up")
		add(0, "__name__", "up", "job", "vitals", "instance", "b")
		for _, state := range []string{"ready", "alive", "started"} {
			add(0, "__name__", "vitals_state", "job", "vitals", "instance", "b", "state", state)
			add(1, "__name__", "vitals_rule_status", "job", "vitals", "instance", "b", "state", state, "rule", "AppDown", "status", "unknown")
			add(1, "__name__", "vitals_rule_info", "job", "vitals", "instance", "b", "state", state, "rule", "AppDown", "severity", "critical")
		}
		snap = sim.Evaluate(context.Background(), at)
	}
	firing := map[string]string{}
	for _, r := range snap.Rules {
		for _, a := range r.Alerts {
			if a.Firing {
				firing[r.Name] = a.Labels.Get("state")
			}
		}
	}
	for alert, state := range map[string]string{"VitalsDown": "", "VitalsNotReady": "ready", "VitalsNotAlive": "alive", "VitalsStateFailing": "started", "VitalsRuleUnknown": "ready"} {
		if got, ok := firing[alert]; !ok || got != state && alert != "VitalsRuleUnknown" {
			t.Errorf("%s fires: %t, with the state %q; want it to fire with %q", alert, ok, got, state)
		}
	}
	for _, s := range snap.States {
		if s.Verdict != evaluator.Pass {
			t.Errorf("%s = %s %s, want pass: %v decide", s.Name, s.Verdict, s.Reason, s.Deciding)
		}
		for _, i := range s.Rules {
			if r := snap.Rules[i]; r.File != "own.yml" {
				t.Errorf("%s is a rule of the state %s, want none but the own ones", r.Name, s.Name)
			}
		}
	}
}
