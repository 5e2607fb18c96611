package evaluator

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/evaluator/internal/workers"
	"github.com/vitals-health/vitals/rules"
)

// series returns n samples of up, each with a label and a value of its own.
func manySamples(n int) []collectors.Sample {
	all := make([]collectors.Sample, n)
	for i := range all {
		all[i] = collectors.Sample{Labels: labels.FromStrings(model.MetricNameLabel, "up", "i", fmt.Sprintf("%05d", i)), Value: float64(i)}
	}
	return all
}

func parseRules(tb testing.TB, text string) []*rules.File {
	tb.Helper()
	f, errs := rules.Parse("many.yml", []byte(text), []string{Ready, Alive, Started})
	if len(errs) > 0 {
		tb.Fatalf("rules.Parse() = %v, want no error", errs)
	}
	return []*rules.File{f}
}

const manyAlerts = `
groups:
  - name: g
    rules:
      - alert: Down
        expr: up >= 0
        for: 1s
        labels: {state: ready, severity: critical}
        annotations: {summary: "{{ $labels.i }} is {{ $value }}", description: fixed}
`

func TestTenThousandAlertsOfOneRule(t *testing.T) {
	c, source := newMany(t, manyAlerts)
	for at := time.Duration(0); at <= time.Second; at += time.Second {
		c.take(workers.Result{Collector: source, Samples: manySamples(10_000)}, epoch.Add(at))
		c.evaluate(context.Background(), epoch.Add(at))
	}
	r := c.snapshot(context.Background(), epoch.Add(time.Second), 0).Rules[0]
	if r.Status != Failing || r.AlertCount != 10_000 || len(r.Alerts) != 100 {
		t.Fatalf("rule = %s with %d alerts of which %d are shown, want failing with 10000 and 100", r.Status, r.AlertCount, len(r.Alerts))
	}
	for i, a := range r.Alerts {
		want := fmt.Sprintf("%05d is %d", i, i)
		if !a.Firing || a.Annotations["summary"] != want || a.Annotations["description"] != "fixed" {
			t.Fatalf("alert %d = %+v, want it firing, with the summary %q", i, a, want)
		}
	}
	if r.Summary != "00000 is 0" || r.Observed == nil || *r.Observed != 0 {
		t.Errorf("summary %q, observed %v, want those of the first alert", r.Summary, r.Observed)
	}
}

func newMany(tb testing.TB, text string) (*core, *fakeCollector) {
	tb.Helper()
	source := &fakeCollector{"c"}
	c, err := newCore(Config{
		Files:   parseRules(tb, text),
		Sources: []Source{{Name: "c", Interval: time.Minute, Timeout: time.Second, Collector: source}},
	}, Options{}, epoch)
	if err != nil {
		tb.Fatal(err)
	}
	return c, source
}

// BenchmarkManyAlerts is an evaluation and its snapshot with 10,000 alerts of one rule.
func BenchmarkManyAlerts(b *testing.B) {
	c, source := newMany(b, manyAlerts)
	c.take(workers.Result{Collector: source, Samples: manySamples(10_000)}, epoch)
	at := epoch
	for b.Loop() {
		at = at.Add(time.Millisecond)
		c.evaluate(context.Background(), at)
		c.snapshot(context.Background(), at, 0)
	}
}

// TestReloadOfManyRules reloads 1,000 rules of which half are pending, with one
// rule more in front of them.
func TestReloadOfManyRules(t *testing.T) {
	text := func(first string) string {
		var b strings.Builder
		b.WriteString("groups:\n  - name: g\n    rules:\n" + first)
		for i := range 1000 {
			fmt.Fprintf(&b, "      - {alert: R%04d, expr: 'up{i=\"%05d\"} >= %d', for: 10s, labels: {state: ready}}\n", i, i, i%2*5000)
		}
		return b.String()
	}
	c, source := newMany(t, text(""))
	c.take(workers.Result{Collector: source, Samples: manySamples(1000)}, epoch)
	c.evaluate(context.Background(), epoch)
	cfg := c.cfg
	cfg.Files = parseRules(t, text("      - {alert: First, expr: 'up < 0'}\n"))
	if err := c.apply(cfg, epoch.Add(5*time.Second)); err != nil {
		t.Fatal(err)
	}
	for _, s := range []struct {
		at   time.Duration
		even Status
	}{{6 * time.Second, Pending}, {10 * time.Second, Failing}} {
		c.evaluate(context.Background(), epoch.Add(s.at))
		all := c.snapshot(context.Background(), epoch.Add(s.at), 0).Rules
		if len(all) != 1001 {
			t.Fatalf("rules = %d, want 1001", len(all))
		}
		for i, r := range all[1:] {
			want := s.even
			if i%2 == 1 {
				want = OK
			}
			if r.Status != want || r.Name != fmt.Sprintf("R%04d", i) {
				t.Fatalf("at %s rule %d = %s %s, want R%04d %s", s.at, i, r.Name, r.Status, i, want)
			}
		}
	}
	if got := count(t, c, `count(vitals_rule_status{status="failing"})`, epoch.Add(10*time.Second)); got != 1001 {
		t.Errorf("series of vitals_rule_status = %g, want one a rule and status", got)
	}
}
