package architecture_test

import (
	"go/ast"
	"maps"
	"slices"
	"strings"
	"testing"
)

// smallBodies are the files of kinds that read input whole without the budget of bodies, and why
// that is little.
func smallBodies() map[string]string {
	return map[string]string{
		"collectors/kubernetes/auth.go":     "a token of a file, with a limit of its own",
		"collectors/kubernetes/position.go": "the error of a watch, at most 64 KiB",
		"collectors/remote/client.go":       "keys and passwords of files, with a limit of their own",
		"collectors/tcp/etcd.go":            "an answer about health, with a limit of its own",
	}
}

// readsWhole reports whether a call reads input to its end, and reserves whether it reserves
// memory for that.
func readsWhole(call *ast.CallExpr) (reads, reserves bool) {
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false, false
	}
	switch of := f.X.(type) {
	case *ast.Ident:
		name := of.Name + "." + f.Sel.Name
		return name == "io.ReadAll" || name == "xml.NewDecoder", false
	case *ast.SelectorExpr:
		return f.Sel.Name == "ReadFrom", of.Sel.Name == "bodies" && f.Sel.Name == "Reader"
	}
	return false, false
}

// Kinds that read input of other programs whole share the budget of bodies.
func TestKindsReserveMemoryForBodies(t *testing.T) {
	unused := smallBodies()
	reading, reserving := map[string]string{}, map[string]bool{}
	for _, s := range program(t) {
		if !strings.HasPrefix(s.dir, "collectors/") || strings.HasPrefix(s.dir, "collectors/collectortest") {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			reads, reserves := readsWhole(call)
			reserving[s.dir] = reserving[s.dir] || reserves
			if _, small := smallBodies()[s.path]; reads && small {
				delete(unused, s.path)
			} else if reads {
				reading[s.dir] = s.at(call)
			}
			return true
		})
	}
	if len(reading) < 4 {
		t.Errorf("%d kinds read input whole, want file, kubernetes, scrape, script and supervisor", len(reading))
	}
	for _, dir := range slices.Sorted(maps.Keys(reading)) {
		if !reserving[dir] {
			t.Errorf("%s reads input whole without memory of env.Bodies", reading[dir])
		}
	}
	for path := range unused {
		t.Errorf("%s reads nothing whole, want no exception for it", path)
	}
}
