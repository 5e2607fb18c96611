package form

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/prometheus/prometheus/model/labels"

	"github.com/vitals-health/vitals/internal/strictyaml"
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

// webAddress matches a URL with http or https, and a host.
var webAddress = regexp.MustCompile(`^(?i:https?)://[^\s/?#]\S*$`)

// runbookURL finds runbooks that are no link. The text before the first action of a template decides, unless
// it is only the beginning of a scheme.
func runbookURL(p *check.Pass, s *analysis.Subject) {
	const key = "runbook_url"
	given := s.Rule.Annotations[key]
	start, _, open := strings.Cut(given, "{{")
	start = strings.ToLower(start)
	for _, scheme := range []string{"http://", "https://"} {
		if open && (strings.HasPrefix(scheme, start) || strings.HasPrefix(start, scheme)) {
			return
		}
	}
	if given == "" || !open && webAddress.MatchString(given) {
		return
	}
	p.At(s, strictyaml.PathKey("annotations", key), "write a URL such as https://example.org/runbooks/"+s.Rule.Alert,
		"the runbook %.60q is no URL with http or https, so no page links to it", given)
}
