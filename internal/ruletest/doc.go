// Package ruletest runs unit tests of rule files in the format of promtool test rules. It
// behaves exactly like promtool: the same evaluation times, lookback and comparison. In
// addition to alerts and expressions, a test can check the verdicts of states, also after a
// restart of Vitals.
//
// The format is documented by Prometheus under "Unit testing for rules". The additions of
// Vitals are documented in docs/guides/testing-rules.md.
package ruletest
