package main

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kingpin/v2"
	"github.com/prometheus/common/promslog"
	promslogflag "github.com/prometheus/common/promslog/flag"

	"github.com/vitals-health/vitals/internal/config"
)

// The reference pages of the command line and of the endpoints.
const (
	commandPage  = "docs/reference/cli.md"
	endpointPage = "docs/reference/endpoints.md"
)

// docHelp returns the output of a command with --help.
func docHelp(t *testing.T, command string) string {
	t.Helper()
	var out, errs bytes.Buffer
	if code := run(append(strings.Fields(command), "--help"), &out, &errs); code != exitOK || errs.Len() > 0 {
		t.Fatalf("vitals %s --help = %d, %s, want 0", command, code, errs.String())
	}
	return out.String()
}

// docCommands returns the flags of each command that --help lists.
func docCommands(t *testing.T) map[string][]string {
	t.Helper()
	line := regexp.MustCompile(`(?m)^([a-z-]+(?: [a-z]+)?)\*?(?: [[<]|$)`)
	flag := regexp.MustCompile(`(?m)^ {2,6}(?:-[a-z], )?--(?:\[no-\])?([a-z][a-z.-]*)`)
	commands := map[string][]string{}
	_, list, _ := strings.Cut(docHelp(t, ""), "\nCommands:\n")
	for _, m := range line.FindAllStringSubmatch(list, -1) {
		if command := m[1]; command != "help" {
			for _, f := range flag.FindAllStringSubmatch(docHelp(t, command), -1) {
				commands[command] = append(commands[command], f[1])
			}
		}
	}
	if len(commands) < 5 || len(commands["run"]) < 10 {
		t.Fatalf("the commands are %v, want those of vitals --help", commands)
	}
	return commands
}

// The page lists every command.
func TestCommandPageListsTheCommands(t *testing.T) {
	var listed []string
	for _, span := range firstColumn(readDoc(t, commandPage), "command") {
		listed = append(listed, strings.TrimSpace(strings.TrimRight(strings.TrimPrefix(span, "vitals "), "ABCDEFGHIJKLMNOPQRSTUVWXYZ.")))
	}
	var want []string
	for command := range docCommands(t) {
		want = append(want, command)
	}
	if a, b := missing(want, listed), missing(listed, want); len(a)+len(b) > 0 {
		t.Errorf("%s does not list the commands %v, and lists %v, which do not exist", commandPage, a, b)
	}
}

// The page lists every flag, with the commands that have it and its default.
func TestCommandPageListsTheFlags(t *testing.T) {
	commands := docCommands(t)
	of := map[string][]string{}
	for _, table := range docTables(readDoc(t, commandPage), "flag") {
		for _, row := range table.rows {
			for _, span := range codeSpans(row[0]) {
				name := strings.TrimPrefix(span, "--")
				for _, command := range strings.Split(row[1], ", ") {
					of[name] = append(of[name], command)
					checkFlagDefault(t, command, name, row[2])
				}
			}
		}
	}
	for command, flags := range commands {
		for _, name := range flags {
			if !slices.Contains(of[name], command) && !slices.Contains(of[name], "all") {
				t.Errorf("%s does not list for %s the flag --%s", commandPage, command, name)
			}
		}
	}
	for name, list := range of {
		for _, command := range list {
			if command == "all" {
				command = "run"
			}
			if !slices.Contains(commands[command], name) {
				t.Errorf("%s lists for %s the flag --%s, which does not exist", commandPage, command, name)
			}
		}
	}
}

// checkFlagDefault compares a default with that of --help. Cells may have one for a single
// command, as in "`:8080` (demo: `127.0.0.1:8080`)".
func checkFlagDefault(t *testing.T, command, name, cell string) {
	t.Helper()
	if command == "all" {
		command = "run"
	}
	spans := codeSpans(cell)
	if len(spans) == 0 {
		return
	}
	want := spans[0]
	if _, special, ok := strings.Cut(cell, "("+command+": `"); ok {
		want, _, _ = strings.Cut(special, "`")
	}
	m := regexp.MustCompile(`--` + regexp.QuoteMeta(name) + `="?([^"\s]*)"?(\s|$)`).FindStringSubmatch(docHelp(t, command))
	if m == nil || m[1] != want {
		t.Errorf("%s: the default of --%s of %s is given as %q, want that of --help: %q", commandPage, name, command, want, m)
	}
}

// The page lists the exit codes.
func TestCommandPageListsTheExitCodes(t *testing.T) {
	listed := firstColumn(readDoc(t, commandPage), "exit code")
	for _, code := range []int{exitOK, exitFailing, exitUnknown, exitConfig, 10, 119} {
		if !slices.Contains(listed, fmt.Sprint(code)) {
			t.Errorf("%s lists the exit codes %v, want %d among them", commandPage, listed, code)
		}
	}
}

// The paths of the page are not available as names of states.
func TestStatesCannotTakeThePathsOfThePage(t *testing.T) {
	states := []string{"STATE", "ready", "alive", "started"}
	for _, path := range firstColumn(readDoc(t, endpointPage), "path") {
		name, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
		if slices.Contains(states, name) {
			continue
		}
		if _, errs := config.Load(config.NewSources(), "vitals.yml", []byte("states: {'"+name+"': {}}"), nil); len(errs) == 0 {
			t.Errorf("a configuration with the state %q has no mistake, want one: %s is served", name, path)
		}
	}
}

// parseOnly parses arguments like vitals, and runs nothing.
func parseOnly(args []string) error {
	p := &program{stdout: io.Discard, stderr: io.Discard, log: &promslog.Config{}}
	app := kingpin.New("vitals", "")
	promslogflag.AddFlags(app, p.log)
	p.commands(app, func(func() int) kingpin.Action { return func(*kingpin.ParseContext) error { return nil } })
	_, err := app.Parse(args)
	return err
}
