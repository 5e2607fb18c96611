// Package workers runs collectors: each in a goroutine of its own, with a deadline, without two
// collections at once. A panic, a late result and a secret in a text stay within the package.
package workers
