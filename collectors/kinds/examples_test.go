package kinds_test

import (
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"gopkg.in/yaml.v3"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/collectortest"
)

// exampleRule is the part of a rule that is compared.
type exampleRule struct {
	Alert, Expr string
}

// shape returns an expression with only the matchers of closed labels, and with its numbers apart.
func shape(t *testing.T, expr string) (text string, numbers []float64) {
	t.Helper()
	ast, err := parser.NewParser(parser.Options{}).ParseExpr(expr)
	if err != nil {
		t.Fatalf("ParseExpr(%q) = %v", expr, err)
	}
	parser.Inspect(ast, func(n parser.Node, _ []parser.Node) error {
		switch n := n.(type) {
		case *parser.NumberLiteral:
			numbers = append(numbers, n.Val)
			n.Val = 0
		case *parser.VectorSelector:
			n.LabelMatchers = slices.DeleteFunc(n.LabelMatchers, func(m *labels.Matcher) bool {
				return !slices.Contains([]string{model.MetricNameLabel, "leap", "role", "state", "status"}, m.Name)
			})
		}
		return nil
	})
	return ast.String(), numbers
}

// The rules on the page of a kind and those that "vitals generate rules" writes for it have the same
// thresholds, where they compare the same.
func TestPagesAgreeWithTheFirstRules(t *testing.T) {
	templates, err := fs.Glob(collectors.FirstRules(), "*/*.rules.yml")
	if err != nil || len(templates) == 0 {
		t.Fatalf("Glob() = %v, %v, want the files of the kinds", templates, err)
	}
	compared := 0
	for _, file := range templates {
		pages, err := filepath.Glob("../" + path.Dir(file) + "/testdata/*rules.yml")
		if err != nil {
			t.Fatal(err)
		}
		data, err := fs.ReadFile(collectors.FirstRules(), file)
		if err != nil {
			t.Fatal(err)
		}
		var template struct{ Rules []exampleRule }
		if err := yaml.Unmarshal(data, &template); err != nil {
			t.Fatal(err)
		}
		first := map[string]exampleRule{}
		for _, r := range template.Rules {
			text, _ := shape(t, strings.ReplaceAll(r.Expr, "NAME", "name"))
			first[text] = r
		}
		for _, page := range pages {
			var example struct {
				Groups []struct{ Rules []exampleRule }
			}
			if err := yaml.Unmarshal([]byte(collectortest.Read(t, page)), &example); err != nil {
				t.Fatal(err)
			}
			for _, g := range example.Groups {
				for _, r := range g.Rules {
					text, got := shape(t, r.Expr)
					same, ok := first[text]
					if !ok {
						continue
					}
					compared++
					if _, want := shape(t, strings.ReplaceAll(same.Expr, "NAME", "name")); fmt.Sprint(got) != fmt.Sprint(want) {
						t.Errorf("%s: %s compares with %v, want %v as %s in %s:\n%s", page, r.Alert, got, want, same.Alert, file, r.Expr)
					}
				}
			}
		}
	}
	if compared < 20 {
		t.Errorf("%d rules are compared, want at least 20", compared)
	}
}
