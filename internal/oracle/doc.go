// Package oracle compares Vitals with Prometheus: the states of alerts with
// rules.AlertingRule, and evaluation through the window with the engine's test corpus. It
// has tests only. It is a separate module, so that its imports are not in the program's
// module graph.
package oracle
