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
