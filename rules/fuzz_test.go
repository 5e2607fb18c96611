package rules_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/rules"
)

// FuzzParse holds that nothing panics, that a file is returned or mistakes are,
// and that nothing is accepted that Prometheus refuses, Kubernetes objects apart.
func FuzzParse(f *testing.F) {
	for _, pattern := range []string{"testdata/*.yml", "builtin/*.yml"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, errs := rules.Parse("f", data, states())
		if (file == nil) != (len(errs) > 0) {
			t.Fatalf("Parse() = %v, %v, want one of them", file, errs)
		}
		if file == nil {
			return
		}
		rules.Check([]*rules.File{file})
		var exprs []parser.Expr
		for _, g := range file.Groups {
			for _, r := range g.Rules {
				exprs = append(exprs, r.AST)
			}
		}
		rules.Retention(exprs, time.Minute)
		if !bytes.Contains(data, []byte("spec")) && !prometheusAccepts(string(data)) {
			t.Errorf("Parse() accepts what Prometheus refuses: %q", data)
		}
	})
}
