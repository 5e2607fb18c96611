package rulecheck

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/vitals-health/vitals/internal/config"
)

// unmeasured writes a configuration whose rules, by their names, select files that no
// collector checks.
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
	w := NewLog(slog.New(slog.NewTextHandler(&out, nil)))
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
		l, errs := config.LoadFile(unmeasured(t, dir, step.rules...))
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		out.Reset()
		w.check(l)
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
	NewLog(slog.New(slog.NewTextHandler(&out, nil))).check(nil)
	if !strings.Contains(out.String(), "rules cannot be checked") {
		t.Errorf("log = %q, want that nothing was checked", out.String())
	}
}

// Only Run checks, and it checks the last of several configurations.
func TestLintLogRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		dir := t.TempDir()
		w := NewLog(slog.New(slog.NewTextHandler(&out, nil)))
		for _, rule := range []string{"One", "Two"} {
			l, errs := config.LoadFile(unmeasured(t, dir, rule))
			if len(errs) > 0 {
				t.Fatal(errs)
			}
			w.Use(l)
		}
		if out.Len() > 0 {
			t.Errorf("log before Run() = %q, want none", out.String())
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			w.Run(ctx)
		}()
		synctest.Wait()
		if got := out.String(); strings.Contains(got, "One") || strings.Count(got, "Two") == 0 {
			t.Errorf("log = %q, want the finding in the rule Two only", got)
		}
		cancel()
		<-ended
	})
	var none *Log
	none.Use(nil)
	none.Run(t.Context())
}

// write writes a file below dir and returns its path.
func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
