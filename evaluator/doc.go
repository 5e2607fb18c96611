// Package evaluator turns samples into verdicts: it runs the collectors, feeds the
// window, evaluates the rules with their timers, and publishes an immutable Snapshot
// behind one atomic pointer.
package evaluator
