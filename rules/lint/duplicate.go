package lint

import (
	"fmt"

	"github.com/prometheus/prometheus/model/labels"
)

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
