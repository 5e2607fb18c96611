package lint

import (
	"fmt"
	"strings"
	"time"
)

// lookback is how long an instant query uses a sample: the default of Prometheus.
const lookback = 5 * time.Minute

// longInterval finds groups that are evaluated less often than their results last.
func longInterval(p *pass) {
	for _, f := range p.files {
		for i := range f.Groups {
			g := &f.Groups[i]
			if g.Interval <= lookback || len(g.Rules) == 0 {
				continue
			}
			line, col := f.PlaceInGroup(g, "interval")
			where := fmt.Sprintf("group %q", g.Name)
			if f.Part != "" {
				where = f.Part + ", " + where
			}
			p.report(Finding{
				File: f.Name, Line: line, Col: col, Where: where,
				Text: "it is evaluated every " + formatDuration(g.Interval) + ", and queries use a sample for " + formatDuration(lookback) +
					": between two evaluations, recorded series and ALERTS are absent",
				Cure: "set interval: " + formatDuration(lookback) + " or less, the longest one without gaps",
			})
		}
	}
}

// reservedName finds recording rules with a name that only Vitals exports. Names with a
// colon cannot be those of a metric.
func reservedName(p *pass, s *subject) {
	name := s.rule.Record
	if !own(name) || strings.Contains(name, ":") {
		return
	}
	cure := "choose another prefix, or a name with a colon such as app:" + strings.TrimPrefix(name, "vitals_")
	if p.exported(name) {
		p.at(s, "record", cure, "Vitals exports a metric %s: rules select the series of both", name)
		return
	}
	p.at(s, "record", cure, "the prefix vitals_ is reserved: another version may export a metric %s", name).Severity = Warning
}

// exported reports whether a collector or Vitals itself can export a metric.
func (p *pass) exported(name string) bool {
	v := p.opts.Vocabulary
	return v != nil && len(exporters(v.Metrics, name))+len(exporters(v.Kinds, name)) > 0
}
