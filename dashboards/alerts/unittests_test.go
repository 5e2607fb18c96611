package alerts_test

import (
	"testing"

	"github.com/vitals-health/vitals/dashboards/alerts"
	"github.com/vitals-health/vitals/internal/ruletest"
)

// The alerts' unit tests pass in the evaluator of Vitals as they do in promtool: each
// alert fires once it has waited, says what it is to say, and stops.
func TestAlertsBehave(t *testing.T) {
	files := alertFiles(t, alerts.Options{})
	report := ruletest.Run(t.Context(), "alerts_test.yml", ruletest.Options{ReadFile: func(name string) ([]byte, error) { return []byte(files[name]), nil }})
	if len(report.Mistakes) > 0 {
		t.Fatal(report.Mistakes)
	}
	looks := 0
	for _, test := range report.Tests {
		looks += test.Expectations
		for _, f := range test.Failures {
			t.Errorf("%s: %s: %s\n%s", f.Place, test.Name, f.What, f.Text)
		}
	}
	if len(report.Tests) < 25 || looks < 50 {
		t.Errorf("%d tests with %d looks were run, want those of all alerts", len(report.Tests), looks)
	}
}
