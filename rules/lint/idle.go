package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vitals-health/vitals/rules"
)

// merged returns the findings. It merges those for metrics of kinds that are not configured
// into one finding for each document, as there may be many.
func (p *pass) merged() []finding {
	waits := func(f finding) bool {
		return len(p.idle[f.subject]) > 0 && f.Code == codeUnknownMetric && f.Severity == Info && f.Accepted == ""
	}
	waiting := map[*rules.File][]*subject{}
	for _, f := range p.findings {
		if waits(f) && !slices.Contains(waiting[f.subject.file], f.subject) {
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
	return all
}

// mergeIdle returns the one finding for several rules, at the place of the first one.
func (p *pass) mergeIdle(f finding, waiting []*subject) finding {
	var names, kinds []string
	for _, s := range waiting {
		names, kinds = append(names, s.rule.Name()), append(kinds, p.idle[s]...)
	}
	f.Where = f.subject.file.Part
	f.subject = nil
	f.Text = fmt.Sprintf("%d rules need metrics that only %s export, and none is configured. Their no_data applies: %s",
		len(waiting), enumerate("collectors of the kind", kinds), strings.Join(names, ", "))
	f.Cure = "configure one for each part that exists. Rules for other parts do no harm"
	return f
}
