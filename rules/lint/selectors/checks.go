// Package selectors checks what the selectors of rules select: series that exist, labels that
// they have, and whether what they measure suits the state.
package selectors

import "github.com/vitals-health/vitals/rules/lint/check"

// Checks returns the checks of the package. docs/reference/lint.md explains each.
func Checks() []check.Check {
	return []check.Check{
		check.OfRule("V001", "alive-external", check.Error, "A rule of alive depends on something outside the host, which a restart does not fix.", aliveExternal),
		check.OfRule("V002", "shared-readiness", check.Warning, "A rule of ready depends on something that all replicas share: all of them fail at once.", sharedReadiness),
		check.OfAll(codeUnknownMetric, "unknown-metric", check.Error, "A selector names a metric that nothing exports.", unknownMetric),
		check.OfRule("V004", "unknown-label", check.Error, "A selector names a label that the metric does not have.", unknownLabel),
		check.OfRule("V005", "unknown-label-value", check.Error, "A selector names a label value that cannot occur.", unknownValue),
		check.OfAll(codeVanishing, "vanishing-series", check.Warning, "A comparison returns nothing while its series are absent.", vanishingSeries),
		check.OfRule("V015", "regex-matches-all", check.Warning, "A regular expression matches everything.", regexMatchesAll),
		check.OfAll("V029", "alive-without-evidence", check.Warning, "No rule of alive can have data: alive passes whatever happens.", aliveWithoutEvidence),
		check.OfRule("V046", "wrong-label-function", check.Error, "A function over labels has an invalid regular expression or label name.", wrongLabels),
	}
}
