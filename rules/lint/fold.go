package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vitals-health/vitals/rules"
)

// foldAbsences replaces the findings about absent series of a document by one. It applies
// without a configuration: it is then unknown which series are ever absent.
func (p *pass) foldAbsences(all []finding) []finding {
	if v := p.opts.Vocabulary; v == nil || v.Configured {
		return all
	}
	return folded(all, func(f finding) bool {
		return f.Code == codeVanishing && f.Accepted == "" && !f.subject.mistaken()
	}, foldedAbsence)
}

// foldForeign replaces the remarks on ordinary alerts over metrics of other programs by one
// for each document: the alerts may be for Prometheus alone.
func (p *pass) foldForeign(all []finding) []finding {
	return folded(all, func(f finding) bool {
		return f.Code == codeUnknownMetric && f.Severity == Info && f.Accepted == "" && f.Cure == foreignCure
	}, foldedForeign)
}

// folded replaces the findings of a document that fold by one, if there are several. It has
// the place of the first one.
func folded(all []finding, folds func(finding) bool, into func([]finding) finding) []finding {
	of := map[*rules.File][]finding{}
	for _, f := range all {
		if folds(f) {
			of[f.subject.file] = append(of[f.subject.file], f)
		}
	}
	var rest []finding
	for _, f := range all {
		if !folds(f) || len(of[f.subject.file]) == 1 {
			rest = append(rest, f)
		} else if found := of[f.subject.file]; found != nil {
			rest = append(rest, into(found))
			of[f.subject.file] = nil
		}
	}
	return rest
}

// foldedForeign returns one finding for the metrics that several alerts select.
func foldedForeign(found []finding) finding {
	var names []string
	for _, f := range found {
		names = append(names, strings.TrimPrefix(f.Text, foreignText))
	}
	slices.Sort(names)
	names = slices.Compact(names)
	first := found[0]
	first.Where, first.subject = first.subject.file.Part, nil
	first.Text = fmt.Sprintf("alerts without a state select %d metrics that no collector and no recording rule exports: %s", len(names), few(names))
	first.Cure = "collect them (a scrape collector reads what other programs export), unless the alerts are for Prometheus alone"
	return first
}

// few returns the first of several names, and how many more there are.
func few(names []string) string {
	const most = 5
	listed := strings.Join(names[:min(most, len(names))], ", ")
	if len(names) > most {
		listed += fmt.Sprintf(" and %d more", len(names)-most)
	}
	return listed
}

// foldedAbsence returns one finding for several rules of a document, at the place of the
// first of the most severe.
func foldedAbsence(found []finding) finding {
	first := slices.MaxFunc(found, func(a, b finding) int { return int(a.Severity) - int(b.Severity) })
	var names []string
	for _, f := range found {
		names = append(names, f.subject.rule.Name())
	}
	first.Where, first.subject = first.subject.file.Part, nil
	first.Text = fmt.Sprintf("%d rules compare series that can be absent while everything works. Prometheus then sees no alert, and vitals reports them as unknown, which their states handle by their own no_data: %s",
		len(names), few(names))
	first.Cure = "set the annotation no_data of each to fail, pass or hold; pass a configuration (--config.file) to check its collectors, with one finding for each rule"
	return first
}
