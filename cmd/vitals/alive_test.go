package main

import (
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/config"
	"github.com/vitals-health/vitals/rules"
)

// externalMetrics are the names of the metrics that external collectors export.
func externalMetrics(t *testing.T) []string {
	t.Helper()
	var names []string
	for _, s := range newExhibit(t).sources {
		if !s.External {
			continue
		}
		for _, d := range s.Collector.Describe() {
			names = append(names, d.Name)
		}
	}
	if !slices.Contains(names, "vitals_dependency_up") || !slices.Contains(names, "vitals_kubernetes_watch_connected") {
		t.Fatalf("external collectors export %v, want their metrics about dependencies among them", names)
	}
	return names
}

// matchesOutside returns why a selector may match something outside of this host, or "".
// Metrics of Vitals about its collectors and rules depend on what those measured. The
// collector original-alive is on this host: --set original accepts nothing else.
func matchesOutside(s *parser.VectorSelector, external []string) string {
	if slices.ContainsFunc(s.LabelMatchers, func(m *labels.Matcher) bool { return m.String() == `dependency="original-alive"` }) {
		return ""
	}
	for _, m := range s.LabelMatchers {
		if m.Name != model.MetricNameLabel {
			continue
		}
		if m.Type != labels.MatchEqual {
			return "any metric"
		}
		own := func(prefix string) bool { return strings.HasPrefix(m.Value, prefix) }
		if slices.Contains(external, m.Value) || slices.ContainsFunc([]string{"vitals_collector_", "vitals_rule_", "vitals_state", "ALERTS"}, own) {
			return m.Value
		}
		return ""
	}
	return "any metric"
}

// No shipped rule of alive depends on anything outside this host.
func TestShippedAliveRulesUseNoExternalCollector(t *testing.T) {
	external := externalMetrics(t)
	p := parser.NewParser(parser.Options{})
	alive := 0
	for _, f := range shippedRuleFiles(t) {
		for _, g := range f.Groups {
			for _, r := range g.Rules {
				// What is recorded may be read by any rule.
				if r.State != evaluator.Alive && r.Record == "" {
					continue
				}
				alive++
				expr, err := p.ParseExpr(r.Expr)
				if err != nil {
					t.Fatal(err)
				}
				parser.Inspect(expr, func(n parser.Node, _ []parser.Node) error {
					if s, ok := n.(*parser.VectorSelector); ok {
						if what := matchesOutside(s, external); what != "" {
							t.Errorf("%s: %s feeds alive and matches %s", f.Name, r.Alert+r.Record, what)
						}
					}
					return nil
				})
			}
		}
	}
	if alive < 3 {
		t.Errorf("%d shipped rules feed alive, want those of every profile", alive)
	}
}

func TestMatchesOutside(t *testing.T) {
	external := []string{"vitals_dependency_up"}
	for expr, want := range map[string]string{
		`vitals_dependency_up{dependency="kubernetes"}`:     "vitals_dependency_up",
		`vitals_collector_success`:                          "vitals_collector_success",
		`vitals_rule_status{state="ready"}`:                 "vitals_rule_status",
		`{__name__=~"vitals_.*"}`:                           "any metric",
		`{dependency="kubernetes"}`:                         "any metric",
		`vitals_netlink_up`:                                 "",
		`vitals_dependency_up{dependency="original-alive"}`: "",
	} {
		node, err := parser.NewParser(parser.Options{}).ParseExpr(expr)
		if err != nil {
			t.Fatal(err)
		}
		s, ok := node.(*parser.VectorSelector)
		if !ok {
			t.Fatalf("%s is a %T, want a selector", expr, node)
		}
		if got := matchesOutside(s, external); got != want {
			t.Errorf("matchesOutside(%s) = %q, want %q", expr, got, want)
		}
	}
}

// shippedRuleFiles are all rule files inside the program.
func shippedRuleFiles(t *testing.T) []*rules.File {
	t.Helper()
	var files []*rules.File
	for _, name := range config.ShippedRules() {
		name = strings.TrimPrefix(name, config.BuiltinPrefix)
		data, err := fs.ReadFile(rules.Shipped(), name+".yml")
		if err != nil {
			t.Fatal(err)
		}
		f, errs := rules.Parse(name, data, []string{evaluator.Ready, evaluator.Alive, evaluator.Started})
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		files = append(files, f)
	}
	return files
}
