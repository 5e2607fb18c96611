package evidence

import (
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/internal/promexpr"
)

// History reports whether a selector finds samples in the half-open interval (from, to],
// in milliseconds.
type History interface {
	// Live is for instant selectors: the newest sample of a series counts.
	Live(matchers []*labels.Matcher, from, to int64) bool
	// LiveRange is for range selectors: any sample of a series counts.
	LiveRange(matchers []*labels.Matcher, from, to int64) bool
}

// Search finds the selector without a live series in an expression that returned
// nothing, or "" if the empty result is a genuine one.
//
// A vector operation needs both of its sides, except that or needs either and unless
// only its left one. absent() and absent_over_time() are about absence and so need no
// series; neither do expressions without selectors, nor selectors of the alerts' own
// series, which exist only while there is an alert.
type Search struct {
	History History
	// Lookback is how old the last sample of an instant selector may be.
	Lookback time.Duration
}

// Missing searches expr as of at, in milliseconds.
func (s Search) Missing(expr parser.Expr, at int64) string { return s.missing(expr, at, 0) }

// missing searches expr as of at, in milliseconds; wide is the sum of the ranges of the
// enclosing subqueries.
func (s Search) missing(expr parser.Expr, at int64, wide time.Duration) string {
	switch n := expr.(type) {
	case *parser.VectorSelector:
		return s.selector(n, n, at, wide+s.Lookback, wide > 0)
	case *parser.MatrixSelector:
		if vs, ok := n.VectorSelector.(*parser.VectorSelector); ok {
			return s.selector(n, vs, at, wide+n.Range, true)
		}
		return ""
	case *parser.SubqueryExpr:
		return s.missing(n.Expr, reference(at, n.Timestamp, n.OriginalOffset), wide+n.Range)
	case *parser.BinaryExpr:
		return s.binary(n, at, wide)
	case *parser.Call:
		return s.call(n, at, wide)
	case *parser.AggregateExpr:
		if n.Param != nil {
			if what := s.missing(n.Param, at, wide); what != "" {
				return what
			}
		}
		return s.missing(n.Expr, at, wide)
	case *parser.ParenExpr:
		return s.missing(n.Expr, at, wide)
	case *parser.UnaryExpr:
		return s.missing(n.Expr, at, wide)
	case *parser.StepInvariantExpr:
		return s.missing(n.Expr, at, wide)
	}
	return ""
}

func (s Search) binary(n *parser.BinaryExpr, at int64, wide time.Duration) string {
	left := s.missing(n.LHS, at, wide)
	switch n.Op {
	case parser.LUNLESS:
		return left
	case parser.LOR:
		if left == "" {
			return ""
		}
		if right := s.missing(n.RHS, at, wide); right == "" {
			return ""
		}
		return left
	}
	if left != "" {
		return left
	}
	return s.missing(n.RHS, at, wide)
}

func (s Search) call(n *parser.Call, at int64, wide time.Duration) string {
	if n.Func.Name == "absent" || n.Func.Name == "absent_over_time" {
		return ""
	}
	for _, arg := range n.Args {
		if what := s.missing(arg, at, wide); what != "" {
			return what
		}
	}
	return ""
}

func (s Search) selector(shown parser.Expr, n *parser.VectorSelector, at int64, back time.Duration, ranged bool) string {
	if OfAlerts(promexpr.MetricName(n)) {
		return ""
	}
	to := reference(at, n.Timestamp, n.OriginalOffset)
	live := s.History.Live
	if ranged {
		live = s.History.LiveRange
	}
	if live(n.LabelMatchers, to-back.Milliseconds(), to) {
		return ""
	}
	return shown.String()
}

// reference returns the time for which a selector is evaluated: @ replaces the
// evaluation's own, and offset goes back from it.
func reference(at int64, timestamp *int64, offset time.Duration) int64 {
	if timestamp != nil {
		at = *timestamp
	}
	return at - offset.Milliseconds()
}
