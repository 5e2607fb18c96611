package architecture_test

import (
	"go/ast"
	"path"
	"strings"
	"testing"
)

// Batch.Set accepts fewer values than labels, because some series lack the last label, and
// panics on more. A value that is missing or too many is therefore found here, in all calls
// that name the metric and list the values, and not at run time in a rare branch.
func TestSetPassesAValueForEachLabel(t *testing.T) {
	counts := labelCounts(t)
	checked := 0
	for _, s := range sources(t) {
		ast.Inspect(s.file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || !isSet(call) || call.Ellipsis.IsValid() {
				return true
			}
			labels, declared := counts[qualified(s, call.Args[0])]
			if !declared {
				return true // a parameter or a field, whose metric the source does not show
			}
			checked++
			if values := len(call.Args) - 2; values != labels {
				t.Errorf("%s: Set(%s) passes %d label values, want %d, the number of its labels", s.at(call), selector(call.Args[0]), values, labels)
			}
			return true
		})
	}
	if checked < 50 {
		t.Errorf("%d calls of Batch.Set checked, want those of all kinds", checked)
	}
}

// labelCounts returns the number of labels of each declared metric, by "folder.Name".
func labelCounts(t *testing.T) map[string]int {
	t.Helper()
	counts := map[string]int{}
	for _, s := range program(t) {
		for _, v := range packageVariables(s) {
			for i, value := range v.Values {
				call, ok := value.(*ast.CallExpr)
				if !ok {
					continue
				}
				if made := selector(call.Fun); made != "collectors.NewGauge" && made != "collectors.NewCounter" {
					continue
				}
				if call.Ellipsis.IsValid() {
					t.Errorf("%s: the labels of %s are a slice, want a list that can be counted", s.at(call), v.Names[i])
				}
				counts[s.dir+"."+v.Names[i].Name] = len(call.Args) - 2
			}
		}
	}
	return counts
}

// isSet reports whether a call may be one of Batch.Set: a metric, a value and label values.
func isSet(call *ast.CallExpr) bool {
	method, ok := call.Fun.(*ast.SelectorExpr)
	return ok && method.Sel.Name == "Set" && len(call.Args) >= 2
}

// qualified returns "folder.Name" for the name of a package variable of this module.
func qualified(s source, e ast.Expr) string {
	if name, ok := e.(*ast.Ident); ok {
		return s.dir + "." + name.Name
	}
	name, ok := e.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	for _, imported := range s.imports() {
		if pkg, ok := name.X.(*ast.Ident); ok && path.Base(imported) == pkg.Name {
			if dir, ok := strings.CutPrefix(imported, module+"/"); ok {
				return dir + "." + name.Sel.Name
			}
		}
	}
	return ""
}
