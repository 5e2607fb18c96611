package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/execprobe"
)

// query runs the probe in every style, and returns what it printed and its codes.
func query(args ...string) (texts [4]string, codes [4]int) {
	for i, style := range execprobe.Styles() {
		texts[i], codes[i] = call(nil, append([]string{"probe", "--style=" + string(style)}, args...)...)
	}
	return texts, codes
}

// wedged returns a socket that never responds: the kernel accepts, the daemon does not.
func wedged(t *testing.T) string {
	t.Helper()
	dir := collectortest.Dir(t)
	path := filepath.Join(dir, "s")
	ln, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	return path
}

// manyRules is a snapshot with 10 kB of rules that fail.
func manyRules() *evaluator.Snapshot {
	s := snapshot()
	s.Rules, s.States[0].Rules = nil, nil
	zero := 0.0
	for i := range 50 {
		s.Rules = append(s.Rules, evaluator.Rule{
			Name: fmt.Sprintf("Rule%d", i), State: "ready", Status: evaluator.Failing, Decides: true, Observed: &zero,
			Since: time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC), Summary: strings.Repeat("It is broken. ", 15),
		})
		s.States[0].Rules = append(s.States[0].Rules, i)
	}
	s.States[0].Deciding = s.States[0].Rules
	s.States = s.States[:1]
	return s
}

// The output of the probe in the scenarios that concern every style.
func TestScenarios(t *testing.T) {
	stale, empty, warning := snapshot(), snapshot(), snapshot()
	stale.At, stale.MaxAge = time.Now().Add(-61*time.Second), 5*time.Second
	empty.Rules, empty.States = nil, []evaluator.State{{Name: "ready", Verdict: evaluator.Fail, Reason: "no rules"}}
	warning.States[0].Verdict, warning.Rules[0].Decides, warning.Rules[0].Warns = evaluator.Warn, false, true
	warning.Rules[0].Limit = &evaluator.Limit{Op: "==", Value: 0}
	tests := []struct {
		name   string
		socket string
		codes  [4]int
		// plain is what the first line begins with, and nagios a part of it.
		plain, nagios string
	}{
		{"E79 a state that fails", daemon(t, snapshot()), [4]int{12, 1, 12, 2}, "failing 12 DatabaseDown failing", "CRITICAL: "},
		{"E80 no daemon", filepath.Join(t.TempDir(), "s"), [4]int{4, 1, 123, 3}, "no daemon 4 there is no socket ", " or a profile to evaluate once without a daemon"},
		{"E81 a verdict that is too old", daemon(t, stale), [4]int{6, 1, 125, 2}, "stale 6 ready: evaluator stalled: the verdict is 61 s old", "age=61."},
		{"E82 a socket that is not there", filepath.Join(t.TempDir(), "s"), [4]int{4, 1, 123, 3}, "no daemon 4 there is no socket ", "UNKNOWN: "},
		{"E84 a rule that warns", daemon(t, warning), [4]int{0, 0, 0, 1}, "warning 0 DatabaseDown failing: The database is gone. (value 0, since 2026-01-02T12:00:00Z)\n",
			"WARNING: DatabaseDown failing: The database is gone. (value 0, since 2026-01-02T12:00:00Z) | 'DatabaseDown'=0;@0:0; rules=1;;;0 "},
		{"E88 no rules", daemon(t, empty), [4]int{8, 1, 121, 3}, "no rules 8 ready: no rules: nothing was judged\n", "UNKNOWN: "},
		{"E89 a daemon that hangs", wedged(t), [4]int{5, 1, 124, 2}, "timeout 5 the daemon on ", "CRITICAL: "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			// Only who hangs is waited for.
			timeout := "--timeout=1m"
			if tt.codes[0] == 5 {
				timeout = "--timeout=200ms"
			}
			begin := time.Now()
			texts, codes := query("--socket="+tt.socket, timeout, "--config.file=/nowhere")
			if codes != tt.codes {
				t.Errorf("codes = %v, want %v", codes, tt.codes)
			}
			if !strings.HasPrefix(texts[0], tt.plain) || !strings.Contains(texts[3], tt.nagios) {
				t.Errorf("plain = %q, nagios = %q, want %q and %q", texts[0], texts[3], tt.plain, tt.nagios)
			}
			if took := time.Since(begin); took > patience {
				t.Errorf("four probes took %s, want about four times 200ms at most", took)
			}
		})
	}
}

// patience is what four probes with a deadline of 200 ms may take on a busy machine.
const patience = 30 * time.Second

// Docker uses two codes, whatever the outcome and the rule's own code.
func TestE83Docker(t *testing.T) {
	for outcome := execprobe.OK; outcome <= execprobe.Protocol; outcome++ {
		for _, own := range []int{0, 1, 2, 12, 119, 200} {
			want := 1
			if outcome == execprobe.OK || outcome == execprobe.Warning {
				want = 0
			}
			if code := execprobe.Docker.Code(execprobe.Result{Outcome: outcome, ExitCode: own}); code != want {
				t.Errorf("E83: %s with exit_code %d = %d, want %d", outcome, own, code, want)
			}
		}
	}
}

// Nagios has one code for mistakes and for help.
func TestE85NagiosUsage(t *testing.T) {
	for _, args := range [][]string{
		{"check_vitals", "--no-such-flag"}, {"check_vitals", "-h"}, {"check_vitals", "--help"}, {"check_vitals", "--timeout=x"}, {"check_vitals", "--state=a/b"},
		{"p", "--style=nagios", "--help"}, {"p", "--style=nagios", "-x"},
	} {
		if out, code := call(nil, args...); code != 3 || out == "" {
			t.Errorf("E85: %q = %q, %d, want 3", args, out, code)
		}
	}
}

// The first line is enough, and the whole is not too much for who keeps it.
func TestE86MuchToSay(t *testing.T) {
	texts, codes := query("--socket=" + daemon(t, manyRules()))
	if want := [4]int{1, 1, 120, 2}; codes != want {
		t.Errorf("E86: codes = %v, want %v", codes, want)
	}
	first := regexp.MustCompile(`^(failing (1|120) |CRITICAL: )Rule0 failing: It is broken\. .*\(value 0, since 2026-01-02T12:00:00Z\)`)
	for i, text := range texts {
		line, _, _ := strings.Cut(text, "\n")
		if len(line) > 500 || len(text) > 4096 || len(text) < 2500 || !first.MatchString(line) {
			t.Errorf("E86: style %s prints %d bytes with the first line %q, want at most 4096 and 500 with verdict, code, rule, value and since when", execprobe.Styles()[i], len(text), line)
		}
		if !strings.Contains(text, "more lines\n") {
			t.Errorf("E86: style %s does not report that there is more", execprobe.Styles()[i])
		}
	}
}

// A program that cannot start another one leaves no child.
func TestE35NeverForks(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	if deps := "\n" + string(out); !strings.Contains(deps, "\nsyscall\n") || strings.Contains(deps, "\nos/exec\n") {
		t.Error("E35: the exec probe is built with os/exec, want without")
	}
	sources, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range append(sources, "../../internal/execprobe/query.go") {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if m := regexp.MustCompile(`StartProcess\(|ForkExec\(|SYS_(FORK|VFORK|CLONE)`).Find(text); m != nil && !strings.HasSuffix(path, "_test.go") {
			t.Errorf("E35: %s has %s, want no other process", path, m)
		}
	}
}
