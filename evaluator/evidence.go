package evaluator

import (
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/internal/promexpr"
)

// history reports whether a selector finds samples in the half-open interval (from, to],
// in milliseconds.
type history interface {
	// Live is for instant selectors: the newest sample of a series counts.
	Live(matchers []*labels.Matcher, from, to int64) bool
	// LiveRange is for range selectors: any sample of a series counts.
	LiveRange(matchers []*labels.Matcher, from, to int64) bool
}

// evidence finds the selector without a live series in an expression that returned
// nothing, or "" if the empty result is a genuine one.
//
// A vector operation needs both of its sides, except that or needs either and unless
// only its left one. absent() and absent_over_time() are about absence and so need no
// series; neither do expressions without selectors, nor selectors of the alerts' own
// series, which exist only while there is an alert.
type evidence struct {
	history  history
	lookback time.Duration
}

// missing searches expr as of at, in milliseconds; wide is the sum of the ranges of the
// enclosing subqueries.
func (e evidence) missing(expr parser.Expr, at int64, wide time.Duration) string {
	switch n := expr.(type) {
	case *parser.VectorSelector:
		return e.selector(n, n, at, wide+e.lookback, wide > 0)
	case *parser.MatrixSelector:
		if vs, ok := n.VectorSelector.(*parser.VectorSelector); ok {
			return e.selector(n, vs, at, wide+n.Range, true)
		}
		return ""
	case *parser.SubqueryExpr:
		return e.missing(n.Expr, reference(at, n.Timestamp, n.OriginalOffset), wide+n.Range)
	case *parser.BinaryExpr:
		return e.binary(n, at, wide)
	case *parser.Call:
		return e.call(n, at, wide)
	case *parser.AggregateExpr:
		if n.Param != nil {
			if what := e.missing(n.Param, at, wide); what != "" {
				return what
			}
		}
		return e.missing(n.Expr, at, wide)
	case *parser.ParenExpr:
		return e.missing(n.Expr, at, wide)
	case *parser.UnaryExpr:
		return e.missing(n.Expr, at, wide)
	case *parser.StepInvariantExpr:
		return e.missing(n.Expr, at, wide)
	}
	return ""
}

func (e evidence) binary(n *parser.BinaryExpr, at int64, wide time.Duration) string {
	left := e.missing(n.LHS, at, wide)
	switch n.Op {
	case parser.LUNLESS:
		return left
	case parser.LOR:
		if left == "" {
			return ""
		}
		if right := e.missing(n.RHS, at, wide); right == "" {
			return ""
		}
		return left
	}
	if left != "" {
		return left
	}
	return e.missing(n.RHS, at, wide)
}

func (e evidence) call(n *parser.Call, at int64, wide time.Duration) string {
	if n.Func.Name == "absent" || n.Func.Name == "absent_over_time" {
		return ""
	}
	for _, arg := range n.Args {
		if what := e.missing(arg, at, wide); what != "" {
			return what
		}
	}
	return ""
}

func (e evidence) selector(shown parser.Expr, n *parser.VectorSelector, at int64, back time.Duration, ranged bool) string {
	if name := promexpr.MetricName(n); name == alertsMetric || name == alertsForStateMetric {
		return ""
	}
	to := reference(at, n.Timestamp, n.OriginalOffset)
	live := e.history.Live
	if ranged {
		live = e.history.LiveRange
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
