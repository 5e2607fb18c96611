// Package collectors is the contract between the program and the kinds of collectors. It
// imports no kind and no client library.
//
// A kind is a folder below this package, with its configuration, metrics, tests and page, and
// a line in package kinds. The program uses it in these steps:
//
//  1. It calls SetDefaults, if there is one, and decodes the configuration block into the Kind.
//  2. Kind.Problems returns the mistakes, and Kind.Metrics what the collector can export.
//  3. Kind.New creates the Collector.
//  4. If the collector is a Runner, Run keeps watches and sockets open in its own goroutine.
//  5. At each interval, the evaluator calls Collect, then Describe, then Note of a Noter
//     and PartNotes of a PartNoter.
//
// Collect measures; rules judge. Each metric is declared once as a *Def, and Collect sets its
// values in a Batch. A state is one series per state, with the value 0 or 1. Collect returns
// what it measured also when it returns an error. Label values come from the configuration or
// from a closed set, never from free text of the remote side.
package collectors
