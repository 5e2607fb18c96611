//go:build e2e

package e2e_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"gopkg.in/yaml.v3"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/rules"
)

const (
	// timelineFiles of timelinesPerFile make 240 timelines: rules belong to a file.
	timelineFiles    = 40
	timelinesPerFile = 6
	timelineSteps    = 45
	// leastMet is how often all timelines together meet each situation, of 10,800 steps.
	// Over 40 seeds the rarest, a warning of alive, was met 392 to 1,091 times. Rules
	// belong to a file, so the number varies widely: a higher bound fails by chance.
	leastMet = 24
)

// The test file that a timeline is written into.
type (
	timelineFile struct {
		RuleFiles          []string       `yaml:"rule_files"`
		EvaluationInterval string         `yaml:"evaluation_interval"`
		GroupEvalOrder     []string       `yaml:"group_eval_order"`
		Tests              []timelineTest `yaml:"tests"`
	}
	timelineTest struct {
		Name        string              `yaml:"name"`
		Interval    string              `yaml:"interval"`
		InputSeries []map[string]string `yaml:"input_series"`
		Alerts      []alertExpectation  `yaml:"alert_rule_test"`
		Exprs       []exprExpectation   `yaml:"promql_expr_test"`
	}
	alertExpectation struct {
		EvalTime  string          `yaml:"eval_time"`
		Alertname string          `yaml:"alertname"`
		ExpAlerts []expectedAlert `yaml:"exp_alerts"`
	}
	expectedAlert struct {
		Labels      map[string]string `yaml:"exp_labels"`
		Annotations map[string]string `yaml:"exp_annotations"`
	}
	exprExpectation struct {
		Expr     string           `yaml:"expr"`
		EvalTime string           `yaml:"eval_time"`
		Samples  []expectedSample `yaml:"exp_samples"`
	}
	expectedSample struct {
		Labels string  `yaml:"labels"`
		Value  float64 `yaml:"value"`
	}
)

// madeUp plays one test of a file in a simulation and writes down what it sees.
type madeUp struct {
	t      *testing.T
	random *rand.Rand
	step   time.Duration
	sim    *evaluator.Simulation
	test   timelineTest
	// met counts the situations that all timelines met.
	met map[string]int
	// fired are the alerts that fired in the last step.
	fired map[string]bool
}

func makeUp(t *testing.T, r *rand.Rand, name string, step int, file *rules.File, met map[string]int) *madeUp {
	t.Helper()
	tl := &madeUp{t: t, random: r, step: time.Duration(step) * time.Second, met: met, fired: map[string]bool{}}
	// The model of a verdict has no start: what is pending passes.
	cfg := evaluator.Config{Interval: tl.step, Files: []*rules.File{file}, States: []evaluator.StatePolicy{{Name: evaluator.Ready, AtStart: evaluator.AtStartPass}}}
	var err error
	tl.sim, err = evaluator.NewSimulation(cfg, evaluator.SimulationOptions{
		EveryGroup: true, Hides: func(string) bool { return true },
	}, time.UnixMilli(0))
	if err != nil {
		t.Fatal(err)
	}
	tl.test.Name = name
	return tl
}

// input appends all series; what is in the future of a pass, the pass does not see.
func (tl *madeUp) input(interval time.Duration, series [][2]string) []evaluator.Sample {
	tl.test.Interval = model.Duration(interval).String()
	var all []evaluator.Sample
	for _, s := range series {
		tl.test.InputSeries = append(tl.test.InputSeries, map[string]string{"series": s[0], "values": s[1]})
		ls, values, err := parser.NewParser(parser.Options{}).ParseSeriesDesc(s[0] + " " + s[1])
		if err != nil {
			tl.t.Fatal(err)
		}
		for i, v := range values {
			if !v.Omitted {
				all = append(all, evaluator.Sample{Labels: ls, T: int64(i) * interval.Milliseconds(), Value: v.Value})
			}
		}
	}
	return all
}

// play evaluates step by step and expects what it finds.
func (tl *madeUp) play(samples []evaluator.Sample) {
	for i := range timelineSteps {
		at := time.Duration(i) * tl.step
		var rest []evaluator.Sample
		for _, s := range samples {
			if s.T > at.Milliseconds() {
				rest = append(rest, s)
				continue
			}
			if err := tl.sim.Append(s); err != nil {
				tl.t.Fatal(err)
			}
		}
		samples = rest
		snapshot := tl.sim.Evaluate(tl.t.Context(), time.UnixMilli(at.Milliseconds()))
		if errs := tl.sim.Errors(); len(errs) > 0 {
			tl.t.Fatalf("%s: the rules %v failed: the generator makes rules that do not", tl.test.Name, errs)
		}
		tl.note(at, snapshot)
	}
	for range 4 {
		tl.expression()
	}
}

// note expects the alerts of a step, compares the verdicts with them, and counts.
func (tl *madeUp) note(at time.Duration, s *evaluator.Snapshot) {
	fired := map[string]bool{}
	for _, r := range s.Rules {
		expect := alertExpectation{EvalTime: model.Duration(at).String(), Alertname: r.Name}
		pending := 0
		for _, a := range r.Alerts {
			if !a.Firing {
				pending++
				continue
			}
			fired[a.Labels.String()] = true
			l := a.Labels.Map()
			delete(l, model.AlertNameLabel)
			expect.ExpAlerts = append(expect.ExpAlerts, expectedAlert{l, a.Annotations})
		}
		tl.test.Alerts = append(tl.test.Alerts, expect)
		tl.met["pending"] += min(1, pending)
		tl.met["firing"] += min(1, len(expect.ExpAlerts))
		if r.Status == evaluator.Unknown {
			tl.met["unknown"]++
		}
		if r.KeepFiringFor > 0 && len(expect.ExpAlerts) > 0 && len(tl.results(r.Expr, at)) < len(r.Alerts) {
			tl.met["kept firing"]++
		}
	}
	for alert := range tl.fired {
		if !fired[alert] {
			tl.met["resolved"]++
		}
	}
	tl.fired = fired
	tl.compareVerdicts(at, s)
}

func (tl *madeUp) results(expr string, at time.Duration) []evaluator.Sample {
	found, err := tl.sim.Query(tl.t.Context(), expr, time.UnixMilli(at.Milliseconds()))
	if err != nil {
		tl.t.Fatal(err)
	}
	return found
}

// compareVerdicts derives the verdicts from the alerts alone and compares them, unless an
// obeyed rule of the state is unknown: a critical one that fires fails the state, one that
// only warns does not.
func (tl *madeUp) compareVerdicts(at time.Duration, s *evaluator.Snapshot) {
	type view struct{ obeyed, unknown, critical, warning int }
	views := map[string]*view{evaluator.Ready: {}, evaluator.Alive: {}}
	for _, r := range s.Rules {
		v := views[r.State]
		if v == nil || r.Observe {
			continue
		}
		v.obeyed++
		firing := false
		for _, a := range r.Alerts {
			firing = firing || a.Firing
		}
		switch {
		case r.Status == evaluator.Unknown:
			v.unknown++
		case firing && r.Severity == rules.SeverityWarning:
			v.warning++
		case firing:
			v.critical++
		}
	}
	want := func(state string) (evaluator.Verdict, bool) {
		v := views[state]
		switch {
		case v.unknown > 0:
			return 0, false
		case v.critical > 0 || v.obeyed == 0 && state == evaluator.Ready:
			return evaluator.Fail, true
		case v.warning > 0:
			return evaluator.Warn, true
		}
		return evaluator.Pass, true
	}
	alive, known := want(evaluator.Alive)
	tl.compareVerdict(at, s, evaluator.Alive, alive, known)
	ready, readyKnown := want(evaluator.Ready)
	if known && alive == evaluator.Fail {
		ready = evaluator.Fail // not alive is not ready
	}
	tl.compareVerdict(at, s, evaluator.Ready, ready, known && readyKnown)
}

func (tl *madeUp) compareVerdict(at time.Duration, s *evaluator.Snapshot, state string, want evaluator.Verdict, known bool) {
	if !known {
		return
	}
	got, _ := s.State(state, s.At)
	if got.Verdict != want {
		tl.t.Errorf("%s: at %s %s is %s, want %s", tl.test.Name, at, state, got.Verdict, want)
	}
	tl.met[state+" "+want.String()]++
}

// expression expects the result of an expression at some time, also between two steps.
func (tl *madeUp) expression() {
	at := time.Duration(tl.random.Int64N(int64(timelineSteps-1)*tl.step.Milliseconds()))*time.Millisecond + time.Millisecond
	expr := pick(tl.random, "ALERTS", "ALERTS_FOR_STATE", "sum:late", "sum:a", "count(a)", randomExpr(tl.random, int(tl.step.Seconds())))
	if strings.Contains(expr, "time()") {
		return // its value between two steps is no whole number
	}
	expect := exprExpectation{Expr: expr, EvalTime: model.Duration(at).String()}
	for _, s := range tl.results(expr, at) {
		if math.IsNaN(s.Value) {
			return // equals nothing
		}
		expect.Samples = append(expect.Samples, expectedSample{notation(s.Labels), s.Value})
	}
	tl.met["expression"]++
	tl.test.Exprs = append(tl.test.Exprs, expect)
}

// notation writes labels so that promtool's parser of Debian's age reads them.
func notation(l labels.Labels) string {
	name := l.Get(model.MetricNameLabel)
	return name + labels.NewBuilder(l).Del(model.MetricNameLabel).Labels().String()
}

// spoiled is the test with one of its expectations about alerts, which is wrong now.
func (tl *madeUp) spoiled() timelineTest {
	test := tl.test
	a := test.Alerts[tl.random.IntN(len(test.Alerts))]
	if n := len(a.ExpAlerts); n > 0 && tl.random.IntN(2) == 0 {
		a.ExpAlerts = a.ExpAlerts[:n-1]
	} else {
		a.ExpAlerts = append([]expectedAlert{{Labels: map[string]string{"made": "up"}}}, a.ExpAlerts...)
	}
	test.Alerts, test.Exprs = []alertExpectation{a}, nil
	return test
}

// TestTimelinesAgreeWithPromtool plays random timelines in a simulation, writes every
// alert that fires in every step, and some results, into test files, and has promtool
// check them. With one expectation changed, promtool must fail for every timeline.
func TestTimelinesAgreeWithPromtool(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	met := map[string]int{}
	for i := range timelineFiles {
		playFile(t, rand.New(rand.NewPCG(seed, uint64(i))), met)
		if t.Failed() {
			return
		}
	}
	t.Logf("met %v", met)
	for _, situation := range []string{
		"pending", "firing", "kept firing", "unknown", "resolved", "expression",
		"ready pass", "ready warn", "ready fail", "alive pass", "alive warn", "alive fail",
	} {
		if met[situation] < leastMet {
			t.Errorf("the timelines met %q %d times, want at least %d: the test has become weak", situation, met[situation], leastMet)
		}
	}
}

func playFile(t *testing.T, r *rand.Rand, met map[string]int) {
	t.Helper()
	dir := t.TempDir()
	step := pick(r, stepSeconds()...)
	text := randomRules(r, step)
	write(t, filepath.Join(dir, "rules.yml"), text)
	file, errs := rules.Parse("rules.yml", []byte(text), []string{"ready", "alive", "started"})
	if len(errs) > 0 {
		t.Fatalf("%v\n%s", errs, text)
	}
	good := timelineFile{
		RuleFiles: []string{"rules.yml"}, EvaluationInterval: fmt.Sprintf("%ds", step),
		GroupEvalOrder: []string{"first", "second"},
	}
	bad := good
	for i := range timelinesPerFile {
		tl := makeUp(t, r, fmt.Sprintf("timeline-%d", i), step, file, met)
		interval := tl.step
		if r.IntN(3) == 0 {
			interval = time.Duration(pick(r, stepSeconds()...))*time.Second + 3*time.Millisecond
		}
		tl.play(tl.input(interval, randomInput(r, int(timelineSteps*tl.step/interval)+1)))
		good.Tests = append(good.Tests, tl.test)
		bad.Tests = append(bad.Tests, tl.spoiled())
	}
	path := filepath.Join(dir, "good_test.yml")
	write(t, path, marshal(t, good))
	for name, got := range map[string]ran{"promtool": promtoolTests(t, path), "vitals": vitalsTests(t, path)} {
		if !got.passed() {
			t.Fatalf("%s does not agree on these rules:\n%s\n%.4000s", name, text, got.output)
		}
	}
	path = filepath.Join(dir, "bad_test.yml")
	write(t, path, marshal(t, bad))
	for name, got := range map[string]ran{"promtool": promtoolTests(t, path), "vitals": vitalsTests(t, path)} {
		for _, test := range bad.Tests {
			if got.passed() || !strings.Contains(got.output, test.Name) {
				t.Errorf("%s passes %s, although an expectation was changed:\n%.4000s", name, test.Name, got.output)
			}
		}
	}
}

func marshal(t *testing.T, v any) string {
	t.Helper()
	data, err := yaml.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
