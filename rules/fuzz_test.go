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

// FuzzParse holds that nothing panics, that a file is returned,
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
		if file == nil {
			t.Fatalf("Parse() = nil, %v, want a file", errs)
		}
		rules.Check([]*rules.File{file})
		if len(errs) > 0 {
			return
		}
		var exprs []parser.Expr
		for _, g := range file.Groups {
			for _, r := range g.Rules {
				exprs = append(exprs, r.AST)
			}
		}
		rules.Retention(exprs, time.Minute)
		if !bytes.Contains(data, []byte("kind")) && !prometheusAccepts(string(data)) {
			t.Errorf("Parse() accepts what Prometheus refuses: %q", data)
		}
	})
}
