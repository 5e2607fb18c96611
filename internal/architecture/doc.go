// Package architecture has tests only. They check rules of the repository that the compiler
// cannot check, each with its reason.
package architecture
