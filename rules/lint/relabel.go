package lint

import (
	"regexp"
	"strings"

	"github.com/prometheus/prometheus/promql/parser"
)

// sourceLabels checks the labels that label_replace and label_join read. A constant
// replacement with an expression that also matches a missing label reads none on purpose.
func (p *pass) sourceLabels(s *subject, n *parser.Call) {
	name := n.Func.Name
	if name != "label_replace" && name != "label_join" {
		return
	}
	const first = 3 // after the vector, the new label, and the replacement or separator
	sources := n.Args[min(first, len(n.Args)):]
	if name == "label_replace" {
		sources = sources[:1]
		if !strings.Contains(text(n.Args[2]), "$") && matchesNothing(text(n.Args[first+1])) {
			return
		}
	}
	is := p.shape(n.Args[0])
	for _, arg := range sources {
		label := text(arg)
		if label == "" || is.has(label) || added(label) {
			continue
		}
		p.inExpr(s, arg, suggest(label, keys(is.labels)), "no series has the label %s that %s reads", label, name).Severity = Warning
	}
}

// matchesNothing reports whether an anchored expression matches the empty text.
func matchesNothing(expr string) bool {
	re, err := regexp.Compile("^(?s:" + expr + ")$")
	return err == nil && re.MatchString("")
}
