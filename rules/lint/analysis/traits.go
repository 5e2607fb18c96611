package analysis

import (
	"time"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/internal/promexpr"
	"github.com/vitals-health/vitals/rules/lint/syntax"
)

// traits are properties of an expression with all its parts.
type traits struct {
	// nameless is set for a selector without the name of one metric.
	nameless bool
	// picks is set for an aggregation that chooses some samples out of several, as topk
	// does. Among equal ones the choice is arbitrary.
	picks bool
	// skewed is set if a metric is selected with several offsets.
	skewed bool
	// absent is set for a test of absence, and timed for the time of the evaluation.
	absent, timed bool
}

// traits returns the properties of an expression. They are computed once for each node.
func (a *Analysis) traits(e parser.Node) traits {
	if _, ok := a.nodeTraits[e]; !ok {
		a.survey(e)
	}
	return a.nodeTraits[e]
}

// survey computes the traits of an expression and of its parts. It returns an offset of each
// metric, in a map that the caller owns.
func (a *Analysis) survey(e parser.Node) map[string]time.Duration {
	a.computed++
	var t traits
	offsets := map[string]time.Duration{}
	switch n := e.(type) {
	case *parser.VectorSelector:
		name := promexpr.MetricName(n)
		t.nameless, offsets[name] = name == "", n.OriginalOffset
	case *parser.AggregateExpr:
		t.picks = syntax.KeepsLabels(n.Op)
	case *parser.Call:
		t.absent, t.timed = syntax.IsAbsent(n), n.Func.Name == "time"
	}
	for c := range parser.ChildrenIter(e) {
		more := a.survey(c)
		if len(more) > len(offsets) { // the smaller map is merged, which keeps the cost low
			more, offsets = offsets, more
		}
		for name, offset := range more {
			other, ok := offsets[name]
			t.skewed = t.skewed || ok && other != offset
			offsets[name] = offset
		}
		t = t.or(a.nodeTraits[c])
	}
	a.nodeTraits[e] = t
	return offsets
}

func (t traits) or(u traits) traits {
	return traits{t.nameless || u.nameless, t.picks || u.picks, t.skewed || u.skewed, t.absent || u.absent, t.timed || u.timed}
}
