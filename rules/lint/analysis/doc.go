// Package analysis derives facts from the expressions of rules and from the metrics that exist:
// what a rule selects through recording rules, the labels and values that a result can have, and
// how often it can change. It reports no findings.
package analysis
