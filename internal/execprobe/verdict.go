// Package execprobe queries the daemon for a verdict and renders it as exec probes do:
// an exit code, and a first line on stdout with the whole result. It uses the standard
// library only, because the size of the exec probe is bounded.
package execprobe

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/vitals-health/vitals/internal/states"
	"github.com/vitals-health/vitals/internal/text"
)

// Verdict is the daemon's response on /api/v1/verdict/STATE: what is needed to print one
// state and to choose an exit code.
type Verdict struct {
	State string `json:"state"`
	// Verdict is pass, warn or fail.
	Verdict string `json:"verdict"`
	// Since is the time of the last change between failing and not failing.
	Since time.Time `json:"since,omitzero"`
	// Stalled is set when the snapshot is too old to be evidence.
	Stalled bool `json:"stalled"`
	// AgeSeconds is the age of the snapshot.
	AgeSeconds float64 `json:"age_seconds"`
	// Generation counts the snapshots since the daemon started.
	Generation uint64 `json:"generation"`
	// Reason is why the state fails if no rule decided it.
	Reason string `json:"reason,omitempty"`
	// Rule is the first of the rules that decide, causes first, or that warn. Status is
	// its status: failing or unknown. Value is the observed value, formatted as in
	// Prometheus. All are empty if no rule decides; Value is empty without an observation.
	Rule   string `json:"rule,omitempty"`
	Status string `json:"status,omitempty"`
	Value  string `json:"value,omitempty"`
	// Range is the threshold of that rule in the notation of the Monitoring Plugins;
	// empty if the rule does not compare with one number.
	Range string `json:"range,omitempty"`
	// ExitCode is the exit code that the rule sets, 1 to 119; 0 if it sets none.
	ExitCode int `json:"exit_code,omitempty"`
	// Lines are the lines of a failing probe's body, or describe the rules that warn.
	Lines []string `json:"lines"`
	// Pending describes pending rules that will make the state fail, or warn, if it passes.
	Pending []string `json:"pending,omitempty"`
	// Notes are the notes of collectors, each with the collector's name, if the state
	// passes.
	Notes []string `json:"notes,omitempty"`
	// Rules is the number of the state's rules; Failing and Unknown are how many of
	// them have that status.
	Rules   int `json:"rules"`
	Failing int `json:"failing"`
	Unknown int `json:"unknown"`
}

// Outcome is the kind of a probe's result. The zero value is invalid.
type Outcome int

// The outcomes. Only OK and Warning pass.
const (
	OK        Outcome = iota + 1
	Warning           // a rule is not ok, and does not make the state fail
	Failing           // a rule makes the state fail
	Unknown           // the evidence is missing
	NoRules           // the state has no rules, so nothing was evaluated
	Usage             // the command line or the configuration is wrong
	NoDaemon          // no process listens on the socket
	Forbidden         // no permission to use the socket
	Timeout           // no response in time
	Stale             // the verdict is too old
	Protocol          // the response is not from the daemon
)

func (o Outcome) String() string {
	return [...]string{"none", states.OK, states.Warning, states.Failing, states.Unknown, "no rules", "usage error", "no daemon", "forbidden", "timeout", "stale", "not understood"}[o]
}

// Result is the result of a probe.
type Result struct {
	Outcome Outcome
	// ExitCode is the exit code that the deciding rule sets; 0 if it sets none.
	ExitCode int
	// Text describes the result in one line.
	Text string
	// More are further lines.
	More []string
	// Verdict is the daemon's response; nil without one.
	Verdict *Verdict
}

// reasonNoRules is the evaluator's reason for a state without any rule.
const reasonNoRules = "no rules"

// ResultOf converts the daemon's response to a result.
func ResultOf(v *Verdict) Result {
	r := Result{Outcome: Failing, ExitCode: v.ExitCode, Verdict: v}
	if len(v.Lines) > 0 {
		r.Text, r.More = v.Lines[0], v.Lines[1:]
	}
	switch {
	case v.Stalled:
		r.Outcome, r.ExitCode = Stale, 0
		r.Text = fmt.Sprintf("%s: %s: the verdict is %.0f s old", v.State, firstOf(v.Reason, "evaluator stalled"), v.AgeSeconds)
	case v.Verdict == "pass":
		r.Outcome = OK
		r.Text = fmt.Sprintf("%s: %s%s", v.State, text.Plural(v.Rules, "rule"), since(v.Since))
	case v.Verdict == "warn":
		r.Outcome = Warning
	case v.Verdict != "fail":
		r.Outcome, r.Text = Protocol, fmt.Sprintf("%s: the verdict is %.32q, expected pass, warn or fail", v.State, v.Verdict)
	case v.Reason == reasonNoRules:
		r.Outcome, r.Text = NoRules, v.State+": no rules: nothing was judged"
	case v.Rule != "" && v.Status != states.Failing, v.Rule == "" && v.Reason == "starting":
		r.Outcome = Unknown
	}
	if r.Text == "" {
		r.Text = v.State + ": " + firstOf(v.Reason, r.Outcome.String()) + since(v.Since)
	}
	if r.Outcome == OK || r.Outcome == Warning {
		r.Text = strings.Join(slices.Concat([]string{r.Text}, v.Pending, v.Notes), "; ")
	}
	return r
}

func since(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return ", since " + t.UTC().Format(time.RFC3339)
}

func firstOf(texts ...string) string {
	for _, t := range texts {
		if t = strings.TrimSpace(t); t != "" {
			return t
		}
	}
	return ""
}
