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

// FuzzParse checks that Parse does not panic, always returns a file, and rejects every file
// that Prometheus rejects, apart from Kubernetes objects.
func FuzzParse(f *testing.F) {
	for _, pattern := range []string{"testdata/*.yml", "builtin/*.yml", "../dashboards/alerts/prometheusrule.yaml"} {
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
		files, errs := rules.ParseAll("f", data, states())
		if len(files) == 0 {
			t.Fatalf("ParseAll() = none, %v, want a file", errs)
		}
		rules.Check(files)
		if len(errs) > 0 {
			return
		}
		var exprs []parser.Expr
		for _, file := range files {
			for _, g := range file.Groups {
				for _, r := range g.Rules {
					exprs = append(exprs, r.AST)
				}
			}
		}
		rules.Retention(exprs, time.Minute)
		if !bytes.Contains(data, []byte("kind")) && !prometheusAccepts(string(data)) {
			t.Errorf("ParseAll() accepts what Prometheus refuses: %q", data)
		}
	})
}
