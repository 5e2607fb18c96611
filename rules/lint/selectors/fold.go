package selectors

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vitals-health/vitals/rules"
	"github.com/vitals-health/vitals/rules/lint/analysis"
	"github.com/vitals-health/vitals/rules/lint/check"
)

// codeUnknownMetric is the code of a metric that nothing exports.
const codeUnknownMetric = "V003"

// codeVanishing is the code of a comparison whose series may be absent.
const codeVanishing = "V006"

// foldAbsences replaces the findings about absent series of a document by one. It applies
// without a configuration: it is then unknown which series are ever absent.
func foldAbsences(p *check.Pass, all []check.Found) []check.Found {
	if v := p.Options.Vocabulary; v == nil || v.Configured {
		return all
	}
	return folded(all, func(f check.Found) bool {
		return f.Code == codeVanishing && f.Accepted == "" && !f.Subject.Mistaken()
	}, foldedAbsence)
}

// foldForeign replaces the remarks on ordinary alerts over metrics of other programs by one
// for each document: the alerts may be for Prometheus alone.
func foldForeign(p *check.Pass, all []check.Found) []check.Found {
	return folded(all, func(f check.Found) bool {
		return f.Code == codeUnknownMetric && f.Severity == check.Info && f.Accepted == "" && f.Cure == foreignCure
	}, foldedForeign)
}

// folded replaces the findings of a document that fold by one, if there are several. It has
// the place of the first one.
func folded(all []check.Found, folds func(check.Found) bool, into func([]check.Found) check.Found) []check.Found {
	of := map[*rules.File][]check.Found{}
	for _, f := range all {
		if folds(f) {
			of[f.Subject.File] = append(of[f.Subject.File], f)
		}
	}
	var rest []check.Found
	for _, f := range all {
		if !folds(f) || len(of[f.Subject.File]) == 1 {
			rest = append(rest, f)
		} else if found := of[f.Subject.File]; found != nil {
			rest = append(rest, into(found))
			of[f.Subject.File] = nil
		}
	}
	return rest
}

// foldedForeign returns one finding for the metrics that several alerts select.
func foldedForeign(found []check.Found) check.Found {
	var names []string
	for _, f := range found {
		names = append(names, strings.TrimPrefix(f.Text, foreignText))
	}
	slices.Sort(names)
	names = slices.Compact(names)
	first := found[0]
	first.Where, first.Subject = first.Subject.File.Part, nil
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
func foldedAbsence(found []check.Found) check.Found {
	first := slices.MaxFunc(found, func(a, b check.Found) int { return int(a.Severity) - int(b.Severity) })
	var names []string
	for _, f := range found {
		names = append(names, f.Subject.Rule.Name())
	}
	first.Where, first.Subject = first.Subject.File.Part, nil
	first.Text = fmt.Sprintf("%d rules compare series that can be absent while everything works. Prometheus then sees no alert, and vitals reports them as unknown, which their states handle by their own no_data: %s",
		len(names), few(names))
	first.Cure = "set the annotation no_data of each to fail, pass or hold; pass a configuration (--config.file) to check its collectors, with one finding for each rule"
	return first
}

// Fold returns the findings. It merges those for metrics of kinds that are not configured
// into one finding for each document, as there may be many, and those of foldAbsences and
// foldForeign.
func Fold(p *check.Pass) []check.Found {
	waits := func(f check.Found) bool {
		return len(p.Idle[f.Subject]) > 0 && f.Code == codeUnknownMetric && f.Severity == check.Info && f.Accepted == ""
	}
	waiting, counted := map[*rules.File][]*analysis.Subject{}, map[*analysis.Subject]bool{}
	for _, f := range p.Findings {
		if waits(f) && !counted[f.Subject] {
			counted[f.Subject] = true
			waiting[f.Subject.File] = append(waiting[f.Subject.File], f.Subject)
		}
	}
	var all []check.Found
	reported := map[*rules.File]bool{}
	for _, f := range p.Findings {
		if waits(f) && len(waiting[f.Subject.File]) > 1 {
			of := f.Subject.File
			if reported[of] {
				continue
			}
			reported[of] = true
			f = mergeIdle(p, f, waiting[of])
		}
		all = append(all, f)
	}
	return foldForeign(p, foldAbsences(p, all))
}

// mergeIdle returns the one finding for several rules, at the place of the first one.
func mergeIdle(p *check.Pass, f check.Found, waiting []*analysis.Subject) check.Found {
	var names, kinds []string
	for _, s := range waiting {
		names, kinds = append(names, s.Rule.Name()), append(kinds, p.Idle[s]...)
	}
	f.Where = f.Subject.File.Part
	f.Subject = nil
	f.Text = fmt.Sprintf("%d rules need metrics that only %s export, and none here does. Their no_data applies: %s",
		len(waiting), enumerate("collectors of the kind", kinds), strings.Join(names, ", "))
	f.Cure = "configure one that does for each part that exists. Rules for other parts do no harm"
	return f
}
