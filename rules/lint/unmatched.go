package lint

import (
	"fmt"
	"strings"

	"github.com/prometheus/prometheus/promql/parser"
)

// unmatched finds a label on which the sides of an operator never match: all that they can
// have differs. It explains that and returns a cure; both are empty if the sides may match.
func (p *pass) unmatched(n *parser.BinaryExpr) (text, cure string) {
	left, right := p.shape(n.LHS), p.shape(n.RHS)
	if n.VectorMatching == nil || n.Op == parser.LOR || filled(n) || !left.some || !right.some {
		return "", ""
	}
	_, label := left.matched(right, matchedOn{n.VectorMatching})
	if label == "" {
		return "", ""
	}
	cure = fmt.Sprintf(`match on labels that both sides have, as in "%s on (...)"; "on ()" matches everything`, n.Op)
	if n.VectorMatching.On {
		cure = `list only labels that both sides have in "on"`
	}
	return fmt.Sprintf("no label set of one side matches the other: on the left the label %s is %s, on the right it is %s",
		label, left.of(label), right.of(label)), cure
}

// neverGuards reports an "unless" whose right side never matches the left one.
func (a *analyzer) neverGuards(n *parser.BinaryExpr) bool {
	text, cure := a.pass.unmatched(n)
	if text != "" {
		a.causes = append(a.causes, cause{node: n, text: text, cure: cure, idle: true})
	}
	return text != ""
}

// String describes the set, as in "always missing" or "watcher or missing".
func (d domain) String() string {
	const few = 3
	switch {
	case d.never():
		return "always missing"
	case d.open && d.lacking:
		return "unknown"
	case d.open:
		return "always present"
	}
	texts := d.texts
	if len(texts) > few {
		texts = append(texts[:few:few], "another one")
	}
	if d.lacking {
		texts = append(texts[:len(texts):len(texts)], "missing")
	}
	return strings.Join(texts, " or ")
}
