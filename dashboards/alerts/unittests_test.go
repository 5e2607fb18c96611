package alerts_test

import (
	"testing"

	"github.com/vitals-health/vitals/dashboards/alerts"
	"github.com/vitals-health/vitals/internal/ruletest"
)

// The unit tests of the alerts pass in the evaluator of Vitals, as they do in promtool.
func TestAlertsBehave(t *testing.T) {
	files := alertFiles(t, alerts.Options{})
	report := ruletest.Run(t.Context(), "alerts_test.yml", ruletest.Options{ReadFile: func(name string) ([]byte, error) { return []byte(files[name]), nil }})
	if len(report.Mistakes) > 0 {
		t.Fatal(report.Mistakes)
	}
	expectations := 0
	for _, test := range report.Tests {
		expectations += test.Expectations
		for _, f := range test.Failures {
			t.Errorf("%s: %s: %s\n%s", f.Place, test.Name, f.What, f.Text)
		}
	}
	if len(report.Tests) < 25 || expectations < 50 {
		t.Errorf("%d tests with %d expectations ran, want those of all alerts", len(report.Tests), expectations)
	}
}
