package explain

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/vitals-health/vitals/evaluator"
)

// Explanation explains the verdict of a state: the rules that matter, and the value of
// every part of their expressions. It is the answer of /api/v1/explain/STATE. Its rules
// are shared between explanations and must not be changed.
type Explanation struct {
	State string `json:"state"`
	// Verdict is pass, warn or fail.
	Verdict string `json:"verdict"`
	// Status is the word for people: ok, warning, failing or unknown.
	Status string `json:"status"`
	// Since is when the verdict last changed between failing and not failing.
	Since time.Time `json:"since,omitzero"`
	// Reason is why the state fails where none of its rules decides it.
	Reason string `json:"reason,omitempty"`
	// Generation and At are those of the snapshot that is explained. Ages are
	// relative to At.
	Generation uint64    `json:"generation"`
	At         time.Time `json:"at"`
	// RuleCount is how many rules the state has, and Deciding how many of them make it
	// fail or, under warn, only warn.
	RuleCount int `json:"rule_count"`
	Deciding  int `json:"deciding"`
	// Rules are at most 100: those that decide, causes first, or those of Options.
	Rules []*Rule `json:"rules"`
	// LeftOut is how many more there would be.
	LeftOut int `json:"left_out,omitempty"`
	// Collectors are those that the rules name, and those that the state waits for.
	Collectors []Collector `json:"collectors"`
}

// Rule is one alerting rule and why it has its status.
type Rule struct {
	Name     string `json:"name"`
	Group    string `json:"group"`
	File     string `json:"file"`
	State    string `json:"state,omitempty"`
	Severity string `json:"severity,omitempty"`
	// Status is ok, pending, failing or unknown, since Since.
	Status  string    `json:"status"`
	Since   time.Time `json:"since,omitzero"`
	Decides bool      `json:"decides,omitempty"`
	Warns   bool      `json:"warns,omitempty"`
	Observe bool      `json:"observe,omitempty"`
	// Silence is why Observe is set, if that is not the annotation mode.
	Silence *evaluator.Override `json:"silence,omitempty"`
	// Starting is set if the rule decides while it is pending, as it was not ok yet.
	Starting bool `json:"starting,omitempty"`
	// NoData is what unknown means for it: fail, pass, hold or hold with a duration.
	NoData string `json:"no_data,omitempty"`
	// HeldForSeconds is how long the last status of an unknown rule still counts.
	HeldForSeconds       float64 `json:"held_for_seconds,omitempty"`
	ForSeconds           float64 `json:"for_seconds"`
	KeepFiringForSeconds float64 `json:"keep_firing_for_seconds,omitempty"`
	Summary              string  `json:"summary,omitempty"`
	// Description and RunbookURL are the annotations of these names, and Labels the rule's own.
	Description string            `json:"description,omitempty"`
	RunbookURL  string            `json:"runbook_url,omitempty"`
	Labels      map[string]string `json:"labels,omitempty"`
	Reason      string            `json:"reason,omitempty"`
	Note        string            `json:"note,omitempty"`
	// Cause is the rule that this one is a consequence of.
	Cause string `json:"cause,omitempty"`
	// Alerts are at most 10, the deciding one first, of AlertCount.
	Alerts     []Alert `json:"alerts,omitempty"`
	AlertCount int     `json:"alert_count"`
	// Evaluated is when the rule was evaluated, where its group has an interval of its
	// own: the rule uses newer values only from its next evaluation on.
	Evaluated time.Time `json:"evaluated,omitzero"`
	// AsOf is the time for which it is evaluated, where its group has a query_offset.
	AsOf time.Time `json:"as_of,omitzero"`
	Expr string    `json:"expr"`
	// Tree is the expression with its values after the evaluation. The rule may have been
	// evaluated before a recording rule further down wrote one of them. It is nil where
	// the explanation would be too large: Options.Rule then explains the rule alone.
	Tree *Node `json:"tree,omitempty"`
}

// Alert is one label set for which a rule's expression is true, or was.
type Alert struct {
	Labels map[string]string `json:"labels"`
	Value  Number            `json:"value"`
	Firing bool              `json:"firing"`
	// ActiveAt is since when the expression is true.
	ActiveAt time.Time `json:"active_at,omitzero"`
	// FiresAt is when that was, or will be, for long enough.
	FiresAt time.Time `json:"fires_at,omitzero"`
	// KeptUntil is when the alert ends, where its expression is no longer true and
	// keep_firing_for keeps it.
	KeptUntil time.Time `json:"kept_until,omitzero"`
}

// Collector is the status of a collector that exports series of the explanation.
type Collector struct {
	Name     string `json:"name"`
	Kind     string `json:"kind"`
	External bool   `json:"external"`
	// Ran is set once a collection has ended, Success if the last one succeeded.
	Ran     bool `json:"ran"`
	Success bool `json:"success"`
	// Error is the last collection's, without secrets.
	Error           string    `json:"error,omitempty"`
	LastRun         time.Time `json:"last_run,omitzero"`
	LastSuccess     time.Time `json:"last_success,omitzero"`
	IntervalSeconds float64   `json:"interval_seconds"`
}

// The kinds of nodes.
const (
	KindSelector    = "selector"
	KindRange       = "range"
	KindSubquery    = "subquery"
	KindComparison  = "comparison"
	KindArithmetic  = "arithmetic"
	KindSet         = "set"
	KindAggregation = "aggregation"
	KindFunction    = "function"
	KindNumber      = "number"
	KindString      = "string"
)

// Node is a part of an expression and its value. Parentheses are not nodes.
type Node struct {
	// Expr is the part as PromQL prints it, at most 2,000 bytes.
	Expr string `json:"expr"`
	// Short is the part without its parts: an operator with its matching, an aggregation
	// with its grouping, the name of a function. Empty where there are no parts.
	Short string `json:"short,omitempty"`
	// Kind is selector, range, subquery, comparison, arithmetic, set (and, or, unless),
	// aggregation, function, number or string.
	Kind string `json:"kind"`
	// Type is PromQL's: vector, scalar, matrix or string.
	Type string `json:"type"`
	// At is the time for which it is evaluated, where that is not its rule's.
	At time.Time `json:"at,omitzero"`
	// Error is why it has no value.
	Error string `json:"error,omitempty"`
	// Value is that of a scalar.
	Value *Number `json:"value,omitempty"`
	// Series are the first 10 elements of a vector or matrix: those for which a
	// comparison above holds, then those that contribute to the elements shown of the
	// part above, then the others, each sorted by labels. Count counts all.
	Series []Series `json:"series,omitempty"`
	Count  int      `json:"count"`
	// Deciding is how many of Series, from the first on, contribute to the elements shown
	// of the part above. It is 0 where all elements do.
	Deciding int `json:"deciding,omitempty"`
	// Comparison is set for comparisons.
	Comparison *Comparison `json:"comparison,omitempty"`
	// Own is set for a selector or range of Vitals' own metrics.
	Own bool `json:"own,omitempty"`
	// Collectors are those that export the series of a selector or range or, where it
	// has none, those that could export them.
	Collectors []string `json:"collectors,omitempty"`
	// Recordings are the recording rules that write the series, or could.
	Recordings []Recording `json:"recordings,omitempty"`
	Children   []*Node     `json:"children,omitempty"`
	// Cut is set where children were left out, because the tree would be too large.
	Cut bool `json:"cut,omitempty"`
}

// Series is one element of a vector or matrix.
type Series struct {
	Labels map[string]string `json:"labels"`
	// Value is that of an element of a vector.
	Value *Number `json:"value,omitempty"`
	// Holds is whether a comparison with a number, directly above, holds for it.
	Holds *bool `json:"holds,omitempty"`
	// SampleAt is when the value of a selector was measured.
	SampleAt time.Time `json:"sample_at,omitzero"`
	// Samples is how many samples a range has, from First to Last.
	Samples int    `json:"samples,omitempty"`
	First   *Point `json:"first,omitempty"`
	Last    *Point `json:"last,omitempty"`
	// Collector is the collector that exports it.
	Collector string `json:"collector,omitempty"`
}

// Point is one sample of a range.
type Point struct {
	At    time.Time `json:"at"`
	Value Number    `json:"value"`
}

// Comparison is the result of a comparison.
type Comparison struct {
	Op string `json:"op"`
	// Threshold is the number that is compared with; nil between two vectors.
	Threshold *Number `json:"threshold,omitempty"`
	// True is for how many elements, or pairs of elements, of Of it holds.
	True int `json:"true"`
	Of   int `json:"of"`
}

// Recording is a recording rule.
type Recording struct {
	Name  string `json:"name"`
	Group string `json:"group"`
	File  string `json:"file"`
	Expr  string `json:"expr"`
	// Labels are those that the rule adds.
	Labels map[string]string `json:"labels,omitempty"`
	// Error is the error of the last evaluation.
	Error string `json:"error,omitempty"`
	// Evaluated and AsOf are as in Rule.
	Evaluated time.Time `json:"evaluated,omitzero"`
	AsOf      time.Time `json:"as_of,omitzero"`
	// Tree is the expression; nil where it already is further up, or too deep.
	Tree *Node `json:"tree,omitempty"`
}

// Number is a float in JSON: a number where JSON has one, and otherwise the string
// that Prometheus writes: "NaN", "+Inf" or "-Inf".
type Number float64

// String writes the number as Prometheus does.
func (n Number) String() string { return strconv.FormatFloat(float64(n), 'g', -1, 64) }

// MarshalJSON writes the number.
func (n Number) MarshalJSON() ([]byte, error) {
	if f := float64(n); math.IsNaN(f) || math.IsInf(f, 0) {
		return []byte(strconv.Quote(n.String())), nil
	}
	return []byte(n.String()), nil
}

// UnmarshalJSON reads a number that MarshalJSON wrote.
func (n *Number) UnmarshalJSON(data []byte) error {
	text := string(data)
	if err := json.Unmarshal(data, &text); err == nil && text != "NaN" && text != "+Inf" && text != "-Inf" {
		return fmt.Errorf("number %.32q: expected a number, or \"NaN\", \"+Inf\" or \"-Inf\"", text)
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return fmt.Errorf("number %.32q: expected a number", text)
	}
	*n = Number(f)
	return nil
}
