package architecture_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// A panic in a goroutine that does not recover ends the process, and one collector would take all
// verdicts with it. So the kinds and all that they import start goroutines by internal/panics
// only, and callbacks that a library calls in a goroutine of its own recover.
func TestGoroutinesOfCollectorsRecover(t *testing.T) {
	// Callbacks that need not recover, by file and name.
	exempt := map[string]string{
		"collectors/components/notify.go Control":        "net calls it in the goroutine that listens",
		"collectors/http/trace.go ClientTrace":           "the hooks store a time",
		"collectors/kubernetes/client.go Dial":           "it is a method of net.Dialer",
		"collectors/remote/address.go ClientTrace":       "the hooks store a time",
		"collectors/remote/lookup.go ClientTrace":        "the hooks store a flag",
		"collectors/http/client.go GetClientCertificate": "it is nil",
	}
	used := map[string]bool{}
	scope := reachable(t, "collectors/kinds", "collectors/remote")
	for _, s := range program(t) {
		if !scope[s.dir] || s.dir == "internal/panics" {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			for what, ok := range unguarded(n) {
				if name := s.path + " " + what; exempt[name] != "" {
					used[name] = true
				} else if !ok {
					t.Errorf("%s: %s, want internal/panics to recover from its panics", s.at(n), what)
				}
			}
			return true
		})
	}
	for name := range exempt {
		if !used[name] {
			t.Errorf("%s is exempt and does not exist", name)
		}
	}
}

// reachable returns the folders of packages and of all that they import in the module.
func reachable(t *testing.T, from ...string) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	for len(from) > 0 {
		dir := from[0]
		from = from[1:]
		if found[dir] {
			continue
		}
		found[dir] = true
		for _, s := range program(t) {
			for _, path := range s.imports() {
				if own, ok := strings.CutPrefix(path, module+"/"); ok && s.dir == dir {
					from = append(from, own)
				}
			}
		}
	}
	if len(found) < 15 {
		t.Fatalf("%d packages are reachable, want all kinds", len(found))
	}
	return found
}

// unguarded returns the places of a node where other goroutines begin, and whether they recover.
func unguarded(n ast.Node) map[string]bool {
	found := map[string]bool{}
	switch n := n.(type) {
	case *ast.GoStmt:
		found["go statement"] = false
	case *ast.CallExpr:
		switch name := called(n); {
		case name == "Go":
			found["Go"] = guarded(n.Args[0]) || guarded(n.Fun)
		case slices.Contains([]string{"AfterFunc", "AddCleanup", "SetFinalizer", "RegisterDialContext"}, name):
			last := n.Args[len(n.Args)-1]
			found[name] = guarded(last) || ends(last)
		}
	case *ast.KeyValueExpr:
		if name := selector(n.Key); callback(name) {
			found[name] = guarded(n.Value)
		}
	case *ast.AssignStmt:
		for i, left := range n.Lhs {
			if field, ok := left.(*ast.SelectorExpr); ok && callback(field.Sel.Name) && i < len(n.Rhs) {
				found[field.Sel.Name] = guarded(n.Rhs[i])
			}
		}
	case *ast.CompositeLit:
		if selector(n.Type) == "httptrace.ClientTrace" {
			found["ClientTrace"] = guarded(n)
		}
	}
	return found
}

// callback reports whether a library calls a field with this name in a goroutine of its own.
func callback(field string) bool {
	return slices.Contains([]string{
		"Dial", "DialContext", "DialTLS", "DialTLSContext", "DialFunc", "Control", "ControlContext",
		"VerifyConnection", "VerifyPeerCertificate", "GetClientCertificate", "GetCertificate", "GetConfigForClient",
	}, field)
}

// called returns the name of a called function or method without its package.
func called(call *ast.CallExpr) string {
	if f, ok := call.Fun.(*ast.IndexExpr); ok {
		call = &ast.CallExpr{Fun: f.X}
	}
	if f, ok := call.Fun.(*ast.SelectorExpr); ok {
		return f.Sel.Name
	}
	return ""
}

// guarded reports whether an expression uses internal/panics.
func guarded(e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok && strings.HasPrefix(selector(s), "panics.") {
			found = true
		}
		return true
	})
	return found
}

// ends reports whether a callback only cancels a context, or closes or ends the deadline of a
// connection or file.
func ends(e ast.Expr) bool {
	if selector(e) == "cancel" {
		return true
	}
	f, ok := e.(*ast.FuncLit)
	if !ok || len(f.Body.List) != 1 {
		return false
	}
	var only ast.Expr
	switch statement := f.Body.List[0].(type) {
	case *ast.ExprStmt:
		only = statement.X
	case *ast.AssignStmt:
		only = statement.Rhs[0]
	}
	call, ok := only.(*ast.CallExpr)
	return ok && (selector(call.Fun) == "cancel" || slices.Contains([]string{"SetDeadline", "Close"}, called(call)))
}

// The test finds what it is for.
func TestUnguardedGoroutinesAreFound(t *testing.T) {
	for text, want := range map[string]bool{
		"go f()":                          false,
		"go func() { defer recover() }()": false,
		"wg.Go(f)":                        false,
		"g.Go(panics.Caught(f))":          true,
		"panics.Go(f)":                    true,
		"time.AfterFunc(d, f)":            false,
		"time.AfterFunc(d, func() { cancel(nil) })":               true,
		"context.AfterFunc(ctx, cancel)":                          true,
		"context.AfterFunc(ctx, func() { _ = c.Close() })":        true,
		"context.AfterFunc(ctx, func() { f(); _ = c.Close() })":   false,
		"t := http.Transport{DialContext: dial}":                  false,
		"t := http.Transport{DialContext: panics.Dial(dial)}":     true,
		"t.DialContext = dial":                                    false,
		"s.VerifyConnection = func() { defer panics.Into(&err) }": true,
		"c := httptrace.ClientTrace{}":                            false,
		"runtime.SetFinalizer(x, f)":                              false,
	} {
		ok := true
		for n := range ast.Preorder(statement(t, text)) {
			for _, guarded := range unguarded(n) {
				ok = ok && guarded
			}
		}
		if ok != want {
			t.Errorf("%s: recovers = %t, want %t", text, ok, want)
		}
	}
}

// statement parses the body of a function.
func statement(t *testing.T, text string) ast.Node {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "f.go", "package p\nfunc f() {\n"+text+"\n}", 0)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
