package rules_test

import (
	"testing"
	"time"

	"github.com/vitals-health/vitals/rules"
)

func TestNoData(t *testing.T) {
	for _, tt := range []struct {
		policy  rules.NoData
		kind    rules.NoData
		holds   time.Duration
		isHold  bool
		invalid bool
	}{
		{policy: "fail", kind: rules.NoDataFail},
		{policy: "pass", kind: rules.NoDataPass},
		{policy: "hold", kind: rules.NoDataHold, isHold: true},
		{policy: "hold 5m", kind: rules.NoDataHold, isHold: true, holds: 5 * time.Minute},
		{policy: "hold  1h30m", kind: rules.NoDataHold, isHold: true, holds: 90 * time.Minute},
		{policy: "hold 1d", kind: rules.NoDataHold, isHold: true, holds: 24 * time.Hour},
		{policy: "", kind: "", invalid: true},
		{policy: "hold ", kind: "hold ", invalid: true},
		{policy: "hold 0s", kind: "hold 0s", invalid: true},
		{policy: "hold -5m", kind: "hold -5m", invalid: true},
		{policy: "hold 5", kind: "hold 5", invalid: true},
		{policy: "hold 5m 3s", kind: "hold 5m 3s", invalid: true},
		{policy: "hold5m", kind: "hold5m", invalid: true},
		{policy: "pass 5m", kind: "pass 5m", invalid: true},
	} {
		holds, isHold := tt.policy.HoldsFor()
		if tt.policy.Valid() == tt.invalid || tt.policy.Kind() != tt.kind || holds != tt.holds || isHold != tt.isHold {
			t.Errorf("%q: Valid() = %t, Kind() = %q, HoldsFor() = %s, %t, want %t, %q, %s, %t",
				tt.policy, tt.policy.Valid(), tt.policy.Kind(), holds, isHold, !tt.invalid, tt.kind, tt.holds, tt.isHold)
		}
	}
}

// The shipped rules hold nothing for ever: what is not measured is no evidence.
func TestShippedHoldsEnd(t *testing.T) {
	for _, f := range shipped(t) {
		for _, g := range f.Groups {
			for _, r := range g.Rules {
				if d, hold := r.NoData.HoldsFor(); hold && d == 0 {
					t.Errorf("%s: rule %s holds without an end", f.Name, r.Alert)
				}
			}
		}
	}
}
