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
	absent := map[*rules.File][]finding{}
	folds := func(f finding) bool { return f.Code == codeVanishing && f.Accepted == "" && !f.subject.mistaken() }
	for _, f := range all {
		if folds(f) {
			absent[f.subject.file] = append(absent[f.subject.file], f)
		}
	}
	var rest []finding
	for _, f := range all {
		of := f.subject
		switch {
		case !folds(f) || len(absent[of.file]) == 1:
			rest = append(rest, f)
		case absent[of.file][0].subject == of:
			rest = append(rest, foldedAbsence(absent[of.file]))
		}
	}
	return rest
}

// foldedAbsence returns one finding for several rules of a document, at the place of the
// first of the most severe.
func foldedAbsence(found []finding) finding {
	const few = 5
	first := slices.MaxFunc(found, func(a, b finding) int { return int(a.Severity) - int(b.Severity) })
	var names []string
	for _, f := range found {
		names = append(names, f.subject.rule.Name())
	}
	listed := strings.Join(names[:min(few, len(names))], ", ")
	if len(names) > few {
		listed += fmt.Sprintf(" and %d more", len(names)-few)
	}
	first.Where, first.subject = first.subject.file.Part, nil
	first.Text = fmt.Sprintf("%d rules compare series that can be absent while everything works. Prometheus then sees no alert, and vitals reports them as unknown, which their states handle by their own no_data: %s",
		len(names), listed)
	first.Cure = "set the annotation no_data of each to fail, pass or hold; pass a configuration (--config.file) to check its collectors, with one finding for each rule"
	return first
}
