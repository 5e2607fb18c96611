package form

import (
	"fmt"
	"strings"
	"time"

	"github.com/vitals-health/vitals/rules/lint/analysis"
	"github.com/vitals-health/vitals/rules/lint/check"
)

// lookback is how long an instant query uses a sample: the default of Prometheus.
const lookback = 5 * time.Minute

// longInterval finds groups that are evaluated less often than their results last.
func longInterval(p *check.Pass) {
	for _, f := range p.Files {
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
			p.Report(check.Finding{
				File: f.Name, Line: line, Col: col, Where: where,
				Text: "it is evaluated every " + check.FormatDuration(g.Interval) + ", and queries use a sample for " + check.FormatDuration(lookback) +
					": between two evaluations, recorded series and ALERTS are absent",
				Cure: "set interval: " + check.FormatDuration(lookback) + " or less, the longest one without gaps",
			})
		}
	}
}

// reservedName finds recording rules with a name that only Vitals exports. Names with a
// colon cannot be those of a metric.
func reservedName(p *check.Pass, s *analysis.Subject) {
	name := s.Rule.Record
	if !analysis.Own(name) || strings.Contains(name, ":") {
		return
	}
	cure := "choose another prefix, or a name with a colon such as app:" + strings.TrimPrefix(name, "vitals_")
	if exported(p, name) {
		p.At(s, "record", cure, "Vitals exports a metric %s: rules select the series of both", name)
		return
	}
	p.At(s, "record", cure, "the prefix vitals_ is reserved: another version may export a metric %s", name).Severity = check.Warning
}

// exported reports whether a collector or Vitals itself can export a metric.
func exported(p *check.Pass, name string) bool {
	v := p.Options.Vocabulary
	return v != nil && len(analysis.Exporters(v.Metrics, name))+len(analysis.Exporters(v.Kinds, name)) > 0
}
