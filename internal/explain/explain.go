// Package explain explains verdicts: the rules that matter to a state, and the value of
// every part of their expressions. An explanation never changes a verdict.
package explain

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/text"
)

const (
	// maxRules bounds the rules of one explanation.
	maxRules = 100
	// maxNodes bounds the nodes of one explanation, and maxTreeNodes those of one rule.
	// Each is a query; small ones take some 20 microseconds.
	maxNodes, maxTreeNodes = 400, 100
)

// Evaluator is what an Explainer needs of evaluator.Evaluator.
type Evaluator interface {
	Snapshot() *evaluator.Snapshot
	View(ctx context.Context, use func(context.Context, *evaluator.View)) error
}

// Explainer explains an evaluator's snapshots, each rule once a generation. It is safe
// for concurrent use.
type Explainer struct {
	evaluator Evaluator
	// explained are rules of the newest snapshot, or of an older one.
	explained atomic.Pointer[explained]
}

// New returns an Explainer that has explained nothing yet.
func New(e Evaluator) *Explainer { return &Explainer{evaluator: e} }

// Options choose the rules of an explanation. Without any, they are those that make the
// state fail or, where it passes, those that are not ok.
type Options struct {
	// Rule names the rule: one of the state, an alert without a state, or else one of
	// another state.
	Rule string
	// All chooses every rule of the state.
	All bool
}

// NotFoundError is what Explain returns where there is no such state or rule.
type NotFoundError struct {
	// What is "state" or "rule".
	What, Name string
	// Known are the names that exist.
	Known []string
}

// Error names what exists.
func (e *NotFoundError) Error() string {
	known := "there is none"
	if len(e.Known) > 0 {
		known = "expected one of " + text.Clip(strings.Join(e.Known, ", "), 2<<10)
	}
	return fmt.Sprintf("there is no %s %.64q: %s", e.What, e.Name, known)
}

// Explain explains the verdict that a state has at now. The expressions are evaluated
// between two evaluations, over the samples and at the time of the last one. It returns
// a *NotFoundError, evaluator.ErrStopped, or the error of ctx.
func (x *Explainer) Explain(ctx context.Context, state string, o Options, now time.Time) (*Explanation, error) {
	s := x.evaluator.Snapshot()
	st, chosen, err := choose(s, state, o, now)
	if err != nil {
		return nil, err
	}
	if known := x.explained.Load(); known != nil && known.snapshot == s {
		if rules, ok := known.pick(chosen, nil); ok {
			return assemble(s, st, chosen, rules), nil
		}
	}
	var out *Explanation
	var failed error
	err = x.evaluator.View(ctx, func(ctx context.Context, v *evaluator.View) {
		known := x.explained.Load().forSnapshot(v.Snapshot())
		out, failed = explainView(ctx, v, known, state, o, now)
		x.explained.Store(known)
	})
	if err != nil {
		return nil, err // out is not read: View may still be writing it
	}
	return out, failed
}

// explainView explains a state and adds the rules that it explains to known.
func explainView(ctx context.Context, v *evaluator.View, known *explained, state string, o Options, now time.Time) (*Explanation, error) {
	s := v.Snapshot()
	st, chosen, err := choose(s, state, o, now)
	if err != nil {
		return nil, err
	}
	e := newExplainer(v)
	rules, _ := known.pick(chosen, func(i int, tree bool) *explainedRule { return e.rule(ctx, &s.Rules[i], tree) })
	return assemble(s, st, chosen, rules), nil
}

// explained are the rules of one snapshot that have been explained, by their index. It
// is never changed once it is published.
type explained struct {
	snapshot *evaluator.Snapshot
	rules    map[int]*explainedRule
}

// explainedRule is a rule without its tree and, once that was needed, with it.
type explainedRule struct {
	bare, whole *Rule
	// nodes counts the nodes of the tree.
	nodes int
}

// forSnapshot returns a copy with the rules that are explained of the snapshot.
func (x *explained) forSnapshot(s *evaluator.Snapshot) *explained {
	if x == nil || x.snapshot != s {
		return &explained{s, map[int]*explainedRule{}}
	}
	return &explained{s, maps.Clone(x.rules)}
}

// pick returns the chosen rules, those at the end without trees where these would be
// too many nodes. It gets missing rules from fill; where fill is nil it returns false.
func (x *explained) pick(chosen []int, fill func(i int, tree bool) *explainedRule) (rules []*Rule, ok bool) {
	nodes := 0
	for _, i := range chosen[:min(len(chosen), maxRules)] {
		tree := nodes <= maxNodes
		r := x.rules[i]
		if r == nil || tree && r.whole == nil {
			if fill == nil {
				return nil, false
			}
			r = fill(i, tree)
			x.rules[i] = r
		}
		if tree {
			nodes += r.nodes
		}
		if nodes <= maxNodes {
			rules = append(rules, r.whole)
		} else {
			rules = append(rules, r.bare)
		}
	}
	return rules, true
}

// choose finds a state, as it stands at now, and the indexes of the rules to explain.
func choose(s *evaluator.Snapshot, state string, o Options, now time.Time) (evaluator.State, []int, error) {
	st, ok := s.State(state, now)
	if !ok {
		err := &NotFoundError{What: "state", Name: state}
		for _, known := range s.States {
			err.Known = append(err.Known, known.Name)
		}
		return evaluator.State{}, nil, err
	}
	if o.Rule != "" {
		chosen, known := named(s, st, o.Rule)
		if len(chosen) == 0 {
			return evaluator.State{}, nil, &NotFoundError{What: "rule", Name: o.Rule, Known: known}
		}
		return st, chosen, nil
	}
	chosen := slices.Clone(st.Deciding)
	if st.Name == evaluator.Ready && strings.HasPrefix(st.Reason, evaluator.ReasonNotAlive) {
		if alive, ok := s.State(evaluator.Alive, now); ok {
			chosen = append(chosen, alive.Deciding...)
		}
	}
	for _, i := range st.Rules {
		if wanted := o.All || st.Verdict != evaluator.Fail && s.Rules[i].Status != evaluator.OK; wanted && !slices.Contains(chosen, i) {
			chosen = append(chosen, i)
		}
	}
	return st, chosen, nil
}

// named returns the rules of that name: those of the state and those without one, or
// else those of any state. known are the names of the former.
func named(s *evaluator.Snapshot, st evaluator.State, name string) (chosen []int, known []string) {
	var others []int
	for i, r := range s.Rules {
		own := r.State == st.Name || r.State == ""
		if own && !slices.Contains(known, r.Name) {
			known = append(known, r.Name)
		}
		switch {
		case r.Name != name:
		case own:
			chosen = append(chosen, i)
		default:
			others = append(others, i)
		}
	}
	if len(chosen) == 0 {
		chosen = others
	}
	return chosen, known
}

// assemble returns the explanation of a state with its explained rules.
func assemble(s *evaluator.Snapshot, st evaluator.State, chosen []int, rules []*Rule) *Explanation {
	x := &Explanation{
		State: st.Name, Verdict: st.Verdict.String(), Status: s.Word(&st), Since: inUTC(st.Since), Reason: st.Reason,
		Generation: s.Generation, At: inUTC(s.At), RuleCount: len(st.Rules), Deciding: len(st.Deciding),
		Rules: rules, LeftOut: len(chosen) - len(rules), Collectors: []Collector{},
	}
	if rules == nil {
		x.Rules = []*Rule{}
	}
	var names []string
	for _, r := range rules {
		names = r.Tree.collectors(names)
	}
	for _, c := range s.Collectors {
		if slices.Contains(names, c.Name) || st.Reason == evaluator.ReasonStarting && !c.Ran {
			x.Collectors = append(x.Collectors, Collector{
				Name: c.Name, Kind: c.Kind, External: c.External, Ran: c.Ran, Success: c.Success, Error: c.Error,
				LastRun: inUTC(c.LastRun), LastSuccess: inUTC(c.LastSuccess), IntervalSeconds: c.Interval.Seconds(),
			})
		}
	}
	return x
}

// collectors appends the names of all collectors in the tree to names.
func (n *Node) collectors(names []string) []string {
	if n == nil {
		return names
	}
	names = append(names, n.Collectors...)
	for _, r := range n.Recordings {
		names = r.Tree.collectors(names)
	}
	for _, child := range n.Children {
		names = child.collectors(names)
	}
	return names
}

// inUTC drops the monotonic reading and the location; the zero time stays zero.
func inUTC(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC().Round(0)
}
