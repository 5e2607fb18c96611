package selectors

import (
	"github.com/vitals-health/vitals/rules/lint/analysis"
	"github.com/vitals-health/vitals/rules/lint/check"
	"github.com/vitals-health/vitals/rules/lint/syntax"
)

// wrongLabels finds functions over labels with an invalid regular expression or an invalid
// name of a label. The parser accepts them, and each evaluation fails.
func wrongLabels(p *check.Pass, s *analysis.Subject) {
	for _, wrong := range syntax.WrongCalls(s.Rule.AST) {
		p.InExpr(s, wrong.Arg, wrong.Cure, "every evaluation of the rule fails: %s", wrong.Text)
	}
}
