package ruletest

import (
	"slices"
	"time"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/strictyaml"
)

// stateTest is the expected verdict of a state at a time. Nil fields are not compared.
type stateTest struct {
	place    place
	at       time.Duration
	state    string
	verdict  string
	deciding []string
	reason   *string
	unknown  []string
	// rules are the statuses of some rules, by name.
	rules map[string]string
}

func (r *reader) stateTest(f *file, path string, raw rawStateTest) stateTest {
	t := stateTest{
		place: r.place(path), at: time.Duration(raw.EvalTime), state: raw.State, verdict: raw.Verdict,
		deciding: raw.Deciding, reason: raw.Reason, unknown: raw.Unknown, rules: raw.Rules,
	}
	if names := f.stateNames(); !slices.Contains(names, t.state) {
		r.fail(path+".state", "there is no state %q, %s", t.state, strictyaml.Expected(t.state, names))
	}
	if verdicts := []string{"pass", "warn", "fail"}; t.verdict != "" && !slices.Contains(verdicts, t.verdict) {
		r.fail(path+".verdict", "expected pass, warn or fail, got %q", t.verdict)
	}
	if t.verdict == "" && t.deciding == nil && t.reason == nil && t.unknown == nil && t.rules == nil {
		r.fail(path, "no expectation for the state: expected a verdict")
	}
	alerts := f.alerts
	names := func(path string, names []string) {
		for i, name := range names {
			if !alerts[name] {
				r.fail(strictyaml.PathIndex(path, i), "no rule has the alert %q%s", name, hint(name, sortedKeys(alerts)))
			}
		}
	}
	names(path+".deciding", t.deciding)
	names(path+".unknown", t.unknown)
	for _, name := range sortedKeys(t.rules) {
		at := strictyaml.PathKey(path+".rules", name)
		if !alerts[name] {
			r.fail(at, "no rule has the alert %q%s", name, hint(name, sortedKeys(alerts)))
		}
		if status := t.rules[name]; !slices.Contains(statuses(), status) {
			r.fail(at, "expected ok, pending, failing or unknown, got %q", status)
		}
	}
	return t
}

func statuses() []string {
	var all []string
	for _, s := range evaluator.Statuses() {
		all = append(all, s.String())
	}
	return all
}
