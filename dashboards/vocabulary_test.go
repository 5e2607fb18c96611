package dashboards_test

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

// metric is an entry of docs/reference/metrics.md. Other tests compare that page with the program.
type metric struct {
	counter bool
	labels  []string
}

// vocabulary returns all metrics that a dashboard can query.
func vocabulary(t *testing.T) map[string]metric {
	t.Helper()
	page, err := os.ReadFile("../docs/reference/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	component := metric{labels: []string{"component"}}
	known := map[string]metric{
		// The series that Prometheus adds.
		"up":     {},
		"ALERTS": {labels: []string{"alertname", "alertstate", "state", "severity"}},
		// The metrics of every program with Prometheus' Go client. Those of a target that Vitals
		// scrapes have the label component.
		"process_resident_memory_bytes": component, "process_open_fds": component, "process_max_fds": component,
		"process_start_time_seconds": component, "go_goroutines": component, "go_memstats_heap_inuse_bytes": component,
		"process_cpu_seconds_total": {counter: true, labels: component.labels},
		"go_gc_duration_seconds":    {labels: []string{"quantile", "component"}},
		// The metrics of the CNI daemon that the profile kuryr-cni scrapes.
		"kuryr_cni_request_duration_seconds_count":  {counter: true, labels: []string{"command", "error", "component"}},
		"kuryr_cni_request_duration_seconds_bucket": {counter: true, labels: []string{"command", "error", "component", "le"}},
	}
	row := regexp.MustCompile("(?m)^\\| `(vitals_\\w+)` \\| (\\w+) \\| (.*?) \\|")
	for _, m := range row.FindAllStringSubmatch(string(page), -1) {
		found := metric{counter: m[2] == "counter"}
		for _, l := range regexp.MustCompile("`(\\w+)`").FindAllStringSubmatch(m[3], -1) {
			found.labels = append(found.labels, l[1])
		}
		known[m[1]] = found
	}
	if len(known) < 100 || !slices.Contains(known["vitals_rule_status"].labels, "status") {
		t.Fatalf("docs/reference/metrics.md has %d metrics, want the tables of all", len(known))
	}
	return known
}

// selected returns the metrics that a selector can match: the one that it names, or all that
// its regular expression matches.
func selected(known map[string]metric, s *parser.VectorSelector) []string {
	if s.Name != "" {
		return []string{s.Name}
	}
	var names []string
	for _, m := range s.LabelMatchers {
		if m.Name != model.MetricNameLabel {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(known)) {
			if m.Matches(name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// Queries use only metrics and labels that Vitals exports, only of the chosen targets, and
// counters only by their rate.
func TestQueriesUseWhatIsExported(t *testing.T) {
	known := vocabulary(t)
	for _, d := range loadDashboards(t) {
		d.queries(func(where, expr string, _ *panel, _ *target) {
			ast := parse(t, expr)
			has := map[string]bool{"job": true, "instance": true, "namespace": true, "pod": true, model.MetricNameLabel: true}
			parser.Inspect(ast, func(n parser.Node, path []parser.Node) error {
				if a, ok := n.(*parser.AggregateExpr); ok && a.Op == parser.COUNT_VALUES {
					has[a.Param.(*parser.StringLiteral).Val] = true
				}
				if c, ok := n.(*parser.Call); ok && (c.Func.Name == "label_join" || c.Func.Name == "label_replace") {
					has[c.Args[1].(*parser.StringLiteral).Val] = true
				}
				s, ok := n.(*parser.VectorSelector)
				if !ok {
					return nil
				}
				names := selected(known, s)
				if len(names) == 0 {
					t.Errorf("%s: %s selects no metric", where, s)
				}
				for _, name := range names {
					m, ok := known[name]
					if !ok {
						t.Errorf("%s: %s is not exported", where, name)
					}
					for _, l := range m.labels {
						has[l] = true
					}
					if m.counter {
						checkRate(t, where, name, path)
					}
				}
				checkMatchers(t, where, s, known, names)
				return nil
			})
			for _, l := range grouping(ast) {
				if !has[l] {
					t.Errorf("%s: no metric in it has the label %s", where, l)
				}
			}
		})
	}
}

// Queries about the process of Vitals leave out the metrics of the same names that Vitals exports
// of the targets that it scrapes.
func TestQueriesAboutTheProcess(t *testing.T) {
	found := 0
	for _, d := range loadDashboards(t) {
		d.queries(func(where, expr string, _ *panel, _ *target) {
			parser.Inspect(parse(t, expr), func(n parser.Node, _ []parser.Node) error {
				s, ok := n.(*parser.VectorSelector)
				if !ok || !strings.HasPrefix(s.Name, "process_") && !strings.HasPrefix(s.Name, "go_") {
					return nil
				}
				found++
				if !slices.ContainsFunc(s.LabelMatchers, func(m *labels.Matcher) bool { return m.Name == "component" && m.Matches("") && !m.Matches("target") }) {
					t.Errorf("%s: %s selects the metrics of scraped targets, too", where, s)
				}
				return nil
			})
		})
	}
	if found == 0 {
		t.Error("no query is about the process")
	}
}

// Variables offer the values of labels that are exported.
func TestVariablesOfferWhatIsExported(t *testing.T) {
	known := vocabulary(t)
	question := regexp.MustCompile(`^label_values\((.+), (\w+)\)$`)
	for _, d := range loadDashboards(t) {
		for _, v := range d.Templating.List[1:] {
			where := d.file + ": variable " + v.Name
			query, _ := v.Query.(map[string]any)
			text, _ := query["query"].(string)
			m := question.FindStringSubmatch(text)
			if m == nil || m[2] != v.Name || text != v.Definition {
				t.Errorf("%s: query %q (definition %q), want the values of its label", where, text, v.Definition)
				continue
			}
			s, ok := parse(t, m[1]).(*parser.VectorSelector)
			if !ok {
				t.Fatalf("%s: %s is no selector", where, m[1])
			}
			if _, ok := known[s.Name]; !ok || !slices.Contains([]string{"job", "namespace", "pod", "instance"}, m[2]) && !slices.Contains(known[s.Name].labels, m[2]) {
				t.Errorf("%s: %s with the label %s is not exported", where, s.Name, m[2])
			}
		}
	}
}

// checkMatchers checks that a selector has the matchers of the chosen job and instance, and
// only labels of the metrics.
func checkMatchers(t *testing.T, where string, s *parser.VectorSelector, known map[string]metric, names []string) {
	t.Helper()
	chosen := 0
	for _, m := range s.LabelMatchers {
		switch m.Name {
		case model.MetricNameLabel:
		case "job", "instance":
			if m.Type == labels.MatchRegexp && m.Value == ".+" {
				chosen++
			}
		case "namespace", "pod":
			if m.Type == labels.MatchRegexp && m.Value == ".*" {
				chosen++
			}
		default:
			for _, name := range names {
				if !slices.Contains(known[name].labels, m.Name) {
					t.Errorf("%s: %s has no label %s", where, name, m.Name)
				}
			}
		}
	}
	if chosen != 4 {
		t.Errorf(`%s: %s lacks the matchers of the chosen targets`, where, s)
	}
}

// checkRate checks that a counter is within rate or increase over $__rate_interval or $__range. path has
// the nodes above its selector.
func checkRate(t *testing.T, where, name string, path []parser.Node) {
	t.Helper()
	want, err := time.ParseDuration(rateInterval)
	if err != nil {
		t.Fatal(err)
	}
	if len(path) < 2 {
		t.Errorf("%s: the counter %s is used directly, want its rate", where, name)
		return
	}
	matrix, ok := path[len(path)-1].(*parser.MatrixSelector)
	if whole, err := time.ParseDuration(shownRange); !ok || err != nil || matrix.Range != want && matrix.Range != whole {
		t.Errorf("%s: the counter %s not over $__rate_interval or $__range", where, name)
		return
	}
	for _, n := range path {
		if call, ok := n.(*parser.Call); ok && slices.Contains([]string{"rate", "increase"}, call.Func.Name) {
			return
		}
	}
	t.Errorf("%s: the counter %s without rate or increase", where, name)
}

// grouping returns the labels by which an expression groups and matches.
func grouping(ast parser.Expr) []string {
	var names []string
	parser.Inspect(ast, func(n parser.Node, _ []parser.Node) error {
		switch e := n.(type) {
		case *parser.AggregateExpr:
			names = append(names, e.Grouping...)
		case *parser.BinaryExpr:
			if e.VectorMatching != nil {
				names = append(append(names, e.VectorMatching.MatchingLabels...), e.VectorMatching.Include...)
			}
		}
		return nil
	})
	return names
}

// Legends are labels that the results have.
func TestLegendsAreLabels(t *testing.T) {
	label := regexp.MustCompile(`\{\{(\w+)\}\}`)
	for _, d := range loadDashboards(t) {
		d.queries(func(where, expr string, p *panel, q *target) {
			if p == nil {
				return
			}
			kept, ok := keptLabels(parse(t, expr))
			for _, m := range label.FindAllStringSubmatch(q.LegendFormat, -1) {
				if ok && !slices.Contains(kept, m[1]) {
					t.Errorf("%s: shows the label %s, and the query keeps %v", where, m[1], kept)
				}
			}
		})
	}
}

// A table has a column for each label of its queries, and a query for each column.
func TestColumnsAreLabels(t *testing.T) {
	for _, d := range loadDashboards(t) {
		for _, p := range d.Panels {
			if p.Type != "table" {
				continue
			}
			where := d.file + ": " + p.Title
			all := map[string]bool{}
			for _, q := range p.Targets {
				kept, ok := keptLabels(parse(t, q.Expr))
				if !ok {
					t.Errorf("%s: query %s has no aggregation that lists its labels", where, q.RefID)
				}
				for _, l := range kept {
					all[l] = true
				}
			}
			got, want := slices.Sorted(maps.Keys(all)), columnsOf(t, where, p)
			if !slices.Equal(got, want) {
				t.Errorf("%s: the queries have the labels %v, the columns are %v", where, got, want)
			}
			// If only one of several queries has a result, Grafana names its values differently.
			if names := renamed(p); len(p.Targets) > 1 && (names["Value"] == "" || names["Value"] != names["Value #A"]) {
				t.Errorf("%s: Value is called %q and Value #A %q, want the same", where, names["Value"], names["Value #A"])
			}
		}
	}
}

// renamed returns the titles of a table's fields.
func renamed(p panel) map[string]string {
	for _, tr := range p.Transformations {
		if tr.ID == "organize" {
			return tr.Options.RenameByName
		}
	}
	return nil
}

// columnsOf returns the labels that are columns of a table.
func columnsOf(t *testing.T, where string, p panel) []string {
	t.Helper()
	for _, tr := range p.Transformations {
		if tr.ID == "organize" {
			var names []string
			for name := range tr.Options.IndexByName {
				if !strings.HasPrefix(name, "Value") {
					names = append(names, name)
				}
			}
			slices.Sort(names)
			return names
		}
	}
	t.Errorf("%s: no order of the columns", where)
	return nil
}

// keptLabels returns the labels that the result of an aggregation can have, and false for
// other expressions.
func keptLabels(e parser.Expr) ([]string, bool) {
	switch e := e.(type) {
	case *parser.ParenExpr:
		return keptLabels(e.Expr)
	case *parser.AggregateExpr:
		if e.Op == parser.COUNT_VALUES {
			return append([]string{e.Param.(*parser.StringLiteral).Val}, e.Grouping...), !e.Without
		}
		return e.Grouping, !e.Without
	case *parser.Call: // such as round
		return keptLabels(e.Args[0])
	case *parser.BinaryExpr:
		kept, ok := keptLabels(e.LHS)
		if !ok {
			return keptLabels(e.RHS)
		}
		if e.VectorMatching != nil {
			kept = append(slices.Clone(kept), e.VectorMatching.Include...)
		}
		return kept, true
	}
	return nil, false
}
