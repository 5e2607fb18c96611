// Package execprobe says a verdict the way programs do that are run as probes: an
// exit code, and a first line on stdout that says it all. It imports nothing but the
// standard library, because the smallest program of this module is made of it.
package execprobe

import (
	"fmt"
	"strings"
	"time"

	"github.com/vitals-health/vitals/internal/text"
)

// Verdict is what the daemon answers on /api/v1/verdict/STATE: all that is needed to
// print one state and to choose an exit code.
type Verdict struct {
	State string `json:"state"`
	// Verdict is pass, warn or fail.
	Verdict string `json:"verdict"`
	// Since is when the verdict last changed between failing and not failing.
	Since time.Time `json:"since,omitzero"`
	// Stalled is set when the snapshot is too old to say anything.
	Stalled bool `json:"stalled"`
	// AgeSeconds is the age of the snapshot.
	AgeSeconds float64 `json:"age_seconds"`
	// Generation counts the snapshots since the daemon started.
	Generation uint64 `json:"generation"`
	// Reason says why the state fails where no rule decided it.
	Reason string `json:"reason,omitempty"`
	// Rule is the first of the rules that decide, causes first, or that warn, Status
	// what it says: failing or unknown, and Value what it observed, as Prometheus writes
	// numbers. All are empty where no rule decides, and Value where nothing was observed.
	Rule   string `json:"rule,omitempty"`
	Status string `json:"status,omitempty"`
	Value  string `json:"value,omitempty"`
	// Range is for which values that rule fails, as the Monitoring Plugins write a
	// threshold; empty where that is no matter of one number.
	Range string `json:"range,omitempty"`
	// ExitCode is that rule's own, 1 to 119; 0 if it has none.
	ExitCode int `json:"exit_code,omitempty"`
	// Lines are what a failing probe says, and what a warning one would.
	Lines []string `json:"lines"`
	// Notes are what the collectors saw, each with its collector's name, where the
	// state passes.
	Notes []string `json:"notes,omitempty"`
	// Rules is how many rules the state has; Failing and Unknown are how many of
	// them say so.
	Rules   int `json:"rules"`
	Failing int `json:"failing"`
	Unknown int `json:"unknown"`
}

// Outcome is how a probe ended. The zero value is none of them.
type Outcome int

// The outcomes. Only OK and Warning pass.
const (
	OK        Outcome = iota + 1
	Warning           // the state passes, with something to say
	Failing           // a rule makes the state fail
	Unknown           // the evidence is missing
	NoRules           // the state has no rules, so nothing was judged
	Usage             // the command line or the configuration is wrong
	NoDaemon          // nobody listens on the socket
	Forbidden         // the socket may not be used
	Timeout           // no answer in time
	Stale             // the verdict is too old to say anything
	Protocol          // the answer is none of the daemon's
)

func (o Outcome) String() string {
	return [...]string{"none", "ok", "warning", "failing", "unknown", "no rules", "usage error", "no daemon", "forbidden", "timeout", "stale", "not understood"}[o]
}

// Result is what a probe found.
type Result struct {
	Outcome Outcome
	// ExitCode is the deciding rule's own; 0 if it has none.
	ExitCode int
	// Text says what was found, in one line.
	Text string
	// More are further lines.
	More []string
	// Verdict is what the daemon said; nil where it said nothing.
	Verdict *Verdict
}

// reasonNoRules is the evaluator's reason for a state without any rule.
const reasonNoRules = "no rules"

// Judge turns the daemon's answer into a result.
func Judge(v *Verdict) Result {
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
		r.Outcome, r.Text = Protocol, fmt.Sprintf("%s: the daemon said %.32q, expected pass, warn or fail", v.State, v.Verdict)
	case v.Reason == reasonNoRules:
		r.Outcome, r.Text = NoRules, v.State+": no rules: nothing was judged"
	case v.Rule != "" && v.Status != "failing", v.Rule == "" && v.Reason == "starting":
		r.Outcome = Unknown
	}
	if r.Text == "" {
		r.Text = v.State + ": " + firstOf(v.Reason, v.Verdict) + since(v.Since)
	}
	if r.Outcome == OK || r.Outcome == Warning {
		r.Text = strings.Join(append([]string{r.Text}, v.Notes...), "; ")
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
