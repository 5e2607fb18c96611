package ruletest

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/filekind"
	"github.com/vitals-health/vitals/internal/promexpr"
	"github.com/vitals-health/vitals/internal/strictyaml"
	"github.com/vitals-health/vitals/rules"
)

// defaultInterval is the time between two evaluations, as in promtool.
const defaultInterval = time.Minute

// file is a parsed test file.
type file struct {
	name     string
	interval time.Duration
	fuzzy    bool
	order    []string
	states   []evaluator.StatePolicy
	rules    []*rules.File
	alerts   map[string]bool // the names of the alerts among the rules
	tests    []test
}

// test is a test of a file: input series and expectations.
type test struct {
	name      string
	place     place
	start     time.Time
	series    []series
	alerts    []alertTest
	exprs     []exprTest
	states    []stateTest
	restarts  []time.Duration
	labels    map[string]string
	url       string
	ownHidden func(metric string) bool
}

// place is a position in the test file.
type place struct {
	file      string
	line, col int
}

func (p place) String() string { return fmt.Sprintf("%s:%d:%d", p.file, p.line, p.col) }

// alertTest is the expected firing alerts of a name at a time.
type alertTest struct {
	place place
	at    time.Duration
	name  string
	want  []alert
}

// alert is the compared part of an alert.
type alert struct{ labels, annotations labels.Labels }

// exprTest is the expected result of an expression at a time.
type exprTest struct {
	place place
	at    time.Duration
	expr  string
	want  []sample
}

// sample is the compared part of an element of a result.
type sample struct {
	labels labels.Labels
	value  float64
	// histogram is a native histogram in the notation of test files; empty for a float.
	histogram string
}

// reader converts a raw file and collects its mistakes.
type reader struct {
	opts     Options
	doc      *strictyaml.Document
	name     string
	promql   parser.Parser
	errs     []error
	warnings []string
}

// read reads a test file and its rule files.
func read(name string, opts Options) (*file, *reader) {
	r := &reader{opts: opts, name: name, promql: promexpr.NewParser()}
	data, err := opts.read(name)
	if err != nil {
		r.errs = append(r.errs, fmt.Errorf("%s: %w", name, err))
		return nil, r
	}
	var raw rawFile
	doc, mistakes := strictyaml.Decode(name, data, &raw)
	r.doc = doc
	for _, m := range mistakes {
		r.errs = append(r.errs, m)
	}
	f := &file{
		name: name, fuzzy: raw.FuzzyCompare, order: raw.GroupEvalOrder,
		interval: cmp.Or(time.Duration(raw.EvaluationInterval), defaultInterval),
	}
	r.statesOf(f, raw)
	r.rulesOf(f, raw)
	f.alerts = alertNames(f.rules)
	r.checkOrder(f)
	if r.withinBounds(f, raw.Tests) {
		for i, t := range raw.Tests {
			f.tests = append(f.tests, r.test(f, strictyaml.PathIndex("tests", i), i, t))
		}
	}
	sort.SliceStable(r.errs, func(i, j int) bool { return r.before(r.errs[i], r.errs[j]) })
	r.errs = filekind.Instead(name, data, filekind.Tests, r.errs)
	return f, r
}

// checkOrder checks the order of the groups.
func (r *reader) checkOrder(f *file) {
	names := map[string]bool{}
	for _, file := range f.rules {
		for _, g := range file.Groups {
			names[g.Name] = true
		}
	}
	ordered := map[string]bool{}
	for i, group := range f.order {
		path := strictyaml.PathIndex("group_eval_order", i)
		switch {
		case ordered[group]:
			r.fail(path, "group %q is named twice, expected it once", group)
		case !names[group]:
			r.warn(path, "there is no group %q%s", group, hint(group, sortedKeys(names)))
		}
		ordered[group] = true
	}
}

// before orders the mistakes of the test file by position, before those of rule files.
func (r *reader) before(a, b error) bool {
	place := func(err error) (line, col int) {
		var e *strictyaml.Error
		if errors.As(err, &e) && e.File == r.name {
			return e.Line, e.Col
		}
		return math.MaxInt, 0
	}
	lineA, colA := place(a)
	lineB, colB := place(b)
	return lineA < lineB || lineA == lineB && colA < colB
}

// fail reports a mistake, unless the value has one already.
func (r *reader) fail(path, format string, args ...any) {
	if !r.doc.Broken(path) {
		r.errs = append(r.errs, r.doc.Errorf(path, format, args...))
	}
}

func (r *reader) place(path string) place {
	line, col := r.doc.Position(path)
	return place{r.name, line, col}
}

func (r *reader) warn(path, format string, args ...any) {
	r.warnings = append(r.warnings, r.place(path).String()+": "+fmt.Sprintf(format, args...))
}

// statesOf adds the states of the options and of the file.
func (r *reader) statesOf(f *file, raw rawFile) {
	for _, name := range r.opts.States {
		f.states = append(f.states, evaluator.StatePolicy{Name: name})
	}
	for _, name := range sortedKeys(raw.States) {
		path := strictyaml.PathKey("states", name)
		policy := rules.NoData(raw.States[name].NoData)
		if policy != "" && !policy.Valid() {
			r.fail(path+".no_data", "expected %s, got %q", rules.NoDataExpected, policy)
		}
		start := evaluator.AtStart(raw.States[name].AtStart)
		if start != "" && !start.Valid() {
			r.fail(path+".at_start", "expected fail or pass, got %q", start)
		}
		f.states = slices.DeleteFunc(f.states, func(s evaluator.StatePolicy) bool { return s.Name == name })
		f.states = append(f.states, evaluator.StatePolicy{Name: name, NoData: policy, AtStart: start})
	}
}

// stateNames returns the valid states of rules.
func (f *file) stateNames() []string {
	names := []string{evaluator.Ready, evaluator.Alive, evaluator.Started}
	for _, s := range f.states {
		if !slices.Contains(names, s.Name) {
			names = append(names, s.Name)
		}
	}
	return names
}

// test checks and converts one test.
func (r *reader) test(f *file, path string, i int, raw rawTest) test {
	t := test{
		name: cmp.Or(raw.Name, fmt.Sprintf("unnamed#%d", i)), place: r.place(path),
		start: raw.StartTimestamp.Time, labels: raw.ExternalLabels, url: raw.ExternalURL,
	}
	if t.start.IsZero() {
		t.start = time.Unix(0, 0).UTC()
	}
	t.series = r.series(path+".input_series", raw.InputSeries, t.start, cmp.Or(time.Duration(raw.Interval), f.interval))
	for j, a := range raw.AlertRuleTest {
		t.alerts = append(t.alerts, r.alertTest(f, strictyaml.PathIndex(path+".alert_rule_test", j), a))
	}
	for j, e := range raw.PromqlExprTest {
		t.exprs = append(t.exprs, r.exprTest(strictyaml.PathIndex(path+".promql_expr_test", j), e))
	}
	for j, s := range raw.StateTest {
		t.states = append(t.states, r.stateTest(f, strictyaml.PathIndex(path+".state_test", j), s))
	}
	for _, at := range raw.Restarts {
		t.restarts = append(t.restarts, time.Duration(at))
	}
	slices.Sort(t.restarts)
	t.ownHidden = hidden(t)
	return t
}

// hidden returns which of Vitals' own metrics are hidden from the rules: all in a test
// without expectations for states, because promtool has none, and otherwise those with
// input series.
func hidden(t test) func(metric string) bool {
	given := map[string]bool{}
	for _, s := range t.series {
		given[s.labels.Get(model.MetricNameLabel)] = true
	}
	return func(metric string) bool { return len(t.states) == 0 || given[metric] }
}

func (r *reader) alertTest(f *file, path string, raw rawAlertTest) alertTest {
	t := alertTest{place: r.place(path), at: time.Duration(raw.EvalTime), name: raw.Alertname}
	if t.name == "" {
		r.fail(path, "expected the alertname of the alerts, got none")
	} else if !f.alerts[t.name] {
		r.warn(path+".alertname", "no rule has the alert %q%s", t.name, hint(t.name, sortedKeys(f.alerts)))
	}
	for _, a := range raw.ExpAlerts {
		want := map[string]string{model.AlertNameLabel: t.name}
		for k, v := range a.ExpLabels {
			if k != model.AlertNameLabel {
				want[k] = v
			}
		}
		t.want = append(t.want, alert{labels.FromMap(want), labels.FromMap(a.ExpAnnotations)})
	}
	return t
}

// hint suggests a similar name, or returns "".
func hint(got string, valid []string) string {
	if text := strictyaml.Expected(got, valid); strings.HasPrefix(text, "did you mean") {
		return ", " + text
	}
	return ""
}

func (r *reader) exprTest(path string, raw rawExprTest) exprTest {
	t := exprTest{place: r.place(path), at: time.Duration(raw.EvalTime), expr: raw.Expr}
	if len(raw.Expr) > rules.MaxExpr {
		r.fail(path+".expr", "expression of %d bytes, expected at most %d", len(raw.Expr), rules.MaxExpr)
		return t
	}
	switch ast, err := promexpr.Parse(raw.Expr); {
	case raw.Expr == "":
		r.fail(path, "expected an expression in expr, got none")
	case err != nil:
		r.syntax(err, func(offset int) string { return path + ".expr" }, func(offset int) int { return offset })
	case ast.Type() != parser.ValueTypeVector && ast.Type() != parser.ValueTypeScalar:
		r.fail(path+".expr", "expression yields a %s, expected an instant vector or a scalar", parser.DocumentedType(ast.Type()))
	}
	for i, s := range raw.ExpSamples {
		at := strictyaml.PathIndex(path+".exp_samples", i)
		ls, err := r.promql.ParseMetric(s.Labels)
		if err != nil {
			r.syntax(err, func(int) string { return at + ".labels" }, func(offset int) int { return offset })
		}
		t.want = append(t.want, sample{ls, s.Value, r.histogram(at+".histogram", s.Histogram)})
	}
	return t
}

// histogram normalizes the notation of a native histogram, for comparison with results.
func (r *reader) histogram(path, text string) string {
	if text == "" {
		return ""
	}
	const metric = "{} "
	_, values, err := r.promql.ParseSeriesDesc(metric + text)
	switch {
	case err != nil:
		r.syntax(err, func(int) string { return path }, func(offset int) int { return offset - len(metric) })
	case len(values) != 1 || values[0].Histogram == nil:
		r.fail(path, "expected one native histogram, such as {{sum:3 count:2 buckets:[2]}}, got %q", text)
	default:
		return values[0].Histogram.TestExpression()
	}
	return ""
}

// syntax reports the errors of the PromQL parser. path and within map an offset in bytes to
// the scalar in the document and to the offset in it.
func (r *reader) syntax(err error, path func(offset int) string, within func(offset int) int) {
	var list parser.ParseErrors
	if !errors.As(err, &list) || len(list) == 0 {
		r.fail(path(0), "%v", err)
		return
	}
	// The first one causes the others.
	offset := int(list[0].PositionRange.Start)
	if at := path(offset); !r.doc.Broken(at) {
		r.errs = append(r.errs, r.doc.ErrorAt(at, within(offset), "not valid PromQL: %v", list[0].Err))
	}
}
