package explain

import (
	"strings"
	"testing"

	"github.com/vitals-health/vitals/evaluator"
)

// A pending rule that was never ok decides, and the text has the reason.
func TestStartingRuleIsExplained(t *testing.T) {
	sc := newScene(t, "groups: [{name: g, rules: [{alert: R, expr: up == 0, for: 2m, labels: {state: silver}}]}]")
	x := sc.explain(t, "silver", Options{})
	if len(x.Rules) != 1 || !x.Rules[0].Decides || !x.Rules[0].Starting || x.Rules[0].Status != evaluator.Pending.String() {
		t.Fatalf("the rules are %+v, want one that decides while it is pending", x.Rules)
	}
	if head := (&textWriter{x: x}).ruleHead(x.Rules[0]); !strings.HasSuffix(head, ", not ok since the start") {
		t.Errorf("ruleHead() = %q, want that it was not ok since the start", head)
	}
}

func TestHeld(t *testing.T) {
	for seconds, want := range map[float64]string{0: "", 0.5: ", held for 1s more", 180: ", held for 3m more"} {
		if got := held(&Rule{HeldForSeconds: seconds}); got != want {
			t.Errorf("held() of %v s = %q, want %q", seconds, got, want)
		}
	}
}
