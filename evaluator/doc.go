// Package evaluator turns samples into verdicts: it runs the collectors, feeds the
// window, evaluates the rules, counts time for them, and publishes an immutable
// Snapshot behind one atomic pointer.
package evaluator
