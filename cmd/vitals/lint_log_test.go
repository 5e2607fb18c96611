package main

import (
	"bytes"
	"log/slog"
	"strings"
	"syscall"
	"testing"
)

// unmeasured is a configuration whose rules, by their names, ask for files that nobody
// looks at.
func unmeasured(t *testing.T, dir string, names ...string) string {
	t.Helper()
	text := "groups:\n  - name: g\n    rules:\n"
	for _, name := range names {
		accepted := ""
		if name == "Accepted" {
			accepted = "      # vitals:accept V005 another configuration has it\n"
		}
		text += accepted + "      - {alert: " + name + ", expr: 'vitals_file_exists{file=\"" + name + "\"} == 0', labels: {state: ready}}\n"
	}
	write(t, dir, "rules.yml", text)
	return write(t, dir, "vitals.yml", "rule_files: [rules.yml]\ncollectors: [{name: marker, file: {path: /etc}}]\n")
}

// What is an error is logged once for as long as it is there; warnings are not.
func TestLintLog(t *testing.T) {
	var out bytes.Buffer
	dir := t.TempDir()
	w := &lintLog{logger: slog.New(slog.NewTextHandler(&out, nil))}
	for _, step := range []struct {
		rules, want []string
	}{
		{[]string{"Accepted"}, nil},
		{[]string{"Accepted", "One"}, []string{`rules.yml:6:`}},
		{[]string{"Accepted", "One", "Two"}, []string{`rules.yml:7:`}},
		{[]string{"Accepted", "One", "Two"}, nil},
		{[]string{"Accepted"}, nil},
		{[]string{"Accepted", "One"}, []string{`rules.yml:6:`}},
	} {
		l, errs := loadFile(unmeasured(t, dir, step.rules...))
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		out.Reset()
		w.look(l)
		got := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
		if out.Len() == 0 {
			got = nil
		}
		if len(got) != len(step.want) {
			t.Fatalf("%v: log = %q, want %d lines", step.rules, got, len(step.want))
		}
		for i, line := range got {
			for _, part := range []string{"level=WARN", "V005 unknown-label-value", "at=" + dir + "/" + step.want[i], `rule \"`, "cure="} {
				if !strings.Contains(line, part) {
					t.Errorf("%v: log = %q, want %q in it", step.rules, line, part)
				}
			}
		}
	}
}

// A mistake of ours in a check ends no process.
func TestLintLogEndsNothing(t *testing.T) {
	var out bytes.Buffer
	(&lintLog{logger: slog.New(slog.NewTextHandler(&out, nil))}).look(nil)
	if !strings.Contains(out.String(), "rules cannot be checked") {
		t.Errorf("log = %q, want that nothing was checked", out.String())
	}
}

// A process obeys rules that the checks take for errors, and says so at the start and
// when a reload brings new ones.
func TestRunLogsErrorsOfRules(t *testing.T) {
	dir := t.TempDir()
	p := runVitals(t, unmeasured(t, dir, "One"), "--config.poll-interval=0")
	const message = "rule is obeyed although it does harm, or nothing"
	p.running()
	eventually(t, "the rule to be evaluated", func() bool { return p.rule("One").Name == "One" })
	if got := strings.Count(p.log.String(), message); got != 1 {
		t.Errorf("the log has %d warnings, want 1:\n%s", got, p.log)
	}
	unmeasured(t, dir, "One", "Two")
	p.signal(syscall.SIGHUP)
	eventually(t, "the new rule to be evaluated", func() bool { return len(p.status().Rules) == 2 })
	eventually(t, "the new error to be logged", func() bool { return strings.Count(p.log.String(), message) == 2 })
}
