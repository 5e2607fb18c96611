package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kingpin/v2"
)

// The exit codes that commands return themselves. The others are those of the exec probe.
const (
	exitOK      = 0
	exitFailing = 1
	exitUnknown = 2
	exitConfig  = 3
)

// exitCode is a meaning of an exit code.
type exitCode struct {
	// code is a number, or the first and the last one of a range.
	code string
	// name is a word or two, and means a sentence.
	name, means string
	// commands are those that return it; nil for all.
	commands []string
}

// exitCodes returns the meanings of all exit codes, in order. Those from 4 on are of the style
// plain.
func exitCodes() []exitCode {
	verdict := []string{"once", "wait"}
	daemon := []string{"wait", "explain", "events", "silence", "maintenance"}
	return []exitCode{
		{"0", "ok", "ok; for once and wait also a state with a warning", nil},
		{"1", "failing", "the state is failing", verdict},
		{"1", "failing", "a listener ended while running", []string{"run", "demo"}},
		{"1", "failing", "a check found something", []string{"check config", "check rules", "check collectors"}},
		{"1", "failing", "a test failed", []string{"test rules"}},
		{"1", "failing", "with --check, a generated file is missing or differs", []string{"generate dashboards", "generate alerts", "generate schema", "generate rules"}},
		{"1", "failing", "the events of supervisord cannot be read", []string{"supervisor-listener"}},
		{"2", "unknown", "the state is unknown: data is missing", verdict},
		{"3", "usage or configuration", "usage or configuration: nothing was started; or the result could not be printed, where the code would be 0", nil},
		{"4", "no daemon", "no daemon answers", daemon},
		{"5", "timeout", "no answer, or no result of a collector, in time", append([]string{"once"}, daemon...)},
		{"6", "stale", "the verdict is too old", []string{"wait"}},
		{"7", "forbidden", "the daemon requires authentication, or does not let this user use its socket", daemon},
		{"8", "no rules", "the state has no rules", verdict},
		{"9", "not understood", "the answer is not the daemon's", daemon},
		{"10-119", "the exit_code of the rule that decides", "the annotation exit_code of the rule that decides", verdict},
	}
}

// of reports whether a command returns the code.
func (c exitCode) of(command string) bool {
	return c.commands == nil || slices.Contains(c.commands, command)
}

// exitCodeNames returns all exit codes in a sentence.
func exitCodeNames() string {
	var names []string
	for _, c := range exitCodes() {
		if name := c.code + " " + c.name; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return "Exit codes: " + strings.Join(names, ", ") + ". The help of a command lists its own."
}

// exitCodeHelp returns the exit codes of a command, one a line.
func exitCodeHelp(command string) string {
	var b strings.Builder
	b.WriteString("\nExit codes:\n")
	for _, c := range exitCodes() {
		if c.of(command) {
			fmt.Fprintf(&b, "  %-7s %s\n", c.code, c.means)
		}
	}
	return b.String()
}

// showExitCodes adds the exit codes to the help of each command.
func showExitCodes(app *kingpin.Application) {
	const usage = `{{template "FormatUsage" .Context.SelectedCommand}}`
	app.UsageTemplate(strings.Replace(kingpin.DefaultUsageTemplate, usage, usage+"{{.Context.SelectedCommand.HelpLong}}", 1))
	for _, c := range app.Model().FlattenedCommands() {
		words := strings.Fields(c.FullCommand)
		cmd := app.GetCommand(words[0])
		for _, word := range words[1:] {
			cmd = cmd.GetCommand(word)
		}
		cmd.HelpLong(exitCodeHelp(c.FullCommand))
	}
}
