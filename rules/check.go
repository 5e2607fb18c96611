package rules

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/prometheus/prometheus/model/labels"

	"github.com/vitals-health/vitals/internal/strictyaml"
)

// Check finds mistakes that concern several rules: two rules of a state with the same name
// and labels, and a depends_on of such a rule that names no alert or forms a cycle. files
// are all files that are loaded together. The errors are *strictyaml.Error, in the order of
// the files.
func Check(files []*File) []error { return check(files).errs }

// CheckOrdinary finds the same in ordinary alerts, which Prometheus loads.
func CheckOrdinary(files []*File) []error { return check(files).ordinary }

func check(files []*File) *checker {
	c := &checker{first: map[string]string{}, alerts: map[string]*node{}}
	for _, f := range files {
		for _, g := range f.Groups {
			for i := range g.Rules {
				c.add(f, g.Name, &g.Rules[i])
			}
		}
	}
	for _, n := range c.rules {
		c.unknown(n)
	}
	for _, n := range c.rules {
		c.cycles(c.alerts[n.rule.Alert], nil)
	}
	return c
}

// node is an alert in the graph of depends_on. Alerts with the same name are one node, at
// the place of the first of them.
type node struct {
	rule  *Rule
	file  *File
	group string
	// probe is set if one of the alerts is a rule of a state.
	probe     bool
	dependsOn []string
	visited   bool
}

type checker struct {
	// first holds the first place of each name with its labels.
	first map[string]string
	// rules holds all alerts in order, and alerts holds them by name.
	rules  []*node
	alerts map[string]*node
	errs   []error
	// ordinary holds what concerns no rule of a state.
	ordinary []error
}

func (c *checker) add(f *File, group string, r *Rule) {
	if r.Alert == "" {
		return
	}
	n := &node{rule: r, file: f, group: group, probe: r.State != "", dependsOn: r.DependsOn}
	identity := r.Alert + labels.FromMap(r.Labels).String()
	if where, ok := c.first[identity]; ok {
		c.fail(n, n.probe, CodeDuplicate, "duplicate alert, expected another name or other labels than the rule at %s", where)
	} else {
		c.first[identity] = fmt.Sprintf("%s:%d", f.Name, r.Line)
	}
	c.rules = append(c.rules, n)
	if known := c.alerts[r.Alert]; known != nil {
		known.probe = known.probe || n.probe
		known.dependsOn = append(slices.Clip(known.dependsOn), r.DependsOn...)
	} else {
		same := *n
		c.alerts[r.Alert] = &same
	}
}

func (c *checker) unknown(n *node) {
	for _, name := range n.rule.DependsOn {
		if c.alerts[name] == nil {
			hint := "expected the name of an alert in one of the rule files"
			others := slices.Sorted(maps.Keys(c.alerts))
			others = slices.DeleteFunc(others, func(other string) bool { return other == n.rule.Alert })
			if near := strictyaml.Nearest(name, others); near != "" {
				hint = fmt.Sprintf("did you mean %q?", near)
			}
			e := c.fail(n, n.probe, CodeUnknownCause, "depends_on names no alert: %q, %s", clip(name), hint)
			e.Line, e.Col = n.file.placeOfCause(n.rule, name)
		}
	}
}

// cycles walks the graph depth first and visits every alert once; path leads to n.
func (c *checker) cycles(n *node, path []string) {
	name := n.rule.Alert
	if i := slices.Index(path, name); i >= 0 {
		cycle := append(slices.Clone(path[i:]), name)
		probe := slices.ContainsFunc(cycle, func(name string) bool { return c.alerts[name].probe })
		c.fail(c.alerts[name], probe, CodeCauseCycle, "depends_on forms a cycle: %s", strings.Join(cycle, " -> "))
		return
	}
	if n.visited {
		return
	}
	n.visited = true
	for _, cause := range n.dependsOn {
		if next := c.alerts[cause]; next != nil {
			c.cycles(next, append(path, name))
		}
	}
}

// fail adds a mistake, or what is none in an ordinary alert.
func (c *checker) fail(n *node, probe bool, code, format string, args ...any) *strictyaml.Error {
	e := &strictyaml.Error{
		File: n.file.Name, Line: n.rule.Line, Col: n.rule.Col,
		Where: within(n.file.Part, fmt.Sprintf("group %q, rule %q", clip(n.group), clip(n.rule.Alert))),
		Text:  fmt.Sprintf(format, args...),
		Code:  code,
	}
	if probe {
		c.errs = append(c.errs, e)
	} else {
		c.ordinary = append(c.ordinary, e)
	}
	return e
}
