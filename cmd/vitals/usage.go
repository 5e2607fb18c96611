package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/alecthomas/kingpin/v2"

	"github.com/vitals-health/vitals/internal/strictyaml"
)

// suggestion returns the probable intention of arguments that the parser refused with a
// text: in brackets after a space, or an empty string.
func suggestion(app *kingpin.Application, args []string, text string) string {
	model := app.Model()
	flags, commands := model.Flags, model.Commands
	if def := commandNamed(commands, "run"); def != nil && len(args) > 0 && strings.HasPrefix(args[0], "-") {
		flags = append(flags, def.Flags...) // of the default command
	}
	for len(args) > 0 {
		cmd := commandNamed(commands, args[0])
		if cmd == nil {
			break
		}
		args, commands, flags = args[1:], cmd.Commands, append(flags, cmd.Flags...)
	}
	var names []string
	for _, f := range flags {
		names = append(names, "--"+f.Name)
	}
	if flag, ok := strings.CutPrefix(text, "unknown long flag '"); ok {
		if near := strictyaml.Nearest(strings.TrimSuffix(flag, "'"), names); near != "" {
			return fmt.Sprintf(" (did you mean %s?)", near)
		}
		return ""
	}
	if len(args) == 0 || !strings.HasPrefix(text, "unexpected ") && !strings.HasPrefix(text, "expected command but got ") {
		return ""
	}
	return argumentSuggestion(args[0], commands, names)
}

// argumentSuggestion is the suggestion for a word that is not a command: an existing
// command, or the flag for a configuration file.
func argumentSuggestion(word string, commands []*kingpin.CmdModel, flags []string) string {
	var names []string
	for _, c := range commands {
		if !c.Hidden {
			names = append(names, c.Name)
		}
	}
	if len(names) > 0 {
		return " (" + strictyaml.Expected(word, names) + ")"
	}
	_, err := os.Stat(word)
	for _, f := range flags {
		if err == nil && f == "--config.file" {
			return fmt.Sprintf(" (did you mean --config.file=%s?)", word)
		}
	}
	return ""
}

// commandNamed returns the command with a name, or nil.
func commandNamed(commands []*kingpin.CmdModel, name string) *kingpin.CmdModel {
	for _, c := range commands {
		if c.Name == name {
			return c
		}
	}
	return nil
}
