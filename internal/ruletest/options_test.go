package ruletest_test

import (
	"context"
	"encoding/xml"
	"errors"
	"io"
	"io/fs"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vitals-health/vitals/internal/ruletest"
)

// written runs test files from memory. Rule files have to exist on disk, because patterns
// match files.
func written(t *testing.T, files map[string]string, opts ruletest.Options) *ruletest.Report {
	t.Helper()
	opts.ReadFile = func(name string) ([]byte, error) {
		if text, ok := files[name]; ok {
			return []byte(text), nil
		}
		return nil, fs.ErrNotExist
	}
	return ruletest.Run(t.Context(), "test.yml", opts)
}

func names(r *ruletest.Report) []string {
	var all []string
	for _, t := range r.Tests {
		all = append(all, t.Name)
	}
	return all
}

func TestOnly(t *testing.T) {
	for pattern, want := range map[string][]string{
		"hold":                 {"hold"},
		`vanishing\.yml/.*g$`:  {"missing"},
		"^testdata/v.*/stale$": {"stale"},
		"nothing":              nil,
	} {
		r := ruletest.Run(t.Context(), "testdata/vanishing.yml", ruletest.Options{Only: regexp.MustCompile(pattern)})
		if diff := cmp.Diff(want, names(r)); diff != "" {
			t.Errorf("tests that ran with %q (-want +got):\n%s", pattern, diff)
		}
	}
}

func TestStatesOfTheOptions(t *testing.T) {
	const text = "rule_files: [testdata/rules/gold.yml]\ntests: [{state_test: [{eval_time: 0, state: gold, verdict: fail, unknown: [NotGold]}]}]\n"
	opts := ruletest.Options{States: []string{"gold"}}
	files := map[string]string{"test.yml": text, "testdata/rules/gold.yml": "groups: [{name: g, rules: [{alert: NotGold, expr: carat < 24, labels: {state: gold}}]}]"}
	if r := written(t, files, opts); outcome(r) != "pass" {
		t.Errorf("with the state gold: %s", output(r))
	}
	if r := written(t, files, ruletest.Options{}); outcome(r) != "mistake" {
		t.Errorf("without the state gold: %s", output(r))
	}
	files["test.yml"] += "states: {gold: {no_data: pass}}\n"
	if r := written(t, files, opts); outcome(r) != "fail" {
		t.Errorf("the file sets no_data, got: %s", output(r))
	}
}

func TestUnreadableFiles(t *testing.T) {
	r := written(t, nil, ruletest.Options{})
	if len(r.Mistakes) != 1 || !errors.Is(r.Mistakes[0], fs.ErrNotExist) || !strings.HasPrefix(r.Mistakes[0].Error(), "test.yml: ") {
		t.Errorf("Mistakes = %v, want that test.yml does not exist", r.Mistakes)
	}
	r = written(t, map[string]string{"test.yml": "rule_files: [testdata/rules/gold.yml]"}, ruletest.Options{})
	if len(r.Mistakes) != 1 || !strings.HasPrefix(r.Mistakes[0].Error(), "testdata/rules/gold.yml: ") {
		t.Errorf("Mistakes = %v, want that the rule file does not exist", r.Mistakes)
	}
}

// Shipped rule files are named as in a configuration.
func TestShippedRules(t *testing.T) {
	r := written(t, map[string]string{"test.yml": `
rule_files: ['builtin:kuryr-controller']
tests:
  - interval: 1m
    input_series: [{series: 'vitals_dependency_up{dependency="keystone"}', values: '1 0 0'}]
    state_test: [{eval_time: 2m, state: ready, rules: {KeystoneDown: failing, NeutronDown: unknown}}]
`}, ruletest.Options{})
	if outcome(r) != "pass" {
		t.Error(output(r))
	}
}

func TestTimeline(t *testing.T) {
	r := ruletest.Run(t.Context(), "testdata/restarts.yml", ruletest.Options{Timeline: true, Only: regexp.MustCompile("for is lost")})
	want := []string{
		"      0s  rule ApiDown ok",
		"      0s  rule QuotaGone ok",
		"      0s  rule QuotaLow ok",
		`      0s  rule MemoryHigh pending: {severity="critical", state="alive"} = 200`,
		"      0s  state ready ok",
		"      0s  state alive ok",
		"      0s  state started ok",
		`      1m  rule ApiDown pending: {dependency="api", severity="critical", state="ready"} = 0`,
		"      2m  rule QuotaGone unknown: no data for quota_free",
		"      2m  rule QuotaLow unknown: no data for quota_free",
		"   2m30s  restart",
		"      3m  state ready unknown: ApiDown, QuotaGone",
		"      4m  restart",
		`      6m  rule ApiDown failing: {dependency="api", severity="critical", state="ready"} = 0`,
		"      6m  state ready failing: ApiDown, QuotaGone",
		`      7m  rule MemoryHigh failing: {severity="critical", state="alive"} = 200`,
		"      7m  state alive failing: MemoryHigh",
	}
	if diff := cmp.Diff(want, r.Tests[0].Timeline); diff != "" {
		t.Errorf("Timeline (-want +got):\n%s", diff)
	}
	if text := output(r); !strings.Contains(text, "  test \"for is lost\":\n        0s  rule ApiDown ok\n") {
		t.Errorf("the report has no timeline:\n%s", text)
	}
}

func TestTestsEndWithTheirContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := ruletest.Run(ctx, "testdata/restarts.yml", ruletest.Options{})
	if r.Failed() != 2 || !strings.Contains(r.Tests[0].Failures[0].Text, "context canceled") {
		t.Errorf("the report is\n%s, want both tests to fail as canceled", output(r))
	}
}

func TestJUnit(t *testing.T) {
	var reports []*ruletest.Report
	for _, name := range []string{"testdata/wrong_samples.yml", "testdata/vanishing.yml", "testdata/unknown_key.yml"} {
		reports = append(reports, ruletest.Run(t.Context(), name, ruletest.Options{}))
	}
	var b strings.Builder
	if err := ruletest.WriteJUnit(&b, reports); err != nil {
		t.Fatal(err)
	}
	const want = `<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="6" failures="1" errors="1">
  <testsuite name="testdata/wrong_samples.yml" tests="1" failures="1" errors="0">
    <testcase name="samples" classname="testdata/wrong_samples.yml">
      <failure message="testdata/wrong_samples.yml:10:9: expr &#34;m&#34; at 0s">- {__name__=&#34;m&#34;, a=&#34;1&#34;, b=&#34;x&#34;} 2&#xA;+ {__name__=&#34;m&#34;, a=&#34;1&#34;, b=&#34;x&#34;} 1&#xA;  {__name__=&#34;m&#34;, a=&#34;2&#34;, b=&#34;x&#34;} 2&#xA;- {__name__=&#34;m&#34;, a=&#34;4&#34;, b=&#34;x&#34;} 4&#xA;+ {__name__=&#34;m&#34;, a=&#34;3&#34;, b=&#34;x&#34;} 3</failure>
      <failure message="testdata/wrong_samples.yml:16:9: expr &#34;m&#34; at 5m">- {__name__=&#34;m&#34;} 1</failure>
    </testcase>
  </testsuite>
  <testsuite name="testdata/vanishing.yml" tests="4" failures="0" errors="0">
    <testcase name="stale" classname="testdata/vanishing.yml"></testcase>
    <testcase name="missing" classname="testdata/vanishing.yml"></testcase>
    <testcase name="unknown passes for alive" classname="testdata/vanishing.yml"></testcase>
    <testcase name="hold" classname="testdata/vanishing.yml"></testcase>
  </testsuite>
  <testsuite name="testdata/unknown_key.yml" tests="1" failures="0" errors="1">
    <testcase name="the file" classname="testdata/unknown_key.yml">
      <error message="testdata/unknown_key.yml:3:5: tests[0]: unknown key &#34;promql_expr_tests&#34;, did you mean &#34;promql_expr_test&#34;? Expected one of name, interval, input_series, alert_rule_test, promql_expr_test, external_labels, external_url, start_timestamp, state_test, restarts"></error>
    </testcase>
  </testsuite>
</testsuites>
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("WriteJUnit() (-want +got):\n%s", diff)
	}
	for d := xml.NewDecoder(strings.NewReader(b.String())); ; {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("WriteJUnit() writes invalid XML: %v", err)
		}
	}
}
