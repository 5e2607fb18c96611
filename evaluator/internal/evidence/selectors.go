package evidence

import (
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/internal/promexpr"
)

// Metrics returns the metrics that an expression selects, and in place of a recorded one
// those of its rules. recorded holds the expressions that record a metric by its name; a metric
// with none of them is left out.
func Metrics(expr parser.Expr, recorded map[string][]parser.Expr) []string {
	return selected(expr, recorded, map[string]bool{})
}

// selected is Metrics without those in seen, to which it adds what it visits.
func selected(expr parser.Expr, recorded map[string][]parser.Expr, seen map[string]bool) (names []string) {
	for _, s := range Selectors(expr) {
		name := promexpr.MetricName(s)
		if name == "" || seen[name] {
			continue
		}
		seen[name] = true
		by, isRecorded := recorded[name]
		if !isRecorded {
			names = append(names, name)
		}
		for _, expr := range by {
			names = append(names, selected(expr, recorded, seen)...)
		}
	}
	return names
}

// Selectors returns the selectors of an expression whose series may be a cause. Those on the
// right side of "unless" excuse.
func Selectors(expr parser.Expr) (all []*parser.VectorSelector) {
	parser.Inspect(expr, func(n parser.Node, path []parser.Node) error {
		if s, ok := n.(*parser.VectorSelector); ok && !excuses(append(path, n)) {
			all = append(all, s)
		}
		return nil
	})
	return all
}

// excuses reports whether a path of nodes, from the root to a selector, leads over the right
// side of "unless".
func excuses(path []parser.Node) bool {
	for i, n := range path {
		if b, ok := n.(*parser.BinaryExpr); ok && b.Op == parser.LUNLESS && parser.Node(b.RHS) == path[i+1] {
			return true
		}
	}
	return false
}
