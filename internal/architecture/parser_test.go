package architecture_test

import (
	"go/ast"
	"testing"
)

// One place has the options of the PromQL parser. A part with other options would refuse or
// accept other expressions.
func TestOnePromQLParser(t *testing.T) {
	const home = "internal/promexpr"
	found := false
	for _, s := range program(t) {
		ast.Inspect(s.file, func(n ast.Node) bool {
			call, ok := n.(*ast.SelectorExpr)
			if !ok || call.Sel.Name != "NewParser" {
				return true
			}
			of, ok := call.X.(*ast.Ident)
			switch {
			case !ok || of.Name != "parser":
			case s.dir == home:
				found = true
			default:
				t.Errorf("%s makes a PromQL parser, want it from %s", s.at(call), home)
			}
			return true
		})
	}
	if !found {
		t.Errorf("%s makes no PromQL parser, want one", home)
	}
}
