package lint

import (
	"cmp"
	"slices"

	"github.com/vitals-health/vitals/rules/lint/check"
	"github.com/vitals-health/vitals/rules/lint/conditions"
	"github.com/vitals-health/vitals/rules/lint/form"
	"github.com/vitals-health/vitals/rules/lint/selectors"
	"github.com/vitals-health/vitals/rules/lint/templates"
)

// CodeInvalid is the code of a mistake without a code of its own.
const CodeInvalid = "V000"

// checks returns all checks in the order of their codes, for one pass. docs/reference/lint.md
// explains each. The check of acceptances is the last one, as it uses the findings of the others.
func checks() []check.Check {
	all := slices.Concat([]check.Check{
		check.OfParser(CodeInvalid, "invalid", check.Error, "A file is not a valid rule file or configuration."),
		check.OfAll("V090", "acceptance", check.Warning, "A comment accepts no finding, or gives no reason.", accept),
	}, conditions.Checks(), form.Checks(), probeChecks(), selectors.Checks(), templates.Checks())
	slices.SortFunc(all, func(a, b check.Check) int { return cmp.Compare(a.Code, b.Code) })
	return all
}

// Checks returns a description of every check, in the order of the codes. docs/reference/lint.md
// explains them.
func Checks() []About {
	var all []About
	for _, c := range checks() {
		all = append(all, c.About)
	}
	return all
}

// Codes returns the codes of all checks with their names.
func Codes() map[string]string {
	codes := map[string]string{}
	for _, c := range checks() {
		codes[c.Code] = c.Name
	}
	return codes
}
