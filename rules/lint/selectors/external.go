package selectors

import (
	"fmt"
	"slices"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/internal/promexpr"
	"github.com/vitals-health/vitals/rules/lint/analysis"
	"github.com/vitals-health/vitals/rules/lint/check"
	"github.com/vitals-health/vitals/rules/lint/syntax"
)

// aliveExternal finds rules of alive that depend on something outside the host. An outage
// there restarts every replica, and the restart does not fix it. A rule of started does the
// same to replicas that start during the outage.
func aliveExternal(p *check.Pass, s *analysis.Subject) {
	if s.Rule.State != "alive" && (s.Rule.State != "started" || !s.Enforced()) {
		return
	}
	r, ok := reaches(p, s)
	if !ok {
		return
	}
	severity, effect := p.Current.Severity, "an outage there would restart every replica, and a restart does not fix it"
	if !s.Enforced() {
		severity = check.Warning
		effect = "a restart does not fix an outage there. The rule causes no restart while it only warns or is observed"
	}
	if s.Rule.State == "started" {
		severity = check.Warning
		effect = "during an outage there the startup probe of every new replica fails, and the kubelet restarts it again and again"
	}
	if allMayBeLocal(r.sources) {
		severity = check.Info
	}
	p.InExpr(s, r.at, "use the state ready (labels: state: ready), or check something that a restart can fix"+unsureCure(p),
		"%s depends on %s (%s): %s", s.Rule.State, describeSources(r.sources), strings.Join(r.by, ", "), effect).Severity = severity
}

// sharedReadiness finds rules of ready, and of other states that cause no restart, that
// depend on something outside the host. An outage there takes all replicas out of service
// at once.
func sharedReadiness(p *check.Pass, s *analysis.Subject) {
	state := s.Rule.State
	if state == "alive" || state == "started" || !s.Enforced() {
		return
	}
	r, ok := reaches(p, s)
	if !ok {
		return
	}
	severity := p.Current.Severity
	if allMayBeLocal(r.sources) {
		severity = check.Info
	}
	p.InExpr(s, r.at, `make it a warning (severity: warning) if a replica is useful without it, or accept the finding with the reason why it is not`+unsureCure(p),
		"%s depends on %s (%s): an outage there takes every replica out of service at once",
		state, describeSources(r.sources), strings.Join(r.by, ", ")).Severity = severity
}

// unsureCure returns the advice to pass a configuration, if there is none.
func unsureCure(p *check.Pass) string {
	if p.Options.Vocabulary.Configured {
		return ""
	}
	return "; pass a configuration (--config.file) to check its collectors and where their targets are"
}

// describeSources names the collectors among the sources, or their kinds if there is no
// configuration.
func describeSources(sources []analysis.Metric) string {
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
func allMayBeLocal(sources []analysis.Metric) bool {
	return !slices.ContainsFunc(sources, func(m analysis.Metric) bool { return !m.MayBeLocal })
}

// reach describes what a rule depends on outside the host.
type reach struct {
	// at is the first selector in the rule's own expression that leads there. by lists the
	// metrics and the path to them.
	at      *parser.VectorSelector
	by      []string
	sources []analysis.Metric
}

// reaches returns what a rule depends on outside the host. found is false if it depends on
// nothing there.
func reaches(p *check.Pass, s *analysis.Subject) (r reach, found bool) {
	for _, l := range evidence(p, s) {
		sources := externals(p, l)
		if len(sources) == 0 || guards(l, sources) {
			continue
		}
		if !found {
			r.at, found = l.At, true
		}
		by := l.Selector.String()
		if name := promexpr.MetricName(l.Selector); name != "" {
			by = name
		}
		if len(l.Via) > 0 {
			by += " through " + strings.Join(l.Via, ", ")
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
func externals(p *check.Pass, l analysis.Leaf) []analysis.Metric {
	found := slices.Clone(p.Sources(l.Selector))
	if p.Options.Vocabulary != nil && strings.HasPrefix(promexpr.MetricName(l.Selector), "vitals_collector_") {
		for _, m := range p.Options.Vocabulary.Metrics {
			m.Name, m.Labels = "", map[string][]string{"collector": {m.Collector}}
			m.Bool = promexpr.MetricName(l.Selector) == "vitals_collector_success"
			if m.Collector != "" && m.Matches(l.Selector.LabelMatchers) {
				found = append(found, m)
			}
		}
	}
	return slices.DeleteFunc(found, func(m analysis.Metric) bool { return !m.External })
}

// evidence returns the leaves of a rule and of the rules whose verdict it uses.
func evidence(p *check.Pass, s *analysis.Subject) []analysis.Leaf {
	all := p.Leaves(s.Rule)
	followed := []*analysis.Subject{s}
	for i := 0; i < len(all); i++ {
		for _, referenced := range referencedRules(p, all[i].Selector) {
			if slices.Contains(followed, referenced) {
				continue
			}
			followed = append(followed, referenced)
			for _, l := range p.Leaves(referenced.Rule) {
				if sources := externals(p, l); len(sources) > 0 && guards(l, sources) {
					continue
				}
				l.Via = slices.Concat(all[i].Via, []string{"the rule " + referenced.Rule.Alert}, l.Via)
				l.At, l.Above = all[i].At, all[i].Above
				all = append(all, l)
			}
		}
	}
	return all
}

// referencedRules returns the rules whose verdict a selector selects.
func referencedRules(p *check.Pass, s *parser.VectorSelector) []*analysis.Subject {
	name := promexpr.MetricName(s)
	selects := func(*analysis.Subject) bool { return false }
	matches := func(labels map[string][]string) bool {
		about := analysis.Metric{Labels: labels}
		return about.Matches(syntax.Without(s.LabelMatchers, model.MetricNameLabel))
	}
	switch {
	case name == "vitals_rule_status":
		selects = func(r *analysis.Subject) bool {
			return matches(map[string][]string{"rule": {r.Rule.Alert}, "state": {r.Rule.State}, "status": nil})
		}
	case name == "vitals_state" || name == "vitals_state_transitions_total":
		selects = func(r *analysis.Subject) bool {
			return r.Enforced() && matches(map[string][]string{"state": {r.Rule.State}})
		}
	case analysis.OfAlerts(name):
		selects = func(r *analysis.Subject) bool {
			known := map[string][]string{"alertname": {r.Rule.Alert}}
			for _, m := range s.LabelMatchers {
				if known[m.Name] == nil {
					known[m.Name] = nil // a label of the rule or of its result
				}
			}
			return matches(known)
		}
	}
	var found []*analysis.Subject
	for _, r := range p.Subjects {
		if r.Rule.Alert != "" && selects(r) {
			found = append(found, r)
		}
	}
	return found
}
