// Package check is what the checks of rule files share: their description, their findings, and
// the pass in which they run.
package check
