package conditions

import (
	"slices"
	"strings"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/internal/promexpr"
	"github.com/vitals-health/vitals/rules/lint/analysis"
	"github.com/vitals-health/vitals/rules/lint/check"
	"github.com/vitals-health/vitals/rules/lint/syntax"
)

// neverFires finds expressions, and parts of them, that can never have a result.
func neverFires(p *check.Pass, s *analysis.Subject) {
	o := p.Decision(s)
	for _, c := range o.Causes {
		effect := "a part of the expression never returns anything"
		switch {
		case c.Idle:
			effect = `"unless" never excludes anything`
		case o.Sure == analysis.Never && s.Rule.Record != "":
			effect = "the rule never records anything"
		case o.Sure == analysis.Never:
			effect = "the rule never fires"
		}
		p.InExpr(s, c.Node, c.Cure, "%s: %s", effect, c.Text)
	}
}

// alwaysFires finds rules of a state that always fire, or that fire at any value of a metric. An
// ordinary alert may do that to show that alerting works.
func alwaysFires(p *check.Pass, s *analysis.Subject) {
	const cure = "add a comparison that is true only when something is wrong, such as metric == 0"
	if s.Rule.State == "" {
		return
	}
	o := p.Decision(s)
	switch e := promexpr.Bare(s.Rule.AST); {
	case e.Type() == parser.ValueTypeScalar:
		p.InExpr(s, e, cure, "the rule always fires: a scalar always has a value")
	case o.Sure == analysis.Always:
		p.InExpr(s, e, cure, "the rule always fires: %s returns a result whatever is measured", syntax.Short(e))
	case o.Sure == analysis.Measured && o.Pure && o.Subject != p.Identity(e):
		p.InExpr(s, e, cure, "the rule fires as soon as there is any data: %s is true for every value that %s can have: %s",
			syntax.Short(e), p.Described(o.Subject), o.Whole.Values)
	case o.Sure == analysis.Measured:
		p.InExpr(s, e, cure, "the rule fires as soon as there is any data: nothing in %s depends on a value", syntax.Short(e))
	case o.Sure != analysis.Never:
		firesAtAnyValue(p, s, e, cure)
	}
}

// firesAtAnyValue finds expressions that may lack a result, but have one for any value.
func firesAtAnyValue(p *check.Pass, s *analysis.Subject, e parser.Expr, cure string) {
	series := p.Uncompared(e)
	if series == nil {
		return
	}
	f := p.InExpr(s, e, cure, "the rule fires at any value of %s: nothing compares it", promexpr.MetricName(series))
	if chooses(series) {
		f.Severity = check.Warning
	}
}

// chooses reports whether a selector chooses series by a condition in a label, as in
// job_state{state="failed"}. Some programs export only the series of the current one.
func chooses(s *parser.VectorSelector) bool {
	conditions := strings.Fields("condition health level phase reason result severity state status type")
	return slices.ContainsFunc(s.LabelMatchers, func(m *labels.Matcher) bool {
		return slices.Contains(conditions, m.Name[strings.LastIndex(m.Name, "_")+1:])
	})
}
