package form

import (
	"slices"
	"strings"

	"github.com/vitals-health/vitals/internal/strictyaml"
	"github.com/vitals-health/vitals/rules"
	"github.com/vitals-health/vitals/rules/lint/analysis"
	"github.com/vitals-health/vitals/rules/lint/check"
)

// What is a mistake in a rule of a state is a finding in an ordinary alert: Prometheus loads
// it, and no probe depends on it.

// ordinaryBool finds ordinary alerts that always fire because of "bool".
func ordinaryBool(p *check.Pass, s *analysis.Subject) {
	if s.Rule.Alert == "" || s.Rule.State != "" {
		return
	}
	if b, text, cure := rules.TopLevelBool(s.Rule.AST); b != nil {
		p.InExpr(s, b, cure, "%s", text).Severity = check.Warning
	}
}

// duplicates finds rules that exist twice.
func duplicates(p *check.Pass) {
	duplicateRecording(p)
	ordinary(p)
}

// ordinary finds what rules.Check finds in rules of a state, for the current check. Other
// objects and invalid rules may have the causes of a rule.
func ordinary(p *check.Pass) {
	apart := p.Options.Partial || slices.ContainsFunc(p.Files, func(f *rules.File) bool { return f.Part != "" })
	if apart && p.Current.Code != rules.CodeDuplicate {
		return
	}
	for _, err := range rules.CheckOrdinary(p.Files) {
		e, ok := err.(*strictyaml.Error)
		if !ok || e.Code != p.Current.Code {
			continue
		}
		text, cure, ok := strings.Cut(e.Text, ", ")
		if !ok {
			cure = "remove one of the names"
		}
		p.Add(subjectAt(p, e.File, e.Line), check.Finding{
			Severity: check.Info, File: e.File, Line: e.Line, Col: e.Col, Where: e.Where, Text: text, Cure: cure,
		})
	}
}

// subjectAt returns the rule at a line of a file.
func subjectAt(p *check.Pass, file string, line int) *analysis.Subject {
	var at *analysis.Subject
	for _, s := range p.Subjects {
		if s.File.Name == file && s.Rule.Line <= line && (at == nil || s.Rule.Line >= at.Rule.Line) {
			at = s
		}
	}
	return at
}

// misplacedState finds the name of a state among the annotations of an ordinary alert.
func misplacedState(p *check.Pass, s *analysis.Subject) {
	label := s.File.StateLabel()
	if value := s.Rule.Annotations[label]; s.Rule.State == "" && isState(p, value) {
		p.At(s, strictyaml.PathKey("annotations", label), "move it to the labels", "annotation %s has no meaning: the rule belongs to no state, and no probe uses it", label)
	}
}
