package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/internal/promexpr"
)

// aliveExternal finds rules of alive that depend on something outside the host. An outage
// there restarts every replica, and the restart does not fix it. A rule of started does the
// same to replicas that start during the outage.
func aliveExternal(p *pass, s *subject) {
	if s.rule.State != "alive" && (s.rule.State != "started" || !s.enforced()) {
		return
	}
	r, ok := p.reaches(s)
	if !ok {
		return
	}
	severity, effect := p.current.Severity, "an outage there would restart every replica, and a restart does not fix it"
	if !s.enforced() {
		severity = Warning
		effect = "a restart does not fix an outage there. The rule causes no restart while it only warns or is observed"
	}
	if s.rule.State == "started" {
		severity = Warning
		effect = "during an outage there the startup probe of every new replica fails, and the kubelet restarts it again and again"
	}
	if allMayBeLocal(r.sources) {
		severity = Info
	}
	p.inExpr(s, r.at, "use the state ready (labels: state: ready), or check something that a restart can fix"+p.unsureCure(),
		"%s depends on %s (%s): %s", s.rule.State, describeSources(r.sources), strings.Join(r.by, ", "), effect).Severity = severity
}

// sharedReadiness finds rules of ready, and of other states that cause no restart, that
// depend on something outside the host. An outage there takes all replicas out of service
// at once.
func sharedReadiness(p *pass, s *subject) {
	state := s.rule.State
	if state == "alive" || state == "started" || !s.enforced() {
		return
	}
	r, ok := p.reaches(s)
	if !ok {
		return
	}
	severity := p.current.Severity
	if allMayBeLocal(r.sources) {
		severity = Info
	}
	p.inExpr(s, r.at, `make it a warning (severity: warning) if a replica is useful without it, or accept the finding with the reason why it is not`+p.unsureCure(),
		"%s depends on %s (%s): an outage there takes every replica out of service at once",
		state, describeSources(r.sources), strings.Join(r.by, ", ")).Severity = severity
}

// unsureCure returns the advice to pass a configuration, if there is none.
func (p *pass) unsureCure() string {
	if p.opts.Vocabulary.Configured {
		return ""
	}
	return "; pass a configuration (--config.file) to check its collectors and where their targets are"
}

// describeSources names the collectors among the sources, or their kinds if there is no
// configuration.
func describeSources(sources []Metric) string {
	var names, unsure []string
	kind := sources[0].Collector == ""
	for _, m := range sources {
		switch name := fmt.Sprintf("%q", m.Collector); {
		case m.MayBeLocal:
			unsure = append(unsure, m.Kind)
		case kind:
			names = append(names, m.Kind)
		default:
			names = append(names, name)
		}
	}
	what := "collector"
	if kind {
		what = "kind"
	}
	switch {
	case len(names) == 0:
		return enumerate("what the "+what, unsure) + " measures, if that is not on this host"
	case len(unsure) > 0:
		return enumerate("the "+what, names) + ", or " + enumerate("the "+what, unsure) + " if that is not on this host"
	}
	return enumerate("the "+what, names)
}

// enumerate lists the names, each of them once.
func enumerate(what string, names []string) string {
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) == 1 {
		return what + " " + names[0]
	}
	last := len(names) - 1
	return what + "s " + strings.Join(names[:last], ", ") + " and " + names[last]
}

// allMayBeLocal reports whether all sources may be on this host.
func allMayBeLocal(sources []Metric) bool {
	return !slices.ContainsFunc(sources, func(m Metric) bool { return !m.MayBeLocal })
}

// reach describes what a rule depends on outside the host.
type reach struct {
	// at is the first selector in the rule's own expression that leads there. by lists the
	// metrics and the path to them.
	at      *parser.VectorSelector
	by      []string
	sources []Metric
}

// reaches returns what a rule depends on outside the host. found is false if it depends on
// nothing there.
func (p *pass) reaches(s *subject) (r reach, found bool) {
	for _, l := range p.evidence(s) {
		sources := p.externals(l)
		if len(sources) == 0 || l.guards(sources) {
			continue
		}
		if !found {
			r.at, found = l.at, true
		}
		by := l.selector.String()
		if name := promexpr.MetricName(l.selector); name != "" {
			by = name
		}
		if len(l.via) > 0 {
			by += " through " + strings.Join(l.via, ", ")
		}
		if !slices.Contains(r.by, by) {
			r.by = append(r.by, by)
		}
		r.sources = append(r.sources, sources...)
	}
	return r, found
}

// externals returns the sources of a leaf that lie outside the host. A leaf that selects
// metrics of collectors, such as vitals_collector_success, has those collectors as sources.
func (p *pass) externals(l leaf) []Metric {
	found := slices.Clone(p.sources(l.selector))
	if p.opts.Vocabulary != nil && strings.HasPrefix(promexpr.MetricName(l.selector), "vitals_collector_") {
		for _, m := range p.opts.Vocabulary.Metrics {
			m.Name, m.Labels = "", map[string][]string{"collector": {m.Collector}}
			m.Bool = promexpr.MetricName(l.selector) == "vitals_collector_success"
			if m.Collector != "" && m.matches(l.selector.LabelMatchers) {
				found = append(found, m)
			}
		}
	}
	return slices.DeleteFunc(found, func(m Metric) bool { return !m.External })
}

// evidence returns the leaves of a rule and of the rules whose verdict it uses.
func (p *pass) evidence(s *subject) []leaf {
	all := p.leaves(s.rule)
	followed := []*subject{s}
	for i := 0; i < len(all); i++ {
		for _, referenced := range p.referencedRules(all[i].selector) {
			if slices.Contains(followed, referenced) {
				continue
			}
			followed = append(followed, referenced)
			for _, l := range p.leaves(referenced.rule) {
				if sources := p.externals(l); len(sources) > 0 && l.guards(sources) {
					continue
				}
				l.via = slices.Concat(all[i].via, []string{"the rule " + referenced.rule.Alert}, l.via)
				l.at, l.above = all[i].at, all[i].above
				all = append(all, l)
			}
		}
	}
	return all
}

// referencedRules returns the rules whose verdict a selector selects.
func (p *pass) referencedRules(s *parser.VectorSelector) []*subject {
	name := promexpr.MetricName(s)
	selects := func(*subject) bool { return false }
	matches := func(labels map[string][]string) bool {
		about := Metric{Labels: labels}
		return about.matches(without(s.LabelMatchers, model.MetricNameLabel))
	}
	switch {
	case name == "vitals_rule_status":
		selects = func(r *subject) bool {
			return matches(map[string][]string{"rule": {r.rule.Alert}, "state": {r.rule.State}, "status": nil})
		}
	case name == "vitals_state" || name == "vitals_state_transitions_total":
		selects = func(r *subject) bool { return r.enforced() && matches(map[string][]string{"state": {r.rule.State}}) }
	case ofAlerts(name):
		selects = func(r *subject) bool {
			known := map[string][]string{"alertname": {r.rule.Alert}}
			for _, m := range s.LabelMatchers {
				if known[m.Name] == nil {
					known[m.Name] = nil // a label of the rule or of its result
				}
			}
			return matches(known)
		}
	}
	var found []*subject
	for _, r := range p.subjects {
		if r.rule.Alert != "" && selects(r) {
			found = append(found, r)
		}
	}
	return found
}
