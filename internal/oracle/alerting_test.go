package oracle

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	promrules "github.com/prometheus/prometheus/rules"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/rules"
)

const (
	timelines = 300
	steps     = 120
)

// script is a random timeline: the values of a few series at each second. A missing series
// has ended.
type script []map[string]float64

func newScript(r *rand.Rand) script {
	s := make(script, steps)
	now := map[string]float64{}
	for i := range s {
		for _, name := range []string{"a", "b", "c"} {
			switch p := r.Float64(); {
			case p < 0.15:
				now[name] = float64(r.IntN(3))
			case p < 0.2:
				delete(now, name)
			}
		}
		s[i] = make(map[string]float64, len(now))
		for k, v := range now {
			s[i][k] = v
		}
	}
	return s
}

// player is a collector that plays a script, one step per collection.
type player struct {
	script script
	at     int
}

func (p *player) Describe() []collectors.Desc { return nil }

func (p *player) Collect(context.Context) ([]collectors.Sample, error) {
	step := p.script[min(p.at, len(p.script)-1)]
	p.at++
	var out []collectors.Sample
	for name, v := range step {
		out = append(out, collectors.Sample{Labels: labels.FromStrings(model.MetricNameLabel, "m", "x", name), Value: v})
	}
	return out, nil
}

// alert is the compared part of an alert.
type alert struct {
	Labels   string
	Firing   bool
	Value    float64
	ActiveAt time.Time
	FiredAt  time.Time
}

// TestAlertsAgainstPrometheus plays random timelines through the evaluator and through
// Prometheus' AlertingRule. At every published snapshot the active alerts, their states,
// values and times must be equal.
func TestAlertsAgainstPrometheus(t *testing.T) {
	const seed = 1 // fixed, so that a failure has its cause in the tested change
	states := map[string]int{}
	for i := range timelines {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		name := fmt.Sprintf("timeline %d", i)
		synctest.Test(t, func(t *testing.T) { play(t, name, r, states) })
		if t.Failed() {
			return
		}
	}
	for _, s := range []string{"pending", "firing", "kept firing", "resolved"} {
		if states[s] < timelines {
			t.Errorf("the timelines had the state %q %d times, want at least %d times", s, states[s], timelines)
		}
	}
}

func play(t *testing.T, name string, r *rand.Rand, states map[string]int) {
	hold := []time.Duration{0, time.Second, 3 * time.Second, 7 * time.Second}[r.IntN(4)]
	keep := []time.Duration{0, 0, 2 * time.Second, 5 * time.Second}[r.IntN(4)]
	template := []string{"fixed", "{{ $labels.x }}", "v{{ $value }}"}[r.IntN(3)]
	const expr = "m > 0"

	text := fmt.Sprintf(`
groups:
  - name: g
    rules:
      - alert: A
        expr: %s
        for: %s
        keep_firing_for: %s
        labels: {severity: warning, templated: "%s"}
`, expr, model.Duration(hold), model.Duration(keep), template)
	file, errs := rules.Parse("oracle.yml", []byte(text), nil)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	p := &player{script: newScript(r)}
	e, err := evaluator.New(evaluator.Config{
		Interval: time.Hour, // only results trigger evaluations
		Files:    []*rules.File{file},
		Sources:  []evaluator.Source{{Name: "p", Kind: "player", Interval: time.Second, Timeout: 500 * time.Millisecond, Collector: p}},
	}, evaluator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	reference := newReference(t, expr, hold, keep, template)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	changed := e.Changed()
	go func() {
		defer close(done)
		e.Run(ctx)
	}()
	before := map[string]bool{}
	for step := range steps {
		<-changed
		changed = e.Changed()
		s := e.Snapshot()
		want, err := reference.eval(ctx, s.At, p.script[step])
		if err != nil {
			t.Fatal(err)
		}
		got := ours(s)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s, step %d (for %s, keep_firing_for %s): alerts differ (-Prometheus +Vitals):\n%s", name, step, hold, keep, diff)
			break
		}
		before = note(states, before, got, p.script[step])
	}
	cancel()
	<-done
}

// note counts the states in the timelines.
func note(states map[string]int, before map[string]bool, got []alert, step map[string]float64) map[string]bool {
	now := map[string]bool{}
	for _, a := range got {
		now[a.Labels] = true
		switch series := labelOf(a.Labels); {
		case !a.Firing:
			states["pending"]++
		case step[series] > 0:
			states["firing"]++
		default:
			states["kept firing"]++
		}
	}
	for l := range before {
		if !now[l] {
			states["resolved"]++
		}
	}
	return now
}

func labelOf(ls string) string {
	_, rest, _ := strings.Cut(ls, `x="`)
	name, _, _ := strings.Cut(rest, `"`)
	return name
}

func ours(s *evaluator.Snapshot) []alert {
	var all []alert
	for _, a := range s.Rules[0].Alerts {
		all = append(all, alert{a.Labels.String(), a.Firing, a.Value, a.ActiveAt.Round(0), a.FiredAt.Round(0)})
	}
	return sorted(all)
}

func sorted(all []alert) []alert {
	slices.SortFunc(all, func(x, y alert) int { return strings.Compare(x.Labels, y.Labels) })
	return all
}

// reference is Prometheus' alerting rule over a script.
type reference struct {
	rule *promrules.AlertingRule
	step map[string]float64
}

func newReference(t *testing.T, expr string, hold, keep time.Duration, template string) *reference {
	t.Helper()
	ast, err := parser.NewParser(parser.Options{}).ParseExpr(expr)
	if err != nil {
		t.Fatal(err)
	}
	ls := labels.FromStrings("severity", "warning", "templated", template)
	return &reference{rule: promrules.NewAlertingRule("A", ast, hold, keep, ls, labels.EmptyLabels(), labels.EmptyLabels(), "", true, nil)}
}

// query evaluates the expression m > 0 without an engine.
func (r *reference) query(_ context.Context, _ string, at time.Time) (promql.Vector, error) {
	var v promql.Vector
	for name, value := range r.step {
		if value > 0 {
			v = append(v, promql.Sample{T: at.UnixMilli(), F: value, Metric: labels.FromStrings(model.MetricNameLabel, "m", "x", name)})
		}
	}
	return v, nil
}

func (r *reference) eval(ctx context.Context, at time.Time, step map[string]float64) ([]alert, error) {
	r.step = step
	if _, err := r.rule.Eval(ctx, 0, at.Round(0), r.query, nil, 0); err != nil {
		return nil, err
	}
	var all []alert
	for _, a := range r.rule.ActiveAlerts() {
		if a.State == promrules.StateInactive {
			continue
		}
		all = append(all, alert{a.Labels.String(), a.State == promrules.StateFiring, a.Value, a.ActiveAt, a.FiredAt})
	}
	return sorted(all), nil
}
