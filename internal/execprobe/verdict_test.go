package execprobe_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/vitals-health/vitals/internal/execprobe"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func failing(status string, code int, lines ...string) *execprobe.Verdict {
	return &execprobe.Verdict{State: "ready", Verdict: "fail", Since: noon, Rule: "KeystoneDown", Status: status, ExitCode: code, Lines: lines, Rules: 12, Failing: 1, AgeSeconds: 0.25}
}

// Every outcome in every style: what is printed, and the code.
func TestRender(t *testing.T) {
	const line = "KeystoneDown failing: Keystone does not answer. (value 0, since 2026-11-21T12:00:00Z)"
	const perf = " | rules=12;;;0 failing=1;;;0;12 unknown=0;;;0;12 age=0.250s;;;0"
	tests := []struct {
		name    string
		verdict *execprobe.Verdict
		outcome execprobe.Outcome
		// codes of plain, docker, sonic and nagios.
		codes         [4]int
		plain, nagios string
	}{
		{"a state that passes", &execprobe.Verdict{State: "ready", Verdict: "pass", Since: noon, Rules: 12}, execprobe.OK, [4]int{0, 0, 0, 0},
			"ok 0 ready: 12 rules, since 2026-11-21T12:00:00Z\n",
			"OK: ready: 12 rules, since 2026-11-21T12:00:00Z | rules=12;;;0 failing=0;;;0;12 unknown=0;;;0;12 age=0.000s;;;0\n"},
		{"one rule", &execprobe.Verdict{State: "alive", Verdict: "pass", Rules: 1}, execprobe.OK, [4]int{0, 0, 0, 0},
			"ok 0 alive: 1 rule\n", "OK: alive: 1 rule | rules=1;;;0 failing=0;;;0;1 unknown=0;;;0;1 age=0.000s;;;0\n"},
		{"a warning", &execprobe.Verdict{State: "ready", Verdict: "warn", Lines: []string{"QuotaLow failing: 2 left."}, Rules: 12, Failing: 1, AgeSeconds: 0.25},
			execprobe.Warning, [4]int{0, 0, 0, 1}, "warning 0 QuotaLow failing: 2 left.\n", "WARNING: QuotaLow failing: 2 left." + perf + "\n"},
		{"a failing rule", failing("failing", 0, line), execprobe.Failing, [4]int{1, 1, 120, 2}, "failing 1 " + line + "\n", "CRITICAL: " + line + perf + "\n"},
		{"its own code", failing("failing", 12, line), execprobe.Failing, [4]int{12, 1, 12, 2}, "failing 12 " + line + "\n", "CRITICAL: " + line + perf + "\n"},
		{"its own code, which is an outcome's under plain", failing("failing", 3, line), execprobe.Failing, [4]int{1, 1, 3, 2}, "failing 1 " + line + "\n", "CRITICAL: " + line + perf + "\n"},
		{"two rules", failing("failing", 0, line, "a|b"), execprobe.Failing, [4]int{1, 1, 120, 2}, "failing 1 " + line + "\na|b\n", "CRITICAL: " + line + perf + "\na/b\n"},
		{"evidence is missing", failing("unknown", 0, "KeystoneDown unknown: no series"), execprobe.Unknown, [4]int{2, 1, 121, 3},
			"unknown 2 KeystoneDown unknown: no series\n", "UNKNOWN: KeystoneDown unknown: no series" + perf + "\n"},
		{"nothing has been measured yet", &execprobe.Verdict{State: "ready", Verdict: "fail", Reason: "starting", Lines: []string{"starting"}},
			execprobe.Unknown, [4]int{2, 1, 121, 3}, "unknown 2 starting\n", "UNKNOWN: starting | rules=0;;;0 failing=0;;;0;0 unknown=0;;;0;0 age=0.000s;;;0\n"},
		{"no rules", &execprobe.Verdict{State: "ready", Verdict: "fail", Reason: "no rules", Lines: []string{"no rules"}},
			execprobe.NoRules, [4]int{8, 1, 121, 3}, "no rules 8 ready: no rules: nothing was judged\n",
			"UNKNOWN: ready: no rules: nothing was judged | rules=0;;;0 failing=0;;;0;0 unknown=0;;;0;0 age=0.000s;;;0\n"},
		{"a reason of the state's own", &execprobe.Verdict{State: "ready", Verdict: "fail", Since: noon, Reason: "shutting down"},
			execprobe.Failing, [4]int{1, 1, 120, 2}, "failing 1 ready: shutting down, since 2026-11-21T12:00:00Z\n",
			"CRITICAL: ready: shutting down, since 2026-11-21T12:00:00Z | rules=0;;;0 failing=0;;;0;0 unknown=0;;;0;0 age=0.000s;;;0\n"},
		{"a stalled evaluator", &execprobe.Verdict{State: "alive", Verdict: "fail", Stalled: true, Reason: "evaluator stalled", AgeSeconds: 61.4, ExitCode: 12, Lines: []string{"evaluator stalled"}},
			execprobe.Stale, [4]int{6, 1, 125, 2}, "stale 6 alive: evaluator stalled: the verdict is 61 s old\n",
			"CRITICAL: alive: evaluator stalled: the verdict is 61 s old | rules=0;;;0 failing=0;;;0;0 unknown=0;;;0;0 age=61.400s;;;0\n"},
		{"a verdict of another version", &execprobe.Verdict{State: "ready", Verdict: "maybe"}, execprobe.Protocol, [4]int{9, 1, 125, 3},
			"not understood 9 ready: the verdict is \"maybe\", expected pass, warn or fail\n",
			"UNKNOWN: ready: the verdict is \"maybe\", expected pass, warn or fail | rules=0;;;0 failing=0;;;0;0 unknown=0;;;0;0 age=0.000s;;;0\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := execprobe.ResultOf(tt.verdict)
			if r.Outcome != tt.outcome {
				t.Errorf("outcome = %s, want %s", r.Outcome, tt.outcome)
			}
			for i, style := range execprobe.Styles() {
				if got := style.Code(r); got != tt.codes[i] {
					t.Errorf("Code() in style %s = %d, want %d", style, got, tt.codes[i])
				}
			}
			if got := execprobe.Plain.Render(r); got != tt.plain {
				t.Errorf("Render() in style plain = %q, want %q", got, tt.plain)
			}
			if got := execprobe.Nagios.Render(r); got != tt.nagios {
				t.Errorf("Render() in style nagios = %q, want %q", got, tt.nagios)
			}
		})
	}
}

// The rule's value is the first of the performance data, in digits.
func TestRenderTheRulesValue(t *testing.T) {
	for value, want := range map[string]string{
		"2": "2", "0.25": "0.25", "-1e-05": "-0.00001", "1e+06": "1000000", "NaN": "U", "+Inf": "U", "-Inf": "U", "1e+300": "U", "'=;|": "U",
	} {
		v := failing("failing", 0, "down")
		v.Value = value
		if got, perf := execprobe.Nagios.Render(execprobe.ResultOf(v)), "CRITICAL: down | 'KeystoneDown'="+want+";; rules=12;;;0 "; !strings.HasPrefix(got, perf) {
			t.Errorf("Render() of the value %s = %q, want %q", value, got, perf)
		}
	}
	for verdict, want := range map[string]string{"warn": "WARNING: down | 'KeystoneDown'=2;~:1; rules=", "fail": "CRITICAL: down | 'KeystoneDown'=2;;~:1 rules="} {
		v := failing("failing", 0, "down")
		v.Verdict, v.Value, v.Range = verdict, "2", "~:1"
		if got := execprobe.Nagios.Render(execprobe.ResultOf(v)); !strings.HasPrefix(got, want) {
			t.Errorf("Render() of a range and the verdict %s = %q, want %q", verdict, got, want)
		}
	}
	v := failing("failing", 0, strings.Repeat("x", 600))
	v.Rule, v.Value = strings.Repeat("R", 500), "1"
	if got := execprobe.Nagios.Render(execprobe.ResultOf(v)); len(got) > 501 || strings.Contains(got, "'") {
		t.Errorf("Render() of a rule with a long name = %q, want at most 500 bytes without its value", got)
	}
}

// Only a passing outcome exits with 0, whatever the verdict.
func TestOnlyWhatPassesExitsWithZero(t *testing.T) {
	for outcome := execprobe.OK; outcome <= execprobe.Protocol; outcome++ {
		for _, style := range execprobe.Styles() {
			for _, own := range []int{-1, 0, 1, 9, 10, 119, 120, 256, 1 << 40} {
				code := style.Code(execprobe.Result{Outcome: outcome, ExitCode: own})
				passes := outcome == execprobe.OK || outcome == execprobe.Warning && style != execprobe.Nagios
				if (code == 0) != passes || code < 0 || code > 255 {
					t.Errorf("Code() of %s with exit_code %d in style %s = %d, want 0 only for what passes, and at most 255", outcome, own, style, code)
				}
			}
		}
	}
	if code := execprobe.Docker.Code(execprobe.Result{}); code != 1 {
		t.Errorf("Code() of the zero Result = %d, want 1", code)
	}
}

func TestRenderIsBounded(t *testing.T) {
	long := strings.Repeat("é\x1b\n|", 1000)
	lines := make([]string, 100)
	for i := range lines {
		lines[i] = fmt.Sprint(i, strings.Repeat("y", 300))
	}
	r := execprobe.Result{Outcome: execprobe.Failing, Text: long, More: append([]string{"\xff\x00" + strings.Repeat("z", 200)}, lines...), Verdict: failing("failing", 0)}
	for _, style := range execprobe.Styles() {
		text := style.Render(r)
		first, rest, _ := strings.Cut(text, "\n")
		if len(first) > 500 || len(text) >= 4096 || len(text) < 3500 {
			t.Errorf("style %s: %d bytes with %d in the first line, want fewer than 4096, nearly all used, and at most 500", style, len(text), len(first))
		}
		if strings.ContainsAny(first, "\x1b\x00") || strings.Contains(first, "\xff") || strings.ContainsAny(rest, "\x00\x1b\r") {
			t.Errorf("style %s: control characters in %q", style, text)
		}
		if style == execprobe.Nagios && strings.Count(text, "|") != 1 {
			t.Errorf("style nagios: %d bars, want the one before the performance data", strings.Count(text, "|"))
		}
	}
}

func TestStyleOf(t *testing.T) {
	for program, want := range map[string]execprobe.Style{
		"healthcheck": execprobe.Docker, "/openstack/healthcheck": execprobe.Docker, "/usr/bin/readiness_probe.sh": execprobe.Sonic,
		"/usr/lib/nagios/plugins/check_vitals": execprobe.Nagios, "vitals-healthcheck": execprobe.Plain, "": execprobe.Plain,
	} {
		if got := execprobe.StyleOf(program); got != want {
			t.Errorf("StyleOf(%q) = %s, want %s", program, got, want)
		}
	}
}
