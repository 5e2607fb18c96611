package rules_test

import (
	"io/fs"
	"strings"
	"testing"

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
				if r.State == "alive" && strings.Contains(r.Expr, "dependency") {
					t.Errorf("%s: rule %s feeds alive with a dependency: %s", f.Name, r.Alert, r.Expr)
				}
			}
		}
	}
}
