package evaluator

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/vitals-health/vitals/internal/text"
)

const (
	// maxExplainedRules bounds the rules of one explanation.
	maxExplainedRules = 100
	// maxExplainedNodes bounds the nodes of one explanation, and maxTreeNodes those of
	// one rule. Each is a query; small ones take some 20 microseconds.
	maxExplainedNodes, maxTreeNodes = 400, 100
	// explainTime is how long the loop explains at a stretch: what it collects and what
	// is reported waits that long. Expressions that are not evaluated by then have an
	// error in place of a value.
	explainTime = 250 * time.Millisecond
)

// ErrStopped is what Explain returns once Run has ended.
var ErrStopped = errors.New("the evaluator has stopped")

// ExplainOptions choose the rules of an explanation. Without any, they are those that
// make the state fail or, where it passes, those that are not ok.
type ExplainOptions struct {
	// Rule names the rule: one of the state, an alert without a state, or else one of
	// another state.
	Rule string
	// All is for every rule of the state.
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

// explained are the rules of one snapshot that have been explained, by their index. It
// is never changed once it is published.
type explained struct {
	snapshot *Snapshot
	rules    map[int]*explainedRule
}

// explainedRule is a rule without its tree and, once somebody needed that, with it.
type explainedRule struct {
	bare, whole *RuleExplanation
	// nodes is how many there are in the tree.
	nodes int
}

// forSnapshot is what is known of the snapshot, as a copy to be added to.
func (x *explained) forSnapshot(s *Snapshot) *explained {
	if x == nil || x.snapshot != s {
		return &explained{s, map[int]*explainedRule{}}
	}
	return &explained{s, maps.Clone(x.rules)}
}

// pick returns the chosen rules, those at the end without trees where these would be
// too many nodes. What is missing is asked of fill, and without it there is no answer.
func (x *explained) pick(chosen []int, fill func(i int, tree bool) *explainedRule) (rules []*RuleExplanation, ok bool) {
	nodes := 0
	for _, i := range chosen[:min(len(chosen), maxExplainedRules)] {
		tree := nodes <= maxExplainedNodes
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
		if nodes <= maxExplainedNodes {
			rules = append(rules, r.whole)
		} else {
			rules = append(rules, r.bare)
		}
	}
	return rules, true
}

// explainRequest asks the loop for an explanation.
type explainRequest struct {
	ctx     context.Context
	state   string
	options ExplainOptions
	answer  chan<- explainAnswer // with room for one
}

type explainAnswer struct {
	explanation *Explanation
	err         error
}

// Explain says why a state has its verdict. It changes nothing. The expressions are
// evaluated between two passes while Run runs, over the window and at the time of the
// last pass; each rule once a generation, however many ask. It returns a
// *NotFoundError, ErrStopped, or the error of ctx.
func (e *Evaluator) Explain(ctx context.Context, state string, o ExplainOptions) (*Explanation, error) {
	s := e.Snapshot()
	st, chosen, err := s.choose(state, o, time.Now())
	if err != nil {
		return nil, err
	}
	if known := e.explained.Load(); known != nil && known.snapshot == s {
		if rules, ok := known.pick(chosen, nil); ok {
			return s.explanation(st, chosen, rules), nil
		}
	}
	answer := make(chan explainAnswer, 1)
	select {
	case e.explains <- explainRequest{ctx, state, o, answer}:
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-e.done:
		return nil, ErrStopped
	}
	select {
	case a := <-answer:
		return a.explanation, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-e.done:
		return nil, ErrStopped
	}
}

// answer explains what a request asks for, between two passes.
func (e *Evaluator) answer(ctx context.Context, r explainRequest) {
	if r.ctx.Err() != nil {
		return // nobody waits any more
	}
	s := e.Snapshot()
	st, chosen, err := s.choose(r.state, r.options, time.Now())
	if err != nil {
		r.answer <- explainAnswer{err: err}
		return
	}
	ctx, cancel := context.WithTimeout(ctx, explainTime)
	defer cancel()
	known := e.explained.Load().forSnapshot(s)
	rules := e.core.explain(ctx, known, chosen)
	e.explained.Store(known)
	r.answer <- explainAnswer{explanation: s.explanation(st, chosen, rules)}
}

// explain explains the chosen rules, as far as they are not known, and adds them there.
func (c *core) explain(ctx context.Context, known *explained, chosen []int) []*RuleExplanation {
	all := c.alertings()
	x := newExplainer(c)
	rules, _ := known.pick(chosen, func(i int, tree bool) *explainedRule {
		return x.rule(ctx, &known.snapshot.Rules[i], all[i], tree)
	})
	return rules
}

// alertings are the alerting rules in the order of a snapshot's.
func (c *core) alertings() []*alerting {
	var all []*alerting
	for _, g := range c.groups {
		for _, e := range g.rules {
			if e.alerting != nil {
				all = append(all, e.alerting)
			}
		}
	}
	return all
}

// choose finds a state, as it stands at now, and the indexes of the rules to explain.
func (s *Snapshot) choose(state string, o ExplainOptions, now time.Time) (State, []int, error) {
	st, ok := s.State(state, now)
	if !ok {
		err := &NotFoundError{What: "state", Name: state}
		for _, known := range s.States {
			err.Known = append(err.Known, known.Name)
		}
		return State{}, nil, err
	}
	if o.Rule != "" {
		chosen := s.named(st, o.Rule)
		if len(chosen) == 0 {
			return State{}, nil, &NotFoundError{What: "rule", Name: o.Rule, Known: s.namesFor(st)}
		}
		return st, chosen, nil
	}
	chosen := slices.Clone(st.Deciding)
	if st.Name == Ready && strings.HasPrefix(st.Reason, reasonNotAlive) {
		if alive, ok := s.State(Alive, now); ok {
			chosen = append(chosen, alive.Deciding...)
		}
	}
	for _, i := range st.Rules {
		if wanted := o.All || st.Verdict != Fail && s.Rules[i].Status != OK; wanted && !slices.Contains(chosen, i) {
			chosen = append(chosen, i)
		}
	}
	return st, chosen, nil
}

// named are the rules of that name: those of the state and those without one, or else
// those of any state.
func (s *Snapshot) named(st State, name string) []int {
	var own, others []int
	for i, r := range s.Rules {
		switch {
		case r.Name != name:
		case r.State == st.Name || r.State == "":
			own = append(own, i)
		default:
			others = append(others, i)
		}
	}
	if len(own) > 0 {
		return own
	}
	return others
}

// namesFor are the names of the rules of a state, and of those without one.
func (s *Snapshot) namesFor(st State) []string {
	var names []string
	for _, r := range s.Rules {
		if (r.State == st.Name || r.State == "") && !slices.Contains(names, r.Name) {
			names = append(names, r.Name)
		}
	}
	return names
}

// explanation puts a state and its explained rules together.
func (s *Snapshot) explanation(st State, chosen []int, rules []*RuleExplanation) *Explanation {
	x := &Explanation{
		State: st.Name, Verdict: st.Verdict.String(), Since: inUTC(st.Since), Reason: st.Reason,
		Generation: s.Generation, At: inUTC(s.At), RuleCount: len(st.Rules), Deciding: len(st.Deciding),
		Rules: rules, LeftOut: len(chosen) - len(rules), Collectors: []ExplainedCollector{},
	}
	if rules == nil {
		x.Rules = []*RuleExplanation{}
	}
	var names []string
	for _, r := range rules {
		names = r.Tree.collectors(names)
	}
	for _, c := range s.Collectors {
		if slices.Contains(names, c.Name) || st.Reason == reasonStarting && !c.Ran {
			x.Collectors = append(x.Collectors, ExplainedCollector{
				Name: c.Name, Kind: c.Kind, External: c.External, Ran: c.Ran, Success: c.Success, Error: c.Error,
				LastRun: inUTC(c.LastRun), LastSuccess: inUTC(c.LastSuccess), IntervalSeconds: c.Interval.Seconds(),
			})
		}
	}
	return x
}

// collectors adds to names those of all collectors in the tree.
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
