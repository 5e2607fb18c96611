// Package architecture holds no program code: its tests hold the rules of the
// repository that the compiler does not know, each with its reason.
package architecture
