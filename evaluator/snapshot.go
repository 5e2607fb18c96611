package evaluator

import (
	"slices"
	"strings"
	"time"

	"github.com/prometheus/prometheus/model/labels"

	"github.com/vitals-health/vitals/collectors"
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

func (s Status) String() string {
	return [...]string{"unknown", "ok", "pending", "failing"}[s]
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
	// Collectors are in the order of the configuration.
	Collectors []CollectorStatus
	// Batches are the samples that are exported: one batch a collector, in the order of
	// Collectors, and the evaluator's own last.
	Batches []Batch
	// Reload is the outcome of the last attempt to load the configuration.
	Reload Reload
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
	// "evaluator stalled", "not alive: Rule", "no rules", "starting". Empty otherwise.
	Reason string
	// Deciding are the indexes in Snapshot.Rules of the rules that make it fail,
	// or, under Warn, of the rules that warn. Causes come before their consequences.
	Deciding []int
	// Rules are the indexes in Snapshot.Rules of all rules of the state.
	Rules []int
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
	// Observe is set by the annotation mode: observe: shown, never obeyed.
	Observe bool
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
	// Reason is why the status is unknown, or the error of the evaluation. If evidence is
	// missing because collectors fail, it ends in their findings.
	Reason string
	// Note joins the findings of the rule's other collectors: those whose name is the value
	// of a label of the first alerts or else of a matcher in the expression, and without any
	// those that fail and export the selected metrics. Empty while the rule is OK.
	Note string
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
// state of that name. A snapshot older than MaxAge fails ready, and one older than
// AliveMaxAge alive as well, with the reason "evaluator stalled".
func (s *Snapshot) State(name string, now time.Time) (State, bool) {
	for _, st := range s.States {
		if st.Name == name {
			if name == Ready && s.Stalled(now) || name == Alive && s.StalledAlive(now) {
				st.fail(ReasonStalled)
			}
			return st, true
		}
	}
	return State{}, false
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
