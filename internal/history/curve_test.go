package history

import (
	"encoding/json"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/explain"
)

// curveOf returns the curve of a subject as JSON; "null" without one.
func (s *scene) curveOf(t *testing.T, kind Kind, name string, span time.Duration) string {
	t.Helper()
	for _, strip := range s.history.Strips(span, time.Now()).Strips {
		if strip.Kind != kind || strip.Name != name {
			continue
		}
		out, err := json.Marshal(strip.Curve)
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	t.Fatalf("no strip of %s %s", kind, name)
	return ""
}

// compare records the value that the first rule compares.
func (s *scene) compare(limit evaluator.Limit, value float64) {
	snap := snapshot(1, s.status)
	s.history.Compare(snap, map[int]explain.Compared{0: {Limit: limit, Value: value}})
}

// A rule has the value of each minute that is nearest to its failure, with gaps where there is
// none, and a collector how long it took.
func TestCurves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene()
		took := 20 * time.Millisecond
		s.change = func(snap *evaluator.Snapshot) { snap.Collectors[0].Duration = took }
		s.pass(time.Second)
		below := evaluator.Limit{Op: "<", Value: 5}
		equal(t, "null", s.curveOf(t, Rule, "KeystoneDown", time.Hour))
		s.compare(below, 9.5)
		s.compare(below, 7)
		s.compare(below, 8)
		s.compare(below, math.NaN())
		s.compare(below, math.Inf(-1))
		s.pass(time.Minute)
		took = 40 * time.Millisecond
		s.pass(time.Minute)
		s.compare(below, 1e6)
		equal(t, `{"op":"\u003c","threshold":5,"step_seconds":60,"values":[7,null,1e+06]}`, s.curveOf(t, Rule, "KeystoneDown", time.Hour))
		equal(t, `{"op":"\u003c","threshold":5,"step_seconds":1800,"values":[7]}`, s.curveOf(t, Rule, "KeystoneDown", 24*time.Hour))
		equal(t, `{"step_seconds":60,"values":[0.02,0.04,0.04]}`, s.curveOf(t, Collector, "keystone", time.Hour))

		s.compare(evaluator.Limit{Op: ">", Value: 5}, 3) // another expression
		equal(t, `{"op":"\u003e","threshold":5,"step_seconds":60,"values":[3]}`, s.curveOf(t, Rule, "KeystoneDown", time.Hour))
		s.pass(59 * time.Minute)
		equal(t, 60, len(s.history.Strips(time.Hour, time.Now()).Strips[1].Curve.Values))
		s.pass(2 * time.Minute)
		equal(t, "null", s.curveOf(t, Rule, "KeystoneDown", time.Hour))
		equal(t, `{"op":"\u003e","threshold":5,"step_seconds":1800,"values":[3,null,null]}`, s.curveOf(t, Rule, "KeystoneDown", 24*time.Hour))
	})
}

// A value of a rule that the last snapshot does not have there is left out, and subjects beyond
// the bound have none.
func TestCurvesAreBounded(t *testing.T) {
	begin := time.Now()
	h := New(begin)
	s, values := crowd(begin, maxCurves+100, 0), map[int]explain.Compared{}
	h.Observe(s)
	for i := range s.Rules {
		values[i] = explain.Compared{Value: 1}
	}
	h.Compare(s, values)
	equal(t, maxCurves, h.curves)
	fewer := crowd(begin.Add(time.Second), 10, 0)
	h.Observe(fewer)
	h.Compare(s, values)
	equal(t, 10+len(fewer.Collectors), h.curves)
}
