package execprobe

import (
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Every field survives, and whatever is cut off is no verdict.
func TestTextHoldsEverything(t *testing.T) {
	want := &Verdict{
		State: "ready", Verdict: "fail", Since: time.Date(2026, 11, 21, 12, 0, 0, 5, time.UTC), Stalled: true, AgeSeconds: 61.25, Generation: 7,
		Reason: "not alive", Rule: "KeystoneDown", Status: "failing", Value: "0", Range: "@0:0", ExitCode: 12, Lines: []string{"KeystoneDown failing: it is down", "b"},
		Pending: []string{"NeutronDown pending (failing in 7s)"}, Notes: []string{"keystone: 000 refused"}, Rules: 8, Failing: 2, Unknown: 1,
	}
	for f, v := range reflect.ValueOf(*want).Fields() {
		if v.IsZero() {
			t.Errorf("the example has no %s, want every field", f.Name)
		}
	}
	text := string(want.Text())
	if got, err := parseText(text); err != nil || !cmp.Equal(got, want) {
		t.Errorf("parseText() = %v, want no error and no difference:\n%s", err, cmp.Diff(want, got))
	}
	for end := range len(text) {
		if v, err := parseText(text[:end]); err == nil {
			t.Errorf("parseText() of the first %d bytes = %+v, want an error", end, v)
		}
	}
}
