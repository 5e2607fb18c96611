package selectors

import (
	"fmt"
	"slices"
	"strings"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/internal/promexpr"
	"github.com/vitals-health/vitals/internal/text"
	"github.com/vitals-health/vitals/rules/lint/analysis"
	"github.com/vitals-health/vitals/rules/lint/check"
	"github.com/vitals-health/vitals/rules/lint/syntax"
)

const (
	// foreignText precedes the name of a metric that nothing exports, and foreignCure is the
	// cure in an ordinary alert, if the name is not similar to a known one.
	foreignText = "no collector and no recording rule exports "
	foreignCure = "collect it (a scrape collector reads what other programs export), unless the rule is for Prometheus alone"
)

// unknownMetric finds selectors of metrics that nothing exports: they match nothing, so the
// rule never fires, or always.
func unknownMetric(p *check.Pass) {
	v := p.Options.Vocabulary
	if v == nil {
		return
	}
	known := slices.Sorted(slices.Values(append(p.RecordedNames(), p.MetricNames()...)))
	misspelt := similarNames{p.Analysis, map[string]string{}, text.NewNames(p.RecordedNames()), text.NewNames(p.MetricNames())}
	isKnown := func(name string) bool { _, ok := slices.BinarySearch(known, name); return ok }
	for _, s := range p.Subjects {
		for _, n := range syntax.Selectors(s.Rule.AST) {
			name := promexpr.MetricName(n)
			if name == "" || isKnown(name) {
				continue
			}
			if !mustBeKnown(p, name) {
				nearlyKnown(p, s, n, &misspelt)
				continue
			}
			severity := p.Current.Severity
			if !analysis.Own(name) && !p.Feeds(s) {
				severity = check.Info // an alert for a Prometheus with other targets
			}
			what, cure := foreignText+name, check.Suggest(name, known)
			if !analysis.Own(name) && check.Nearest(name, known) == "" {
				cure = "collect it (a scrape collector reads what other programs export), or remove the rule"
				if severity == check.Info {
					cure = foreignCure
				}
			}
			if kinds := analysis.Exporters(v.Kinds, name); len(kinds) > 0 {
				what = enumerate("only collectors of the kind", kinds) + " export " + name + ", and none here does"
				cure = "configure one that does, or remove the rule"
				if s.Rule.Annotations["no_data"] != "" {
					severity = check.Info // a rule for several configurations, with a policy for this one
					p.Idle[s] = append(p.Idle[s], kinds...)
				}
			}
			p.InExpr(s, n, cure, "%s", what).Severity = severity
		}
	}
}

// nearlyKnown finds names that a scrape target may export and that are still likely to be
// misspelt: at most two letters differ from a known name. A rule that records one name from
// a similar one uses both on purpose.
func nearlyKnown(p *check.Pass, s *analysis.Subject, n *parser.VectorSelector, known *similarNames) {
	v, name := p.Options.Vocabulary, promexpr.MetricName(n)
	if !v.Configured || analysis.Own(name) || analysis.OfAlerts(name) || strings.Contains(name, ":") && !p.Options.Complete {
		return
	}
	intended := known.similar(name)
	if intended != "" {
		p.InExpr(s, n, fmt.Sprintf("did you mean %q? If not, accept the finding", intended),
			"no collector is known to export %s, and the name is similar to a known one", name).Severity = check.Warning
	}
}

// similarNames finds the known names that are similar to others.
type similarNames struct {
	*analysis.Analysis
	intended map[string]string
	recorded text.Names
	exported text.Names
}

// similar returns a known name that differs from a name in at most two letters, or "".
func (k *similarNames) similar(name string) string {
	found, ok := k.intended[name]
	if !ok {
		found = k.nearest(name)
		k.intended[name] = found
	}
	return found
}

func (k *similarNames) nearest(name string) (found string) {
	limit := min(check.MaxDistance, len(name)/4)
	for other := range k.recorded.Near(name, limit) {
		made := slices.ContainsFunc(k.Analysis.Recorded[other], func(rec *analysis.Subject) bool {
			return slices.ContainsFunc(k.Leaves(rec.Rule), func(l analysis.Leaf) bool { return promexpr.MetricName(l.Selector) == name })
		})
		if !made {
			found = other
		}
	}
	for other := range k.exported.Near(name, limit) {
		found = other
	}
	return found
}

// mustBeKnown reports whether a name that is neither in the vocabulary nor recorded is
// certainly not exported. Without a configuration, or with a collector that scrapes other
// programs, names of other programs are unknown. Names with a colon may be recorded by
// another file.
func mustBeKnown(p *check.Pass, name string) bool {
	v := p.Options.Vocabulary
	if analysis.OfAlerts(name) {
		return false
	}
	if analysis.Own(name) {
		return p.Options.Complete || !strings.Contains(name, ":")
	}
	return v.Configured && len(v.Others) == 0 && (p.Options.Complete || !strings.Contains(name, ":"))
}
