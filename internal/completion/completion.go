// Package completion has the scripts with which shells complete the command line of vitals.
// Each runs the program with --completion-bash and the words so far, and gets one candidate a
// line. No script evaluates a candidate: the names of rules come from files and from a daemon.
package completion

import "embed"

//go:embed vitals.bash vitals.zsh vitals.fish
var scripts embed.FS

// Shells returns the names of the shells that have a script.
func Shells() []string { return []string{"bash", "zsh", "fish"} }

// Script returns the script of a shell; empty for a shell without one.
func Script(shell string) string {
	text, err := scripts.ReadFile("vitals." + shell)
	if err != nil {
		return ""
	}
	return string(text)
}
