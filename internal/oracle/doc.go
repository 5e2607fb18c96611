// Package oracle holds Vitals against Prometheus itself: the state of alerts
// against rules.AlertingRule, and evaluation through the window against the
// engine's own test corpus. It is a module of its own, because what it imports
// would otherwise be in the program's module graph; it has tests only.
package oracle
