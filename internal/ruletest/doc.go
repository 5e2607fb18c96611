// Package ruletest runs unit tests of rule files, in the format of promtool test rules
// and to the letter of what that does: the same times of evaluation, the same look back,
// the same comparison. Beside alerts and expressions, a test can ask what Vitals makes
// of the rules: the verdict of a state, and what becomes of it when Vitals starts anew.
//
// The format is documented by Prometheus under "Unit testing for rules" and, with what
// Vitals adds to it, in docs/guides/testing-rules.md.
package ruletest
