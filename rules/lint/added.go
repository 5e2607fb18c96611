package lint

import (
	"slices"
	"strings"

	"github.com/prometheus/prometheus/promql/parser"
)

// added reports whether Prometheus, or its usual configuration, adds the label to scraped
// series. Rules must work in Prometheus as well.
func added(label string) bool {
	return slices.Contains(strings.Fields(`
		job instance namespace pod container endpoint service node cluster prometheus replica
		prometheus_replica region zone dc datacenter site env environment host hostname`), label)
}

// leavesAdded reports whether the result of an expression keeps a label that Prometheus
// adds to every series.
func (p *pass) leavesAdded(e parser.Expr, label string) bool {
	switch n := e.(type) {
	case *parser.VectorSelector:
		return true
	case *parser.AggregateExpr:
		kept := keepsLabels(n.Op) || slices.Contains(n.Grouping, label) != n.Without
		return kept && p.leavesAdded(n.Expr, label)
	case *parser.BinaryExpr:
		return p.sidesLeaveAdded(n, label)
	case *parser.Call:
		return n.Type() != parser.ValueTypeScalar && !isAbsent(n) && slices.ContainsFunc(n.Args, func(arg parser.Expr) bool { return p.leavesAdded(arg, label) })
	}
	inner := operand(e)
	return inner != nil && p.leavesAdded(inner, label)
}

func (p *pass) sidesLeaveAdded(n *parser.BinaryExpr, label string) bool {
	m, left, right := n.VectorMatching, p.leavesAdded(n.LHS, label), p.leavesAdded(n.RHS, label)
	switch {
	case m == nil || n.Op == parser.LOR:
		return left || right
	case n.Op.IsSetOperator():
		return left
	case m.Card == parser.CardManyToOne:
		return left || right && slices.Contains(m.Include, label)
	case m.Card == parser.CardOneToMany:
		return right || left && slices.Contains(m.Include, label)
	}
	return left && slices.Contains(m.MatchingLabels, label) == m.On
}
