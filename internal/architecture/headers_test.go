package architecture_test

import (
	"go/ast"
	"testing"
)

// clients are the functions of libraries that make a transport without a bound for headers, by the only
// files that call them, and what bounds the headers there.
func clients() map[string]map[string]string {
	return map[string]map[string]string{
		"rest.TransportFor": {"collectors/kubernetes/client.go": "boundHeaders, as kubernetes.TestDependencyFaults tests"},
		"config.NewClientFromConfig": {
			"internal/alertmanager/client.go": "the connection, as alertmanager.TestBrokenAlertmanagers tests",
			"internal/client/daemon.go":       "the default of net/http, 10 MiB: the process is a command, whose answers may have 16 MiB",
		},
		// None has a use: each would make a transport, or use the default one.
		"config.NewRoundTripperFromConfig": nil, "config.NewRoundTripperFromConfigWithContext": nil,
		"rest.HTTPClientFor": nil, "rest.RESTClientFor": nil, "rest.UnversionedRESTClientFor": nil,
		"openstack.NewClient": nil, "openstack.AuthenticatedClient": nil, "grpc.NewClient": nil, "grpc.Dial": nil,
		"http.DefaultTransport": nil, "http.DefaultClient": nil,
		"http.Get": nil, "http.Head": nil, "http.Post": nil, "http.PostForm": nil,
	}
}

// A server decides how many headers it sends, and net/http reads up to 10 MiB of them.
func TestResponseHeadersAreBounded(t *testing.T) {
	transports, uses := 0, map[string]int{}
	for _, s := range program(t) {
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CompositeLit:
				missing := map[string]string{"http.Transport": "MaxResponseHeaderBytes", "http.Client": "Transport"}[selected(n.Type)]
				if missing == "" {
					break
				}
				transports++
				if !hasKey(n, missing) {
					t.Errorf("%s makes %s without %s, want a bound for headers", s.at(n), selected(n.Type), missing)
				}
			case *ast.CallExpr:
				if f, ok := n.Fun.(*ast.Ident); ok && f.Name == "new" && (selected(n.Args[0]) == "http.Transport" || selected(n.Args[0]) == "http.Client") {
					t.Errorf("%s makes %s without a bound for headers", s.at(n), selected(n.Args[0]))
				}
			case *ast.SelectorExpr:
				homes, known := clients()[selected(n)]
				if _, ok := homes[s.path]; known && !ok {
					t.Errorf("%s uses %s, which has no bound for headers", s.at(n), selected(n))
				} else if known {
					uses[selected(n)+s.path]++
				}
			}
			return true
		})
	}
	if transports < 10 {
		t.Errorf("%d transports and clients found, want those of all kinds", transports)
	}
	for name, homes := range clients() {
		for path := range homes {
			if uses[name+path] == 0 {
				t.Errorf("clients() has %s in %s, want only uses that exist", name, path)
			}
		}
	}
}

// selected returns the text of an expression such as http.Client, or "".
func selected(e ast.Expr) string {
	if s, ok := e.(*ast.SelectorExpr); ok {
		if of, ok := s.X.(*ast.Ident); ok {
			return of.Name + "." + s.Sel.Name
		}
	}
	return ""
}

// hasKey reports whether a composite literal sets a field.
func hasKey(of *ast.CompositeLit, name string) bool {
	for _, e := range of.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			if key, ok := kv.Key.(*ast.Ident); ok && key.Name == name {
				return true
			}
		}
	}
	return false
}
