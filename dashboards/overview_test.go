package dashboards_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vitals-health/vitals/collectors"
)

// ruleNames returns the values of the label rule.
func (h *history) ruleNames(expr string) []string {
	h.t.Helper()
	var names []string
	for _, s := range h.query(expand(h.t, expr, "")) {
		names = append(names, s.Metric.Get("rule"))
	}
	slices.Sort(names)
	return names
}

// The table has a line with all columns for each rule that is not ok, except for unknown
// rules with no_data: pass.
func TestOverviewListsTheRulesThatAreNotOK(t *testing.T) {
	own := ownSamples(t)
	h := newHistory(t, time.Now(), map[string][]collectors.Sample{"a": own})
	for _, q := range panelOf(t, "overview.json", "Rules that are not ok now").Targets {
		want := []string{"Blind", "Down", "Ordinary", "Soon"}
		if q.RefID == "C" { // an alert that feeds no state has no severity in vitals_rule_info
			want = []string{"Blind", "Down", "Soon"}
		}
		if diff := cmp.Diff(want, h.ruleNames(q.Expr)); diff != "" {
			t.Errorf("the rules of query %s differ (-want +got):\n%s", q.RefID, diff)
		}
	}
	for title, want := range map[string]float64{"Rules failing": 2, "Rules unknown": 1} {
		if got := h.query(expand(t, panelOf(t, "overview.json", title).Targets[0].Expr, "")); len(got) != 1 || got[0].F != want {
			t.Errorf("%s = %v, want %v", title, got, want)
		}
	}
	// If all rules are ok, the table is empty, and the numbers are 0 and not missing.
	fine := append(statusSet("Down", "ready", "ok"), exposition(t, "info", "vitals_rule_info{rule=\"Down\",state=\"ready\",severity=\"critical\"} 1\n")...)
	h = newHistory(t, time.Now(), map[string][]collectors.Sample{"a": fine})
	for _, q := range panelOf(t, "overview.json", "Rules that are not ok now").Targets {
		if got := h.ruleNames(q.Expr); len(got) > 0 {
			t.Errorf("the rules of query %s are %v, want none", q.RefID, got)
		}
	}
	for _, title := range []string{"Rules failing", "Rules unknown"} {
		if got := h.query(expand(t, panelOf(t, "overview.json", title).Targets[0].Expr, "")); len(got) != 1 || got[0].F != 0 {
			t.Errorf("%s = %v, want 0", title, got)
		}
	}
}
