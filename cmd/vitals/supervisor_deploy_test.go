package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

const supervisorConf = "deploy/supervisor/vitals.conf"

// supervisorSections reads a configuration of supervisord: the options of each section.
func supervisorSections(t *testing.T, text string) map[string]map[string]string {
	t.Helper()
	sections := map[string]map[string]string{}
	var section map[string]string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		option, value, isOption := strings.Cut(line, "=")
		switch {
		case line == "", strings.HasPrefix(line, ";"):
		case strings.HasPrefix(line, "["):
			section = map[string]string{}
			sections[strings.Trim(line, "[]")] = section
		case isOption && section != nil:
			section[option] = value
		default:
			t.Errorf("%s: %q, want a section, an option or a comment", supervisorConf, line)
		}
	}
	return sections
}

// The configuration for supervisord uses existing commands and flags, and the events that
// the listener handles.
func TestSupervisorConf(t *testing.T) {
	sections := supervisorSections(t, readDoc(t, supervisorConf))
	commands := docCommands(t)
	for name, want := range map[string]string{"program:vitals": "run", "eventlistener:vitals-listener": "supervisor-listener"} {
		args := strings.Fields(sections[name]["command"])
		if len(args) < 2 || args[0] != "/usr/bin/vitals" || args[1] != want {
			t.Errorf("[%s] runs %q, want /usr/bin/vitals %s", name, args, want)
			continue
		}
		for _, arg := range args[2:] {
			if flag, _, _ := strings.Cut(strings.TrimPrefix(arg, "--"), "="); !slices.Contains(commands[want], flag) {
				t.Errorf("[%s] has the argument %s, want a flag of vitals %s", name, arg, want)
			}
		}
	}
	listener := sections["eventlistener:vitals-listener"]
	if got := listener["events"]; got != "PROCESS_COMMUNICATION,TICK_5" {
		t.Errorf("the listener gets %s, want what it takes", got)
	}
	if listener["stdout_logfile"] != "NONE" || listener["redirect_stderr"] != "" {
		t.Errorf("the listener's section is %v, want stdout for the protocol alone", listener)
	}
	// Started by hand, everything is valid except the parent process.
	t.Setenv("SUPERVISOR_ENABLED", "")
	var out, errs bytes.Buffer
	if code := run(strings.Fields(listener["command"])[1:], &out, &errs); code != exitConfig || !strings.Contains(errs.String(), "not started by supervisord") || out.Len() > 0 {
		t.Errorf("run() = %d, %q, %q, want 3 and the reason", code, &out, &errs)
	}
	if page := readDoc(t, "docs/guides/supervisor-listener.md"); !strings.Contains(page, "```ini\n"+readDoc(t, supervisorConf)+"```\n") {
		t.Errorf("docs/guides/supervisor-listener.md does not show %s as it is", supervisorConf)
	}
}
