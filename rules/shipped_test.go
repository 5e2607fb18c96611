package rules_test

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/rules"
)

func shipped(t *testing.T) []*rules.File {
	t.Helper()
	var files []*rules.File
	names, err := fs.Glob(rules.Shipped(), "*.yml")
	if err != nil || len(names) == 0 {
		t.Fatalf("Shipped() has the files %v (%v), want some", names, err)
	}
	for _, name := range names {
		data, err := fs.ReadFile(rules.Shipped(), name)
		if err != nil {
			t.Fatal(err)
		}
		f, errs := rules.Parse(name, data, states())
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		files = append(files, f)
	}
	return files
}

func TestShippedFiles(t *testing.T) {
	for _, f := range shipped(t) {
		if errs := rules.Check([]*rules.File{f}); len(errs) > 0 {
			t.Errorf("Check(%s) = %v, want no mistakes", f.Name, errs)
		}
		for _, g := range f.Groups {
			for _, r := range g.Rules {
				if r.Alert != "" && (r.State == "" || r.Annotations["summary"] == "") {
					t.Errorf("%s: rule %s has state %q and summary %q, want both", f.Name, r.Alert, r.State, r.Annotations["summary"])
				}
				// The profiles of Kuryr accept only a URL of this host for original-alive.
				local := strings.Contains(r.Expr, `dependency="original-alive"`)
				if r.State == "alive" && strings.Contains(r.Expr, "dependency") && !local {
					t.Errorf("%s: rule %s feeds alive with a dependency: %s", f.Name, r.Alert, r.Expr)
				}
			}
		}
	}
}

// A Prometheus scrapes several instances of Vitals. A rule with on (...) or by (...) would
// mix up their series, lose the instance in its alert, or have no result. Rules must use
// ignoring and without instead.
func TestShippedRulesKeepTargetsApart(t *testing.T) {
	for _, f := range shipped(t) {
		for _, g := range f.Groups {
			for _, r := range g.Rules {
				parser.Inspect(r.AST, func(n parser.Node, _ []parser.Node) error {
					switch n := n.(type) {
					case *parser.BinaryExpr:
						if m := n.VectorMatching; m != nil && m.On {
							t.Errorf("%s: rule %s matches on %q, want ignoring (...)", f.Name, r.Name(), m.MatchingLabels)
						}
					case *parser.AggregateExpr:
						if !n.Without {
							t.Errorf("%s: rule %s has %s, want it with without (...)", f.Name, r.Name(), n)
						}
					}
					return nil
				})
			}
		}
	}
}
