package server

import (
	"strings"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/states"
)

// componentPrefix begins the names of services of components. Services of states and rules have the
// names of their paths.
const componentPrefix = "component/"

// Services returns the word of every service for health checks over gRPC: of the states, of
// STATE/RULE for their rules, of component/NAME, and of the empty name, which is ready. The
// caller owns the map.
func (s *Server) Services() map[string]string {
	v := s.current()
	all := map[string]string{}
	for i := range v.states {
		st := &v.states[i]
		all[st.Name] = v.snap.Word(st)
		for _, i := range st.Rules {
			rule := &v.snap.Rules[i]
			name := st.Name + "/" + rule.Name
			all[name] = worse(all[name], v.ruleWord(st, rule))
		}
	}
	all[""] = all[states.Ready]
	for _, c := range s.components() {
		if name := componentPrefix + c.Name; all[name] == "" {
			all[name] = c.word()
		}
	}
	return all
}

// Service returns the word of one service. ok is false for an unknown name. Aliases of states
// are names as well.
func (s *Server) Service(name string) (word string, ok bool) {
	v := s.current()
	if name == "" {
		name = states.Ready
	}
	state, rule, one := strings.Cut(name, "/")
	if p, found := v.probes[state]; found {
		if !one {
			return v.snap.Word(&p.state), true
		}
		for _, i := range p.state.Rules {
			if r := &v.snap.Rules[i]; r.Name == rule {
				word = worse(word, v.ruleWord(&p.state, r))
			}
		}
		return word, word != ""
	}
	for _, c := range s.components() {
		if componentPrefix+c.Name == name {
			return c.word(), true
		}
	}
	return "", false
}

// Changed returns a channel that is closed when the next generation is published; nil where
// Options have none.
func (s *Server) Changed() <-chan struct{} {
	if s.opts.Changed == nil {
		return nil
	}
	return s.opts.Changed()
}

// components returns the last reports of the components.
func (s *Server) components() []ComponentStatus {
	if s.opts.Components == nil {
		return nil
	}
	return s.opts.Components()
}

// ruleWord returns the word for the effect of a rule on its state. As at /STATE/RULE, a stalled
// snapshot fails every rule.
func (v *view) ruleWord(st *evaluator.State, rule *evaluator.Rule) string {
	switch {
	case v.reading().Stale(*st):
		return states.Failing
	case rule.Decides && rule.Status == evaluator.Failing:
		return states.Failing
	case rule.Decides:
		return states.Unknown
	case rule.Warns:
		return states.Warning
	}
	return states.OK
}

// worse returns the worse of two words of rules. The empty one is better than all.
func worse(a, b string) string {
	for _, word := range []string{states.Failing, states.Unknown, states.Warning} {
		if a == word || b == word {
			return word
		}
	}
	return states.OK
}

// word returns unknown for a component that has not reported yet.
func (c *ComponentStatus) word() string {
	switch {
	case c.Alive != nil && !*c.Alive, c.Ready != nil && !*c.Ready:
		return states.Failing
	case c.Alive == nil && c.Ready == nil:
		return states.Unknown
	}
	return states.OK
}
