package main

import (
	"strings"
	"syscall"
	"testing"
)

// A process uses rules with findings of severity error, and logs those at the start and
// when a reload brings new ones.
func TestRunLogsErrorsOfRules(t *testing.T) {
	dir := t.TempDir()
	p := runVitals(t, withoutSamples(t, dir, "One"), "--config.poll-interval=0")
	const message = "rule is in use although it does harm or has no effect"
	p.running()
	eventually(t, "the rule to be evaluated", func() bool { return p.rule("One").Name == "One" })
	eventually(t, "the error to be logged", func() bool { return strings.Count(p.log.String(), message) == 1 })
	if listening, _, _ := strings.Cut(p.log.String(), message); !strings.Contains(listening, "socket="+p.socket) {
		t.Errorf("the rules were checked before the process listened, want it after:\n%s", p.log)
	}
	withoutSamples(t, dir, "One", "Two")
	p.signal(syscall.SIGHUP)
	eventually(t, "the new rule to be evaluated", func() bool { return len(p.status().Rules) == 2 })
	eventually(t, "the new error to be logged", func() bool { return strings.Count(p.log.String(), message) == 2 })
}

// withoutSamples is a configuration whose rules, by their names, select files that no
// collector checks.
func withoutSamples(t *testing.T, dir string, names ...string) string {
	t.Helper()
	text := "groups:\n  - name: g\n    rules:\n"
	for _, name := range names {
		text += "      - {alert: " + name + ", expr: 'vitals_file_exists{file=\"" + name + "\"} == 0', labels: {state: ready}}\n"
	}
	write(t, dir, "rules.yml", text)
	return write(t, dir, "vitals.yml", "rule_files: [rules.yml]\ncollectors: [{name: marker, file: {path: /etc}}]\n")
}
