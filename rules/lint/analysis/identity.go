package analysis

import (
	"fmt"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/internal/promexpr"
	"github.com/vitals-health/vitals/rules/lint/syntax"
)

// Identity returns a text that two expressions share only if they are equal apart from
// white space and parentheses. It is short for large expressions: their operands are
// replaced by numbers.
func (a *Analysis) Identity(e parser.Expr) string {
	e = promexpr.Bare(e)
	id, ok := a.identities[e]
	if ok {
		return id
	}
	outline := a.outline(e)
	id, ok = a.outlines[outline]
	if !ok {
		id = fmt.Sprint(len(a.outlines))
		a.outlines[outline], a.identified[id] = id, e
	}
	a.identities[e] = id
	return id
}

// outline returns the text of an expression with numbers in place of its operands.
func (a *Analysis) outline(e parser.Expr) string {
	of := func(e parser.Expr) parser.Expr { return &parser.StringLiteral{Val: a.Identity(e)} }
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

// Described returns the text of the expression with an identity, shortened for a message.
func (a *Analysis) Described(id string) string { return syntax.Short(a.identified[id]) }
