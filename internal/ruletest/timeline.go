package ruletest

import (
	"fmt"
	"strings"
	"time"

	"github.com/vitals-health/vitals/evaluator"
)

// timeline records the changes between evaluations. A nil timeline records nothing.
type timeline struct {
	start  time.Time
	lines  []string
	before map[string]string
}

// note records the changes since the previous snapshot.
func (t *timeline) note(s *evaluator.Snapshot) {
	if t == nil {
		return
	}
	at := s.At.Sub(t.start)
	now := map[string]string{}
	add := func(what, is, more string) {
		now[what] = is
		if was, found := t.before[what]; !found || was != is {
			t.lines = append(t.lines, strings.TrimRight(fmt.Sprintf("%8s  %s %s%s", duration(at), what, is, more), " "))
		}
	}
	for i, r := range s.Rules {
		// Rules may share a name.
		what := "rule " + r.Name
		for _, other := range s.Rules[:i] {
			if other.Name == r.Name {
				what += "'"
			}
		}
		add(what, r.Status.String(), because(r))
	}
	for _, st := range s.States {
		v := s.Word(&st)
		if d := deciding(s, st); len(d) > 0 {
			v += ": " + strings.Join(d, ", ")
		}
		if st.Reason != "" {
			v += " (" + st.Reason + ")"
		}
		add("state "+st.Name, v, "")
	}
	t.before = now
}

// restart records a restart.
func (t *timeline) restart(at time.Duration) {
	if t == nil {
		return
	}
	t.lines = append(t.lines, fmt.Sprintf("%8s  restart", duration(at)))
}

// because returns the cause of a rule's status: the reason or the first alert.
func because(r evaluator.Rule) string {
	switch {
	case r.Reason != "":
		return ": " + r.Reason
	case len(r.Alerts) > 0:
		a := r.Alerts[0]
		text := fmt.Sprintf(": %s = %s", withoutName(a.Labels), number(a.Value))
		if r.AlertCount > 1 {
			text += fmt.Sprintf(" and %d more", r.AlertCount-1)
		}
		return text
	}
	return ""
}

// deciding returns the names of a state's deciding rules without duplicates.
func deciding(s *evaluator.Snapshot, st evaluator.State) []string {
	names := []string{}
	seen := map[string]bool{}
	for _, i := range st.Deciding {
		if name := s.Rules[i].Name; !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	return names
}
