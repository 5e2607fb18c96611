// Package templates checks the templates in the labels and annotations of alerts.
package templates

import "github.com/vitals-health/vitals/rules/lint/check"

// Checks returns the checks of the package. docs/reference/lint.md explains each.
func Checks() []check.Check {
	return []check.Check{
		check.OfRule("V023", "value-in-label", check.Warning, "A label contains the value, so that each change creates a new alert.", valueInLabel),
		check.OfRule("V024", "template-label", check.Warning, "A template uses a label that the result cannot have.", templateLabel),
		check.OfRule("V040", "template-fails", check.Warning, "A template fails with any data, or its query is invalid.", templateFails),
	}
}
