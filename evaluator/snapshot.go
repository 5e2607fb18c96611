package evaluator

import (
	"slices"
	"strings"
	"time"

	"github.com/prometheus/prometheus/model/labels"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/internal/states"
	"github.com/vitals-health/vitals/internal/text"
)

// Status is the status of one rule. The zero value is Unknown.
type Status int

// The statuses of a rule.
const (
	// Unknown: evidence is missing, or the expression could not be evaluated.
	Unknown Status = iota
	OK
	// Pending: the expression is true, for less time than the rule's for.
	Pending
	// Failing: the expression has been true for long enough.
	Failing
)

// Statuses returns all of them, in the order in which they are exported.
func Statuses() []Status { return []Status{OK, Pending, Failing, Unknown} }

// String returns the word of the status.
func (s Status) String() string {
	return [...]string{states.Unknown, states.OK, states.Pending, states.Failing}[s]
}

// Verdict is the verdict of a state. The zero value is Fail: nothing is up before its
// first measurement.
type Verdict int

// The verdicts of a state.
const (
	Fail Verdict = iota
	// Warn passes, with a rule of severity warning failing.
	Warn
	Pass
)

// String returns the value of formats for machines. People read Snapshot.Word.
func (v Verdict) String() string { return [...]string{"fail", "warn", "pass"}[v] }

// Snapshot is the outcome of one evaluation. It is immutable: readers share it without
// locks.
type Snapshot struct {
	// Generation counts the snapshots since the process started, from 1.
	Generation uint64
	// At is when the rules were evaluated, with Go's monotonic reading.
	At time.Time
	// Started is when the process started.
	Started time.Time
	// Took is how long the evaluation took.
	Took time.Duration
	// MaxAge is the age beyond which the snapshot is stalled.
	MaxAge time.Duration
	// AliveMaxAge is the age beyond which alive fails as well. It has no effect below
	// MaxAge.
	AliveMaxAge time.Duration
	// States are in the order of the configuration; ready, alive and started come first.
	States []State
	// Rules are in the order of their files.
	Rules []Rule
	// Groups are the rule groups in the order of their files, with recording rules.
	Groups []Group
	// Collectors are in the order of the configuration.
	Collectors []CollectorStatus
	// Batches are the samples that are exported: one batch a collector, in the order of
	// Collectors, and the evaluator's own last.
	Batches []Batch
	// Reload is the outcome of the last attempt to load the configuration.
	Reload Reload
	// Memory is what series and alerts take.
	Memory Memory
	// Overrides are the silences and the maintenance that last, in the order of their begin.
	Overrides []Override
	// Changes are the begins and ends of overrides since the snapshot before.
	Changes []OverrideChange
	// ShuttingDown is set once Shutdown was called.
	ShuttingDown bool
}

// State is a state and its verdict, which /NAME answers.
type State struct {
	Name    string
	Verdict Verdict
	// Since is when the verdict last changed between failing and not failing.
	Since time.Time
	// Transitions counts those changes since the process started.
	Transitions uint64
	// Reason is why the state fails when no rule decided it: "shutting down",
	// "evaluator stalled", "not alive: Rule", "no rules", "starting", "maintenance: ...".
	// Empty otherwise.
	Reason string
	// Deciding are the indexes in Snapshot.Rules of the rules that make it fail,
	// or, under Warn, of the rules that warn. Causes come before their consequences.
	Deciding []int
	// Rules are the indexes in Snapshot.Rules of all rules of the state.
	Rules []int
	// Maintenance makes the state fail; nil where there is none.
	Maintenance *Override
	// Tolerant is set if the state's policy for missing data is pass.
	Tolerant bool
}

// Rule is one alerting rule and its status. Recording rules do not appear.
type Rule struct {
	Name  string
	Group string
	// File is the rule file as the configuration names it.
	File string
	// State is the state that the rule feeds; empty for an ordinary alert.
	State    string
	Severity string
	// Expr is the expression as the file has it.
	Expr          string
	For           time.Duration
	KeepFiringFor time.Duration
	// Observe is set by the annotation mode: observe, or by a silence: shown, not obeyed.
	Observe bool
	// Silence is why Observe is set, if that is not the annotation; nil otherwise.
	Silence *Override
	// NoData is what unknown means for the rule: fail, pass, hold or hold with a duration.
	NoData string
	// HeldFor is how long the last status of an unknown rule still counts: zero without a
	// hold that ends, and once it has ended.
	HeldFor time.Duration
	// ExitCode is the code that the exec probe returns when the rule decides, expanded
	// for the deciding alert: 1 to 119, or 0 if there is none.
	ExitCode int
	// DependsOn names the rules that may be the cause of this one.
	DependsOn []string

	Status Status
	// Since is when the status last changed.
	Since time.Time
	// Decides is set if the rule makes its state fail now.
	Decides bool
	// Starting is set if the rule decides while it is pending: it has not been OK since
	// the start, or since it was added.
	Starting bool
	// Warns is set if the rule fails, or lacks evidence, without making its state fail.
	Warns bool
	// Summary is the annotation summary, expanded for the deciding alert. A rule that is
	// unknown without an alert has it if it contains nothing to expand.
	Summary string
	// Description and RunbookURL are the annotations of these names, expanded for the deciding
	// alert. Without an alert, a rule has them if they contain nothing to expand.
	Description, RunbookURL string
	// Labels are the rule's own labels as the file has them, without state and severity. They
	// must not be changed.
	Labels map[string]string
	// Reason is why the status is unknown, or the error of the evaluation. If evidence is
	// missing because collectors fail, it ends in their findings.
	Reason string
	// Note joins the findings of the rule's other collectors: those whose name is the value
	// of a label of the first alerts or else of a matcher in the expression, and without any
	// those that fail and export the selected metrics. Empty while the rule is OK.
	Note string
	// Collectors names the collectors that measure what the rule uses: those that the labels
	// of its alerts or its matchers name, or else those that export its metrics. It stays as
	// it was when the status last changed, and is empty while the rule is OK.
	Collectors []string
	// Cause names the failing rule of depends_on under which this one is folded.
	Cause string
	// Observed is the value of the deciding alert; nil where there is none.
	Observed *float64
	// Limit is the number with which that value is compared; nil where there is no single one.
	Limit *Limit
	// Alerts are the active alerts, the deciding one first; at most 100 of them.
	Alerts []Alert
	// AlertCount is the number of active alerts, whether they fit in Alerts or not.
	AlertCount int
	// Evaluated is when the rule was last evaluated; zero before that.
	Evaluated time.Time
	// QueryOffset is that of the rule's group: how far before the evaluation's time the
	// expression is evaluated.
	QueryOffset time.Duration
}

// Alert is one label set for which a rule's expression is true.
type Alert struct {
	Labels      labels.Labels
	Annotations map[string]string
	// Firing is false while the alert is pending.
	Firing   bool
	Value    float64
	ActiveAt time.Time
	// FiredAt is when the alert began to fire; zero while it is pending.
	FiredAt time.Time
	// KeepFiringSince is when the expression stopped being true, while keep_firing_for
	// keeps the alert; zero otherwise.
	KeepFiringSince time.Time
}

// CollectorStatus is the status of a collector.
type CollectorStatus struct {
	Name     string
	Kind     string
	External bool
	// Ran is set once a collection has ended, whatever its outcome.
	Ran bool
	// Success is set if the last collection ended in time and without an error.
	Success bool
	// Error is the last collection's error, at most 512 bytes, without secrets; empty after a success.
	Error string
	// Refused is set if the samples of the last collection were not taken, because there is
	// no memory for them.
	Refused bool
	// Bytes is an estimate of the memory that the collector's samples take.
	Bytes int64
	// Note is the collector's note on the last collection, one line of at most 200 bytes;
	// empty where it has none or did not return.
	Note        string
	Duration    time.Duration
	LastRun     time.Time
	LastSuccess time.Time
	Interval    time.Duration
}

// Finding returns what the last collection found: the note or else the error, as one line of
// at most 200 bytes. It is empty if there is neither.
func (s *CollectorStatus) Finding() string {
	if s.Note != "" {
		return s.Note
	}
	return noteLine(strings.ReplaceAll(s.Error, "\n", "; ")) // errors.Join puts each on a line
}

// Batch is what one source exports at this generation.
type Batch struct {
	Descs   []collectors.Desc
	Samples []collectors.Sample
}

// Describes reports whether a metric is described, also as a part of a histogram or summary.
func (b *Batch) Describes(metric string) bool {
	base := metric
	for _, part := range []string{"_bucket", "_sum", "_count"} {
		base = strings.TrimSuffix(base, part)
	}
	return slices.ContainsFunc(b.Descs, func(d collectors.Desc) bool { return d.Name == metric || d.Name == base })
}

// Memory is what the evaluator keeps.
type Memory struct {
	// Series is the number of series, with those that have ended and whose history is kept.
	Series int
	// Bytes is an estimate of what all series and alerts take, and Limit its bound.
	Bytes, Limit int64
}

// Reload is the outcome of the last attempt to load the configuration.
type Reload struct {
	OK bool
	// At is the time of the last attempt, LastSuccess that of the last success; zero if there
	// was none.
	At, LastSuccess time.Time
	// Error is what is wrong with the file, without secrets, in at most 4 KiB.
	Error string
}

// State returns a state's verdict as it stands at now, and false if there is no
// state of that name. A snapshot older than MaxAge fails ready and further states, and one
// older than AliveMaxAge alive and tolerant states as well, with the reason "evaluator
// stalled". Started keeps its verdict.
func (s *Snapshot) State(name string, now time.Time) (State, bool) {
	for _, st := range s.States {
		if st.Name == name {
			if s.stalls(&st, now) {
				st.fail(ReasonStalled)
			}
			return st, true
		}
	}
	return State{}, false
}

// Word returns the word for the verdict of a state of the snapshot. It is unknown if the
// state fails for the lack of evidence: the rule that decides is not failing, or nothing has
// been measured yet.
func (s *Snapshot) Word(st *State) string {
	switch st.Verdict {
	case Pass:
		return states.OK
	case Warn:
		return states.Warning
	}
	if st.Reason == ReasonStalled {
		return states.Failing // the statuses of the rules are no longer evidence
	}
	for _, i := range st.Deciding {
		r := &s.Rules[i]
		if !slices.ContainsFunc(st.Deciding, func(j int) bool { return s.Rules[j].Name == r.Cause }) {
			return text.Either(r.Status == Failing, states.Failing, states.Unknown)
		}
	}
	return text.Either(st.Reason == ReasonStarting, states.Unknown, states.Failing)
}

// stalls reports whether the snapshot is too old for a state. What has started stays so.
func (s *Snapshot) stalls(st *State, now time.Time) bool {
	switch {
	case st.Name == Started:
		return false
	case st.Name == Alive || st.Tolerant:
		return s.StalledAlive(now)
	}
	return s.Stalled(now)
}

// fail makes the state fail for a reason other than its rules. Rules that only warn do
// not decide then; rules that made it fail already still do.
func (s *State) fail(reason string) {
	if s.Verdict != Fail {
		s.Deciding = nil
	}
	s.Verdict, s.Reason = Fail, reason
}

// Stalled reports whether the snapshot is older than MaxAge.
func (s *Snapshot) Stalled(now time.Time) bool { return now.Sub(s.At) > s.MaxAge }

// StalledAlive reports whether the snapshot is older than MaxAge and AliveMaxAge. Until
// then alive keeps its verdict: a restart of the workload does not help the evaluator.
func (s *Snapshot) StalledAlive(now time.Time) bool {
	return now.Sub(s.At) > max(s.MaxAge, s.AliveMaxAge)
}
