package lint

import (
	"slices"
	"strings"

	"github.com/vitals-health/vitals/internal/strictyaml"
	"github.com/vitals-health/vitals/rules"
)

// What is a mistake in a rule of a state is a finding in an ordinary alert: Prometheus loads
// it, and no probe depends on it.

// ordinaryBool finds ordinary alerts that always fire because of "bool".
func ordinaryBool(p *pass, s *subject) {
	if s.rule.Alert == "" || s.rule.State != "" {
		return
	}
	if b, text, cure := rules.TopLevelBool(s.rule.AST); b != nil {
		p.inExpr(s, b, cure, "%s", text).Severity = Warning
	}
}

// duplicates finds rules that exist twice.
func duplicates(p *pass) {
	duplicateRecording(p)
	ordinary(p)
}

// ordinary finds what rules.Check finds in rules of a state, for the current check. Other
// objects and invalid rules may have the causes of a rule.
func ordinary(p *pass) {
	apart := p.opts.Partial || slices.ContainsFunc(p.files, func(f *rules.File) bool { return f.Part != "" })
	if apart && p.current.Code != rules.CodeDuplicate {
		return
	}
	for _, err := range rules.CheckOrdinary(p.files) {
		e, ok := err.(*strictyaml.Error)
		if !ok || e.Code != p.current.Code {
			continue
		}
		text, cure, ok := strings.Cut(e.Text, ", ")
		if !ok {
			cure = "remove one of the names"
		}
		p.add(p.subjectAt(e.File, e.Line), Finding{
			Severity: Info, File: e.File, Line: e.Line, Col: e.Col, Where: e.Where, Text: text, Cure: cure,
		})
	}
}

// subjectAt returns the rule at a line of a file.
func (p *pass) subjectAt(file string, line int) *subject {
	var at *subject
	for _, s := range p.subjects {
		if s.file.Name == file && s.rule.Line <= line && (at == nil || s.rule.Line >= at.rule.Line) {
			at = s
		}
	}
	return at
}

// misplacedState finds the name of a state among the annotations of an ordinary alert.
func misplacedState(p *pass, s *subject) {
	label := s.file.StateLabel()
	if value := s.rule.Annotations[label]; s.rule.State == "" && p.isState(value) {
		p.at(s, strictyaml.PathKey("annotations", label), "move it to the labels", "annotation %s has no meaning: the rule belongs to no state, and no probe uses it", label)
	}
}
