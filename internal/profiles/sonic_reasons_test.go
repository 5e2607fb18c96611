package profiles_test

import (
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/script"
	"github.com/vitals-health/vitals/collectors/supervisor"
	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/rules"
)

// reasonsOf are the failure series of a collector whose target is not there: one for each
// reason.
func reasonsOf(t *testing.T, kind collectors.Kind, name, metric string) []labels.Labels {
	t.Helper()
	c, err := kind.New(collectors.Env{Name: name})
	if err != nil {
		t.Fatal(err)
	}
	samples, err := c.Collect(t.Context())
	var found []labels.Labels
	for _, s := range samples {
		if s.Labels.Get(model.MetricNameLabel) == metric {
			found = append(found, s.Labels)
		}
	}
	if err == nil || len(found) == 0 {
		t.Fatalf("Collect() = %v and %d reasons, want an error with reasons", err, len(found))
	}
	return found
}

// A SONiC container is not ready for any reason of a failure of the supervisor or the
// hook, except for the two that are warnings.
func TestSonicReadyFailsForEveryReason(t *testing.T) {
	all := append(reasonsOf(t, &supervisor.Config{Socket: "/no/such/socket", Limit: 1}, "supervisor", "vitals_supervisor_failure"),
		reasonsOf(t, &script.Config{Command: []string{"/no/such/hook"}, Convention: "sonic-hook", Missing: "fail", OutputLimit: 1, ObjectLimit: 1}, "hook", "vitals_script_failure")...)
	for _, holds := range all {
		var samples []collectors.Sample
		for _, ls := range all {
			value := 0.0
			if labels.Equal(ls, holds) {
				value = 1
			}
			samples = append(samples, collectors.Sample{Labels: ls, Value: value})
		}
		snap := evaluateOnce(t, []*rules.File{shippedRules(t, "sonic.yml"), shippedRules(t, "sonic-alive.yml"), shippedRules(t, "sonic-hook-skipped.yml")}, samples)
		want := evaluator.Fail
		if reason := holds.Get("reason"); reason == "critical_file" || reason == "not_executable" {
			want = evaluator.Warn
		}
		if st, _ := snap.State(evaluator.Ready, epoch()); st.Verdict != want {
			t.Errorf("ready is %s for %s, want %s", st.Verdict, holds, want)
		}
		if st, _ := snap.State(evaluator.Alive, epoch()); st.Verdict != evaluator.Pass {
			t.Errorf("alive is %s for %s, want %s", st.Verdict, holds, evaluator.Pass)
		}
	}
}
