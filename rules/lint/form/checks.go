// Package form checks how rule files are written: their documents, groups, keys and names.
package form

import (
	"github.com/vitals-health/vitals/rules"
	"github.com/vitals-health/vitals/rules/lint/check"
)

// Checks returns the checks of the package. docs/reference/lint.md explains each.
func Checks() []check.Check {
	return []check.Check{
		check.OfAll("V007", "state-without-rules", check.Warning, "A state has no rule that can decide it.", stateWithoutRules),
		check.OfRule(rules.CodeTopLevelBool, "top-level-bool", check.Error, "A comparison with bool at the top of an alert always fires.", ordinaryBool),
		check.OfAll(rules.CodeDuplicate, "duplicate-rule", check.Error, "The same rule exists twice.", duplicates),
		check.OfAll(rules.CodeUnknownCause, "unknown-cause", check.Error, "A rule depends on an alert that does not exist.", ordinary),
		check.OfAll(rules.CodeCauseCycle, "cause-cycle", check.Error, "The dependencies of rules form a cycle.", ordinary),
		check.OfRule("V021", "no-summary", check.Warning, "A rule with a state has no summary.", noSummary),
		check.OfRule("V022", "misspelt-key", check.Warning, "A label or an annotation looks like a misspelt key of Vitals.", misspelt),
		check.OfAll("V025", "second-document", check.Warning, "The rules are in a document that Prometheus does not read.", secondDocument),
		check.OfAll("V042", "long-interval", check.Warning, "A group is evaluated so rarely that its results have gaps.", longInterval),
		check.OfRule("V045", "reserved-name", check.Error, "A recording rule uses the prefix of the metrics of Vitals.", reservedName),
		check.OfRule("V047", "runbook-url", check.Warning, "A runbook is no URL with http or https.", runbookURL),
	}
}
