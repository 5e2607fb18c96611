package rules

import (
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

// Retention computes how much history the expressions need: by metric name, and
// in rest for all names, because of selectors that have none. A name that is
// missing, or zero, needs its last sample only. lookback is how far an instant
// selector looks back; it counts where a selector is evaluated in the past.
//
// A negative offset looks into the future and needs nothing, and the modifier @
// changes nothing: what it pins is kept only as long as the ranges around it ask.
func Retention(exprs []parser.Expr, lookback time.Duration) (perName map[string]time.Duration, rest time.Duration) {
	perName = map[string]time.Duration{}
	for _, e := range exprs {
		parser.Inspect(e, func(n parser.Node, path []parser.Node) error {
			s, ok := n.(*parser.VectorSelector)
			if !ok {
				return nil
			}
			need := history(s, path, lookback)
			if name := metricName(s); name == "" {
				rest = max(rest, need)
			} else if need > 0 {
				perName[name] = max(perName[name], need)
			}
			return nil
		})
	}
	return perName, rest
}

// history is how far back one selector reaches; path leads to it from the top.
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

// metricName returns the one name that a selector can match, or nothing.
func metricName(s *parser.VectorSelector) string {
	for _, m := range s.LabelMatchers {
		if m.Name == model.MetricNameLabel && m.Type == labels.MatchEqual {
			return m.Value
		}
	}
	return ""
}
