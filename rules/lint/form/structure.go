package form

import (
	"fmt"

	"github.com/prometheus/prometheus/model/labels"

	"github.com/vitals-health/vitals/rules/lint/analysis"
	"github.com/vitals-health/vitals/rules/lint/check"
)

// secondDocument finds rules that Prometheus does not load: it reads only the first
// document of a file. The Prometheus Operator reads objects from all documents.
func secondDocument(p *check.Pass) {
	for _, f := range p.Files {
		if !f.Behind || len(f.Groups) == 0 {
			continue
		}
		p.Report(check.Finding{
			File: f.Name, Line: f.Groups[0].Line, Col: f.Groups[0].Col, Where: f.Part,
			Text: "Prometheus reads only the first document of a file, so only Vitals would load these groups",
			Cure: "move them to the first document or to a file of their own, or make a PrometheusRule object of each document",
		})
	}
}

// duplicateRecording finds recording rules that record the same expression under the same
// name and labels as another one. For alerts this is a mistake, which rules.Check finds.
func duplicateRecording(p *check.Pass) {
	first := map[string]string{}
	for _, s := range p.Subjects {
		if s.Rule.Record == "" || s.Rule.AST == nil {
			continue
		}
		identity := s.Rule.Record + labels.FromMap(s.Rule.Labels).String() + s.Rule.AST.String()
		if where, ok := first[identity]; ok {
			p.At(s, "record", "remove one of the two, or give it another name or other labels",
				"the rule at %s records the same expression under the same name and labels", where)
			continue
		}
		first[identity] = fmt.Sprintf("%s:%d", s.File.Name, s.Rule.Line)
	}
}

// noSummary finds rules with a state that have no summary.
func noSummary(p *check.Pass, s *analysis.Subject) {
	if s.Rule.State != "" && s.Rule.Annotations["summary"] == "" {
		p.At(s, "annotations", "add the annotation summary: one sentence that describes the problem",
			"a rule of %s has no summary: probes, page and alerts would show only its name", s.Rule.State)
	}
}
