package rules

import (
	"time"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/internal/promexpr"
)

// Retention computes how much history the expressions need by metric name, and in rest for
// all names, as some selectors have no name. A name that is missing or zero needs only its
// last sample. lookback is the lookback of an instant selector; it counts if the selector
// is evaluated in the past.
//
// A negative offset needs no history. The modifier @ does not count: the history covers
// only the ranges around it.
func Retention(exprs []parser.Expr, lookback time.Duration) (perName map[string]time.Duration, rest time.Duration) {
	perName = map[string]time.Duration{}
	for _, e := range exprs {
		parser.Inspect(e, func(n parser.Node, path []parser.Node) error {
			s, ok := n.(*parser.VectorSelector)
			if !ok {
				return nil
			}
			need := history(s, path, lookback)
			if name := promexpr.MetricName(s); name == "" {
				rest = max(rest, need)
			} else if need > 0 {
				perName[name] = max(perName[name], need)
			}
			return nil
		})
	}
	return perName, rest
}

// history returns how far back one selector reaches; path contains the nodes above it,
// outermost first.
func history(s *parser.VectorSelector, path []parser.Node, lookback time.Duration) time.Duration {
	need := max(s.OriginalOffset, 0)
	instant := true
	for _, n := range path {
		switch n := n.(type) {
		case *parser.MatrixSelector:
			need += n.Range
			instant = false
		case *parser.SubqueryExpr:
			need += n.Range + max(n.OriginalOffset, 0)
		}
	}
	if instant && need > 0 {
		need += lookback
	}
	return need
}
