package lint

import (
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/rules"
)

// DefaultSeverity returns the severity of a check's findings unless a finding overrides it.
func DefaultSeverity(code string) Severity {
	for _, c := range checks() {
		if c.Code == code {
			return c.Severity
		}
	}
	panic("no check " + code)
}

// ResultLabels returns the possible labels of an expression's result with their values, and
// reports whether they are known.
func ResultLabels(v *Vocabulary, files []*rules.File, expr parser.Expr) (labels map[string][]string, known bool) {
	p := &pass{files: files, opts: Options{Vocabulary: v}}
	p.prepare()
	is := p.shape(expr)
	labels = map[string][]string{}
	for _, label := range is.names() {
		labels[label] = is.labels[label].values()
	}
	return labels, is.rest != anyOther
}

// Reached returns the collectors that a rule depends on.
func Reached(v *Vocabulary, files []*rules.File, r *rules.Rule) map[string]bool {
	p := &pass{files: files, opts: Options{Vocabulary: v}}
	p.prepare()
	names := map[string]bool{}
	for _, l := range p.leaves(r) {
		for _, m := range p.sources(l.selector) {
			names[m.Collector] = true
		}
	}
	return names
}

// CheckCodes returns the codes of the checks that Check runs.
func CheckCodes() []string {
	var codes []string
	for _, c := range checks() {
		if c.run != nil || c.rule != nil {
			codes = append(codes, c.Code)
		}
	}
	return codes
}

// TemplateLabels returns the labels of the alert that a template uses.
func TemplateLabels(text string) []string { return templateLabels(text) }

// Computations runs all checks and returns how many shapes, traits and outcomes they compute.
func Computations(files []*rules.File, opts Options) int {
	p := &pass{files: files, opts: opts}
	p.run()
	return p.computed
}
