package verdicts

import (
	"math"
	"testing"

	"github.com/vitals-health/vitals/evaluator"
)

func TestRangeOf(t *testing.T) {
	for want, limit := range map[string]*evaluator.Limit{
		"~:3":       {Op: ">", Value: 3},
		"@3:":       {Op: ">=", Value: 3},
		"-0.5:":     {Op: "<", Value: -0.5},
		"@~:1":      {Op: "<=", Value: 1},
		"@0:0":      {Op: "==", Value: 0},
		"4:4":       {Op: "!=", Value: 4},
		"~:1209600": {Op: ">", Value: 14 * 86400},
	} {
		if got := rangeOf(limit); got != want {
			t.Errorf("rangeOf(%v) = %q, want %q", *limit, got, want)
		}
	}
	for _, limit := range []*evaluator.Limit{nil, {Op: ">", Value: math.Inf(1)}, {Op: ">", Value: 1e300}} {
		if got := rangeOf(limit); got != "" {
			t.Errorf("rangeOf(%v) = %q, want none", limit, got)
		}
	}
}
