package evaluator

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/evaluator/internal/evidence"
	"github.com/vitals-health/vitals/internal/text"
	"github.com/vitals-health/vitals/rules"
)

const (
	// maxNamedAlerts bounds the alerts of a rule whose labels name collectors.
	maxNamedAlerts = 10
	// maxMissing bounds the missing selector in front of the findings, in bytes.
	maxMissing = 200
	// maxFinding bounds a reason, a note or another text of a rule, in bytes.
	maxFinding = 512
)

// finding is what a collection found of the collector or of one of its parts.
type finding struct {
	*source
	part string
}

// failure returns the finding of a collector that fails, or "".
func (f finding) failure() string {
	if f.part != "" || f.status.Error == "" {
		return ""
	}
	return "collector " + f.Name + " fails: " + f.status.Finding()
}

// text returns the finding: the note or else the failure.
func (f finding) text() string { return cmp.Or(f.part, f.status.Note, f.failure()) }

// addFindings adds to a rule that is not ok what its collectors found: the failures to the
// reason if evidence is missing, and else all to the note.
func (c *core) addFindings(d *Rule, a *alerting) {
	if a.status == OK {
		return
	}
	lacking := a.status == Unknown && a.reason != "" && a.reason == a.cached.missing
	var failures, notes []string
	for _, f := range c.findings(a, d.Alerts) {
		if failure := f.failure(); lacking && failure != "" {
			failures = append(failures, failure)
		} else {
			notes = append(notes, f.text())
		}
	}
	if len(failures) > 0 {
		d.Reason = bound(text.Clip(d.Reason, maxMissing) + ": " + joined(failures))
	}
	d.Note = joined(notes)
}

// findings returns the findings on a rule: of the collectors that the labels of its first
// alerts name, or else of those that the rule names. An aggregation may have dropped such
// labels, and a rule without evidence has no alert. If neither names one, they are the
// failures of collectors that export the metrics of the rule.
func (c *core) findings(a *alerting, alerts []Alert) []finding {
	var named []labels.Label
	for _, al := range alerts[:min(len(alerts), maxNamedAlerts)] {
		al.Labels.Range(func(l labels.Label) { named = append(named, l) })
	}
	found, byAlert := c.findingsOf(named)
	if len(found) > 0 {
		return found
	}
	found, byRule := c.findingsOf(a.named)
	if len(found) > 0 || byAlert || byRule {
		return found
	}
	return c.failuresOf(a.selected)
}

// findingsOf returns the findings of the collectors and of the parts that labels name, and
// whether they name any.
func (c *core) findingsOf(named []labels.Label) (found []finding, ok bool) {
	for _, l := range named {
		for _, s := range c.sources {
			if l.Name == s.parts.Label {
				ok = true
				if note := s.parts.Notes[l.Value]; note != "" {
					found = append(found, finding{s, l.Name + " " + l.Value + ": " + note})
				}
			}
			if l.Value == s.Name && NamesCollector(l.Name) {
				ok = true
				if s.status.Finding() != "" {
					found = append(found, finding{source: s})
				}
			}
		}
	}
	return found, ok
}

// failuresOf returns the findings of the collectors that fail, or have notes on parts, and
// export one of the metrics. Of a collector with many parts, it returns as many as a note has
// room for.
func (c *core) failuresOf(metrics []string) (found []finding) {
	exports := c.exportersOf(metrics)
	for _, s := range c.sources {
		if s.status.Error == "" && len(s.parts.Notes) == 0 || !exports(s) {
			continue
		}
		if s.status.Error != "" {
			found = append(found, finding{source: s})
		}
		found = append(found, s.partFindings()...)
	}
	return found
}

// partFindings returns the findings of the first parts with a note, in the order of their names,
// until they exceed what a note has room for.
func (s *source) partFindings() (found []finding) {
	length := 0
	for _, value := range slices.Sorted(maps.Keys(s.parts.Notes)) {
		if note := s.parts.Notes[value]; note != "" && length <= maxFinding {
			f := finding{s, s.parts.Label + " " + value + ": " + note}
			found, length = append(found, f), length+len(f.part)
		}
	}
	return found
}

// collectorsOf returns the names of the collectors that measure what a rule uses, as
// Rule.Collectors has them.
func (c *core) collectorsOf(a *alerting, alerts []Alert) []string {
	if a.status == OK {
		a.measuredBy = measuredBy{}
		return nil
	}
	if a.measuredBy.status == a.status && a.measuredBy.names != nil {
		return a.measuredBy.names
	}
	named := slices.Clone(a.named)
	for _, al := range alerts[:min(len(alerts), maxNamedAlerts)] {
		al.Labels.Range(func(l labels.Label) { named = append(named, l) })
	}
	byName, byMetric, exports := []string{}, []string{}, c.exportersOf(a.selected)
	for _, s := range c.sources {
		switch {
		case slices.ContainsFunc(named, s.isNamed):
			byName = append(byName, s.Name)
		case exports(s):
			byMetric = append(byMetric, s.Name)
		}
	}
	if len(byName) == 0 {
		byName = byMetric
	}
	// Before its first collection, a collector has neither parts nor metrics.
	if !slices.ContainsFunc(c.sources, func(s *source) bool { return !s.status.Ran }) {
		a.measuredBy = measuredBy{a.status, byName}
	}
	return byName
}

// isNamed reports whether a label names the collector or one of its parts with a note.
func (s *source) isNamed(l labels.Label) bool {
	if l.Value == s.Name {
		return NamesCollector(l.Name)
	}
	_, ok := s.parts.Notes[l.Value]
	return ok && l.Name == s.parts.Label
}

// measuredBy are the collectors of a rule since it has a status and all collectors have run.
type measuredBy struct {
	status Status
	names  []string
}

// exportersOf returns a function that reports whether a collector may export one of the
// metrics: it describes it, or no collector does and it is not known which metrics this one has.
func (c *core) exportersOf(metrics []string) func(*source) bool {
	undescribed := sync.OnceValue(func() bool {
		return slices.ContainsFunc(metrics, func(name string) bool {
			return !slices.ContainsFunc(c.sources, func(s *source) bool { return s.batch.Describes(name) })
		})
	})
	return func(s *source) bool {
		return slices.ContainsFunc(metrics, s.batch.Describes) || (s.Forwards || len(s.batch.Descs) == 0) && undescribed()
	}
}

// namedBy returns the labels of the rule and the equality matchers of its expression.
func namedBy(r rules.Rule) []labels.Label {
	var named []labels.Label
	for _, name := range slices.Sorted(maps.Keys(r.Labels)) {
		named = append(named, labels.Label{Name: name, Value: r.Labels[name]})
	}
	for _, s := range evidence.Selectors(r.AST) {
		for _, m := range s.LabelMatchers {
			if m.Type == labels.MatchEqual {
				named = append(named, labels.Label{Name: m.Name, Value: m.Value})
			}
		}
	}
	return named
}

// NamesCollector reports whether the value of a label may be the name of a collector. The
// values of the others have other meanings, even if they are the same words.
func NamesCollector(label string) bool {
	switch label {
	case model.MetricNameLabel, model.AlertNameLabel, "state", "severity":
		return false
	}
	return true
}

// markSelected determines which metrics of collectors every alerting rule uses, also by
// recording rules. The evaluator's own metrics are not among them.
func (c *core) markSelected() {
	recorded := map[string][]parser.Expr{evidence.AlertsMetric: nil, evidence.AlertsForStateMetric: nil}
	for _, d := range Descs() {
		recorded[d.Name] = nil
	}
	for _, e := range c.each() {
		if r := e.rule(); r.Record != "" {
			recorded[r.Record] = append(recorded[r.Record], r.AST)
		}
	}
	for _, e := range c.each() {
		if e.alerting != nil {
			e.alerting.selected = evidence.Metrics(e.rule().AST, recorded)
		}
	}
}
