package lint

import (
	"fmt"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/internal/promexpr"
)

// identity returns a text that two expressions share only if they are equal apart from
// white space and parentheses. It is short for large expressions: their operands are
// replaced by numbers.
func (p *pass) identity(e parser.Expr) string {
	e = promexpr.Bare(e)
	id, ok := p.identities[e]
	if ok {
		return id
	}
	outline := p.outline(e)
	id, ok = p.outlines[outline]
	if !ok {
		id = fmt.Sprint(len(p.outlines))
		p.outlines[outline], p.identified[id] = id, e
	}
	p.identities[e] = id
	return id
}

// outline returns the text of an expression with numbers in place of its operands.
func (p *pass) outline(e parser.Expr) string {
	of := func(e parser.Expr) parser.Expr { return &parser.StringLiteral{Val: p.identity(e)} }
	switch n := e.(type) {
	case *parser.AggregateExpr:
		c := *n
		if c.Expr = of(n.Expr); n.Param != nil {
			c.Param = of(n.Param)
		}
		return c.String()
	case *parser.BinaryExpr:
		c := *n
		c.LHS, c.RHS = of(n.LHS), of(n.RHS)
		return c.String()
	case *parser.Call:
		c := *n
		c.Args = nil
		for _, arg := range n.Args {
			c.Args = append(c.Args, of(arg))
		}
		return c.String()
	case *parser.SubqueryExpr:
		c := *n
		c.Expr = of(n.Expr)
		return c.String()
	case *parser.UnaryExpr:
		c := *n
		c.Expr = of(n.Expr)
		return c.String()
	}
	return e.String()
}

// described returns the text of the expression with an identity, shortened for a message.
func (p *pass) described(id string) string { return short(p.identified[id]) }

// traits are properties of an expression and its parts.
type traits struct {
	// nameless is set for a selector without the name of one metric, picks for an
	// aggregation that chooses some samples out of several, as topk does: among equal ones
	// the choice is arbitrary. shifted is set for an offset, and absent for a test of
	// absence.
	nameless, picks, shifted, absent bool
}

// traits returns the properties of an expression. They are computed once for each node.
func (p *pass) traits(e parser.Node) traits {
	t, ok := p.nodeTraits[e]
	if ok {
		return t
	}
	switch n := e.(type) {
	case *parser.VectorSelector:
		t = traits{nameless: promexpr.MetricName(n) == "", shifted: n.OriginalOffset != 0}
	case *parser.AggregateExpr:
		t.picks = keepsLabels(n.Op)
	}
	t.absent = isAbsent(e)
	for c := range parser.ChildrenIter(e) {
		of := p.traits(c)
		t.nameless, t.picks = t.nameless || of.nameless, t.picks || of.picks
		t.shifted, t.absent = t.shifted || of.shifted, t.absent || of.absent
	}
	p.nodeTraits[e] = t
	return t
}
