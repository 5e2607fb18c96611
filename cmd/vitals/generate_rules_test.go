package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/kinds"
	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/config"
	"github.com/vitals-health/vitals/internal/firstrules"
	"github.com/vitals-health/vitals/internal/promexpr"
	"github.com/vitals-health/vitals/internal/rulecheck"
	"github.com/vitals-health/vitals/internal/schema"
	"github.com/vitals-health/vitals/rules"
	"github.com/vitals-health/vitals/rules/lint"
)

// catalogConfigs returns the configurations in testdata/catalog.txtar of the kinds, as blocks.
// Each kind has at least one.
func catalogConfigs(t *testing.T) map[string][]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(docsRoot, "collectors/*/testdata/catalog.txtar"))
	if err != nil || files == nil {
		t.Fatalf("Glob = %v, %v, want the catalogs of the kinds", files, err)
	}
	blocks := map[string][]string{}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range archive.Files {
			if kind, block, ok := strings.Cut(f.Name, " "); ok {
				blocks[kind] = append(blocks[kind], block)
			}
		}
	}
	return blocks
}

// succeed runs a command, which must end with 0, without findings and without errors.
func succeed(t *testing.T, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	if code := run(args, &out, &errs); code != exitOK || errs.Len() > 0 || strings.Contains(out.String(), "cure:") {
		t.Errorf("vitals %s = %d, want 0 without findings:\n%s%s", strings.Join(args, " "), code, out.String(), errs.String())
	}
	return out.String()
}

// A configuration with one collector, of any kind and with any of the configurations of its
// catalog, gets rules that pass every check and their own tests. Then nothing is missing.
func TestFirstRulesOfEveryKind(t *testing.T) {
	blocks := catalogConfigs(t)
	for _, kind := range kinds.Names() {
		t.Run(kind, func(t *testing.T) {
			written := 0
			for i, block := range blocks[kind] {
				written += firstRulesOf(t, fmt.Sprintf("%s-%d", kind, i), kind, block)
			}
			if written == 0 {
				t.Errorf("vitals generate rules has no rule for the kind %[1]s: add a file %[1]s.rules.yml to its folder below collectors, such as collectors/ntp/ntp.rules.yml, or export vitals_dependency_up", kind)
			}
		})
	}
}

// firstRulesOf generates, checks and tests the rules of one collector. It returns how many there
// are.
func firstRulesOf(t *testing.T, name, kind, block string) int {
	t.Helper()
	t.Chdir(t.TempDir())
	const config = "collectors:\n  - name: %s\n    %s: %s\n%s"
	uses := ""
	k := kinds.New(kind)
	collectortest.Decode(t, block, k)
	for _, other := range k.Uses() {
		uses += "  - name: " + other + "\n    keystone: {cloud: mycloud}\n"
	}
	text := fmt.Sprintf(config, name, kind, block, uses)
	writeFile(t, "vitals.yml", text)
	out := succeed(t, "generate", "rules", "--config.file=vitals.yml")
	if !strings.Contains(out, name+" ("+kind+"): ") {
		t.Errorf("vitals generate rules has no rule for %s with %s:\n%s", kind, block, out)
		return 0
	}
	writeFile(t, "vitals.yml", "rule_files: ["+generatedRules+"]\n"+text)
	succeed(t, "check", "config", "--syntax-only", "vitals.yml")
	succeed(t, "check", "rules", "--config.file=vitals.yml", generatedRules)
	succeed(t, "test", "rules", generatedTests)
	exportable(t, "vitals.yml")
	succeed(t, "generate", "rules", "--config.file=vitals.yml", "--check")
	data, err := os.ReadFile(generatedRules)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(data), schema.Modeline(schema.RulesName)+"\n") {
		t.Errorf("%s begins without the address of its schema:\n%s", generatedRules, data)
	}
	for _, state := range []string{"alive", "started"} {
		if k.External() && strings.Contains(string(data), "{state: "+state) {
			t.Errorf("the rules of the external kind %s use the state %s:\n%s", kind, state, data)
		}
	}
	return strings.Count(string(data), "- alert: ")
}

// exportable tests that the series with which the generated rules fail in their tests, and all that
// the rules select, are series that the collectors of the configuration can export.
func exportable(t *testing.T, path string) {
	t.Helper()
	l, errs := config.LoadFile(path)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	data, err := os.ReadFile(generatedTests)
	if err != nil {
		t.Fatal(err)
	}
	metrics := rulecheck.Vocabulary(l).Metrics
	for _, found := range regexp.MustCompile(`\{series: '(.+?)', values:`).FindAllSubmatch(data, -1) {
		expr, err := promexpr.Parse(string(found[1]))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(metrics, func(m lint.Metric) bool {
			names := map[string]bool{model.MetricNameLabel: true}
			for label, values := range m.Labels {
				names[label] = label != "namespace" && !slices.Contains(values, "") // a test has no namespace, and a watch may have one
			}
			for _, by := range expr.(*parser.VectorSelector).LabelMatchers {
				if _, ok := names[by.Name]; !ok {
					return false
				}
				delete(names, by.Name)
			}
			return m.Name == expr.(*parser.VectorSelector).Name && !slices.Contains(slices.Collect(maps.Values(names)), true)
		}) {
			t.Errorf("a rule fails in its test because of %s, which no collector exports with these labels", found[1])
		}
	}
	for _, s := range selectorsOf(l.Rules) {
		if !slices.ContainsFunc(metrics, func(m lint.Metric) bool { return m.Matches(s.LabelMatchers) }) {
			t.Errorf("a rule selects %s, which no collector exports", s)
		}
	}
}

// selectorsOf returns the selectors of all rules in the files.
func selectorsOf(files []*rules.File) (all []*parser.VectorSelector) {
	for _, f := range files {
		for _, g := range f.Groups {
			for _, r := range g.Rules {
				parser.Inspect(r.AST, func(n parser.Node, _ []parser.Node) error {
					if s, ok := n.(*parser.VectorSelector); ok {
						all = append(all, s)
					}
					return nil
				})
			}
		}
	}
	return all
}

// What the rules of each kind select is there when a collector of the kind measures something,
// unless it is declared as absent now and then.
func TestFirstRulesSelectWhatIsMeasured(t *testing.T) {
	e := newExhibit(t)
	made, err := firstrules.Make(e.loaded.Config.Collectors, nil, firstrules.Options{RulesName: generatedRules})
	if err != nil {
		t.Fatal(err)
	}
	file, errs := rules.Parse("rules.yml", made.Rules, []string{evaluator.Ready, evaluator.Alive})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	samples, metrics := samplesOf(t, e), rulecheck.Vocabulary(e.loaded).Metrics
	selected, there := selectorsOf([]*rules.File{file}), 0
	for _, s := range selected {
		is := slices.ContainsFunc(samples, func(m measured) bool {
			return !slices.ContainsFunc(s.LabelMatchers, func(by *labels.Matcher) bool {
				return by.Name == model.MetricNameLabel && by.Value != m.name || by.Name != model.MetricNameLabel && !by.Matches(m.labels[by.Name])
			})
		})
		if is {
			there++
		} else if !slices.ContainsFunc(metrics, func(m lint.Metric) bool { return m.Vanishes && m.Matches(s.LabelMatchers) }) {
			t.Errorf("a rule selects %s, which no collector exports although all is well", s)
		}
	}
	if there < len(selected)*3/4 {
		t.Errorf("%d of %d selectors match a series, want at least three of four", there, len(selected))
	}
}

// A rule of one's own for a collector is enough: it gets no others. A warning, an observed rule
// and a rule without a state are not.
func TestFirstRulesOfJudgedCollectors(t *testing.T) {
	const config = "rule_files: [own.yml]\ncollectors:\n  - {name: web, http: {url: 'http://127.0.0.1/'}}\n"
	const own = "groups:\n  - name: own\n    rules:\n      - alert: WebDown\n        expr: %s\n        labels: {%s}\n        annotations: {summary: It is down., %s}\n"
	for _, test := range []struct {
		name, expr, labels, annotations string
		enough                          bool
	}{
		{"by name", `vitals_dependency_up{dependency="web"} == 0`, "state: ready", "x: y", true},
		{"all dependencies", `vitals_dependency_up == 0`, "state: ready", "x: y", true},
		{"another metric", `vitals_http_status_code{dependency=~"w.*"} != 200`, "state: ready", "x: y", true},
		{"another collector", `vitals_dependency_up{dependency="other"} == 0`, "state: ready", "x: y", false},
		{"a warning of the same expression", `vitals_dependency_up{dependency="web"} == 0`, "state: ready, severity: warning", "x: y", false},
		{"an observed rule of the same expression", `vitals_dependency_up{dependency="web"} == 0`, "state: ready", "mode: observe", false},
		{"a warning", `vitals_dependency_up == 0`, "state: ready, severity: warning", "x: y", false},
		{"an observed rule", `vitals_dependency_up == 0`, "state: ready", "mode: observe", false},
		{"an ordinary alert", `vitals_dependency_up == 0`, "severity: critical", "x: y", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			writeFile(t, "vitals.yml", config)
			writeFile(t, "own.yml", fmt.Sprintf(own, test.expr, test.labels, test.annotations))
			out := succeed(t, "generate", "rules", "--config.file=vitals.yml")
			_, err := os.Stat(generatedRules)
			if enough := os.IsNotExist(err); enough != test.enough || enough != strings.Contains(out, "rules judge every collector") {
				t.Errorf("vitals generate rules prints\n%s\nand writes a file: %t, want %t", out, !enough, !test.enough)
			}
			if data, err := os.ReadFile(generatedRules); err == nil && !strings.Contains(string(data), "- alert: Web2Down\n") {
				t.Errorf("the rules are\n%s\nwant Web2Down: WebDown is in use", data)
			}
		})
	}
}

// A PostgreSQL without free connections is down because of that: the reason comes first, and the
// failure is its consequence.
func TestFirstRulesOfAFullPostgreSQL(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "vitals.yml", "collectors:\n  - {name: postgres, postgres: {address: '127.0.0.1:5432'}}\n")
	out := succeed(t, "generate", "rules", "--config.file=vitals.yml")
	if strings.Count(out, "PostgresDown") != 1 {
		t.Errorf("vitals generate rules prints\n%s\nwant PostgresDown once", out)
	}
	const test = `rule_files: [generated-rules.yml]
evaluation_interval: 10s
tests:
  - interval: 10s
    input_series:
      - {series: 'vitals_dependency_up{dependency="postgres"}', values: '1x10 0x20'}
      - {series: 'vitals_dependency_failure{dependency="postgres", reason="too_many_connections"}', values: '0x10 %s'}
    state_test:
      - {eval_time: 100s, state: ready, verdict: pass}
      - {eval_time: 3m, state: ready, verdict: fail, deciding: [%s]}
`
	for values, deciding := range map[string]string{"1x20": "PostgresFull, PostgresDown", "0x20": "PostgresDown"} {
		writeFile(t, "full_test.yml", fmt.Sprintf(test, values, deciding))
		succeed(t, "test", "rules", "full_test.yml")
	}
}
