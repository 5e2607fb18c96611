package lint

import (
	"fmt"

	"github.com/prometheus/prometheus/model/labels"
)

// secondDocument finds rules that Prometheus does not load: it reads only the first
// document of a file. The Prometheus Operator reads objects from all documents.
func secondDocument(p *pass) {
	for _, f := range p.files {
		if !f.Behind || len(f.Groups) == 0 {
			continue
		}
		p.report(Finding{
			File: f.Name, Line: f.Groups[0].Line, Col: f.Groups[0].Col, Where: f.Part,
			Text: "Prometheus reads only the first document of a file, so only Vitals would load these groups",
			Cure: "move them to the first document or to a file of their own, or make a PrometheusRule object of each document",
		})
	}
}

// duplicateRecording finds recording rules that record the same expression under the same
// name and labels as another one. For alerts this is a mistake, which rules.Check finds.
func duplicateRecording(p *pass) {
	first := map[string]string{}
	for _, s := range p.subjects {
		if s.rule.Record == "" || s.rule.AST == nil {
			continue
		}
		identity := s.rule.Record + labels.FromMap(s.rule.Labels).String() + s.rule.AST.String()
		if where, ok := first[identity]; ok {
			p.at(s, "record", "remove one of the two, or give it another name or other labels",
				"the rule at %s records the same expression under the same name and labels", where)
			continue
		}
		first[identity] = fmt.Sprintf("%s:%d", s.file.Name, s.rule.Line)
	}
}

// noSummary finds rules with a state that have no summary.
func noSummary(p *pass, s *subject) {
	if s.rule.State != "" && s.rule.Annotations["summary"] == "" {
		p.at(s, "annotations", "add the annotation summary: one sentence that describes the problem",
			"a rule of %s has no summary: probes, page and alerts would show only its name", s.rule.State)
	}
}
