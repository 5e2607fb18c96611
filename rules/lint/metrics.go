package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/internal/promexpr"
	"github.com/vitals-health/vitals/internal/text"
	"github.com/vitals-health/vitals/rules"
)

const (
	// foreignText precedes the name of a metric that nothing exports, and foreignCure is the
	// cure in an ordinary alert, if the name is not similar to a known one.
	foreignText = "no collector and no recording rule exports "
	foreignCure = "collect it (a scrape collector reads what other programs export), unless the rule is for Prometheus alone"
)

// unknownMetric finds selectors of metrics that nothing exports: they match nothing, so the
// rule never fires, or always.
func unknownMetric(p *pass) {
	v := p.opts.Vocabulary
	if v == nil {
		return
	}
	known := slices.Sorted(slices.Values(append(keys(p.recorded), keys(p.metrics)...)))
	isKnown := func(name string) bool { _, ok := slices.BinarySearch(known, name); return ok }
	for _, s := range p.subjects {
		for _, n := range selectors(s.rule.AST) {
			name := promexpr.MetricName(n)
			if name == "" || isKnown(name) {
				continue
			}
			if !p.mustBeKnown(name) {
				p.nearlyKnown(s, n)
				continue
			}
			severity := p.current.Severity
			if !own(name) && !p.feeding[s] {
				severity = Info // an alert for a Prometheus with other targets
			}
			text, cure := foreignText+name, suggest(name, known)
			if !own(name) && nearest(name, known) == "" {
				cure = "collect it (a scrape collector reads what other programs export), or remove the rule"
				if severity == Info {
					cure = foreignCure
				}
			}
			if kinds := exporters(v.Kinds, name); len(kinds) > 0 {
				text = enumerate("only collectors of the kind", kinds) + " export " + name + ", and none here does"
				cure = "configure one that does, or remove the rule"
				if s.rule.Annotations["no_data"] != "" {
					severity = Info // a rule for several configurations, with a policy for this one
					p.idle[s] = append(p.idle[s], kinds...)
				}
			}
			p.inExpr(s, n, cure, "%s", text).Severity = severity
		}
	}
}

// nearlyKnown finds names that a scrape target may export and that are still likely to be
// misspelt: at most two letters differ from a known name. A rule that records one name from
// a similar one uses both on purpose.
func (p *pass) nearlyKnown(s *subject, n *parser.VectorSelector) {
	v, name := p.opts.Vocabulary, promexpr.MetricName(n)
	if !v.Configured || own(name) || ofAlerts(name) || strings.Contains(name, ":") && !p.opts.Complete {
		return
	}
	intended, ok := p.intended[name]
	if !ok {
		intended = p.similar(name)
		p.intended[name] = intended
	}
	if intended != "" {
		p.inExpr(s, n, fmt.Sprintf("did you mean %q? If not, accept the finding", intended),
			"no collector is known to export %s, and the name is similar to a known one", name).Severity = Warning
	}
}

// similar returns a known name that differs from a name in at most two letters, or "".
func (p *pass) similar(name string) string {
	limit, found := min(maxDistance, len(name)/4), ""
	if p.similarTo == nil {
		p.similarTo = &[2]text.Names{text.NewNames(keys(p.recorded)), text.NewNames(keys(p.metrics))}
	}
	for other := range p.similarTo[0].Near(name, limit) {
		made := slices.ContainsFunc(p.recorded[other], func(rec *subject) bool {
			return slices.ContainsFunc(p.leaves(rec.rule), func(l leaf) bool { return promexpr.MetricName(l.selector) == name })
		})
		if !made {
			found = other
		}
	}
	for other := range p.similarTo[1].Near(name, limit) {
		found = other
	}
	return found
}

// mustBeKnown reports whether a name that is neither in the vocabulary nor recorded is
// certainly not exported. Without a configuration, or with a collector that scrapes other
// programs, names of other programs are unknown. Names with a colon may be recorded by
// another file.
func (p *pass) mustBeKnown(name string) bool {
	v := p.opts.Vocabulary
	if ofAlerts(name) {
		return false
	}
	if own(name) {
		return p.opts.Complete || !strings.Contains(name, ":")
	}
	return v.Configured && len(v.Others) == 0 && (p.opts.Complete || !strings.Contains(name, ":"))
}

// exporters returns the kinds of collectors that export a metric.
func exporters(metrics []Metric, name string) []string {
	var kinds []string
	for _, m := range metrics {
		if m.Name == name {
			kinds = append(kinds, m.Kind)
		}
	}
	return kinds
}

// nodes calls do for every node of the rule's expression.
func (p *pass) nodes(s *subject, do func(parser.Node)) {
	parser.Inspect(s.rule.AST, func(n parser.Node, _ []parser.Node) error {
		if n != nil {
			do(n)
		}
		return nil
	})
}

// merged returns the findings. It merges those for metrics of kinds that are not configured
// into one finding for each document, as there may be many, and those of foldAbsences and
// foldForeign.
func (p *pass) merged() []finding {
	waits := func(f finding) bool {
		return len(p.idle[f.subject]) > 0 && f.Code == codeUnknownMetric && f.Severity == Info && f.Accepted == ""
	}
	waiting, counted := map[*rules.File][]*subject{}, map[*subject]bool{}
	for _, f := range p.findings {
		if waits(f) && !counted[f.subject] {
			counted[f.subject] = true
			waiting[f.subject.file] = append(waiting[f.subject.file], f.subject)
		}
	}
	var all []finding
	reported := map[*rules.File]bool{}
	for _, f := range p.findings {
		if waits(f) && len(waiting[f.subject.file]) > 1 {
			of := f.subject.file
			if reported[of] {
				continue
			}
			reported[of] = true
			f = p.mergeIdle(f, waiting[of])
		}
		all = append(all, f)
	}
	return p.foldForeign(p.foldAbsences(all))
}

// mergeIdle returns the one finding for several rules, at the place of the first one.
func (p *pass) mergeIdle(f finding, waiting []*subject) finding {
	var names, kinds []string
	for _, s := range waiting {
		names, kinds = append(names, s.rule.Name()), append(kinds, p.idle[s]...)
	}
	f.Where = f.subject.file.Part
	f.subject = nil
	f.Text = fmt.Sprintf("%d rules need metrics that only %s export, and none here does. Their no_data applies: %s",
		len(waiting), enumerate("collectors of the kind", kinds), strings.Join(names, ", "))
	f.Cure = "configure one that does for each part that exists. Rules for other parts do no harm"
	return f
}
