package lint

import (
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/internal/promexpr"
)

// neverFires finds expressions, and parts of them, that can never have a result.
func neverFires(p *pass, s *subject) {
	o := p.decide(s)
	for _, c := range o.causes {
		effect := "a part of the expression never returns anything"
		switch {
		case c.idle:
			effect = `"unless" never excludes anything`
		case o.sure == never && s.rule.Record != "":
			effect = "the rule never records anything"
		case o.sure == never:
			effect = "the rule never fires"
		}
		p.inExpr(s, c.node, c.cure, "%s: %s", effect, c.text)
	}
}

// alwaysFires finds rules of a state that always fire, or that fire at any value of a metric. An ordinary alert may do that to show that alerting works.
func alwaysFires(p *pass, s *subject) {
	const cure = "add a comparison that is true only when something is wrong, such as metric == 0"
	if s.rule.State == "" {
		return
	}
	o := p.decide(s)
	switch e := promexpr.Bare(s.rule.AST); {
	case e.Type() == parser.ValueTypeScalar:
		p.inExpr(s, e, cure, "the rule always fires: a scalar always has a value")
	case o.sure == always:
		p.inExpr(s, e, cure, "the rule always fires: %s returns a result whatever is measured", short(e))
	case o.sure == measured && o.pure && o.subject != p.identity(e):
		p.inExpr(s, e, cure, "the rule fires as soon as there is any data: %s is true for every value that %s can have: %s",
			short(e), p.described(o.subject), o.whole.values)
	case o.sure == measured:
		p.inExpr(s, e, cure, "the rule fires as soon as there is any data: nothing in %s depends on a value", short(e))
	case o.sure != never:
		p.firesAtAnyValue(s, e, cure)
	}
}

// firesAtAnyValue finds expressions that may lack a result, but have one for any value.
func (p *pass) firesAtAnyValue(s *subject, e parser.Expr, cure string) {
	series := p.uncompared(e)
	if series == nil {
		return
	}
	f := p.inExpr(s, e, cure, "the rule fires at any value of %s: nothing compares it", promexpr.MetricName(series))
	if chooses(series) {
		f.Severity = Warning
	}
}
