package dashboards_test

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/kinds"
	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/server"
	"github.com/vitals-health/vitals/internal/window"
	"github.com/vitals-health/vitals/rules"
)

const (
	// scrapeEvery is the time between two scrapes of the samples, and scrapes is their number.
	scrapeEvery = 15 * time.Second
	scrapes     = 20
)

// history has the samples of a Prometheus that scrapes some targets.
type history struct {
	t      *testing.T
	window *window.Window
	source *window.Source
	engine *promql.Engine
	// at is the time of the last scrape.
	at time.Time
}

// newHistory scrapes the targets, by the name of their instance and, after a space, of their
// pod if they have one. A target without samples is down. Counters grow by one each time.
func newHistory(t *testing.T, at time.Time, targets map[string][]collectors.Sample) *history {
	t.Helper()
	h := &history{t: t, window: window.New(), engine: promql.NewEngine(promql.EngineOpts{
		MaxSamples: 1e6, Timeout: time.Minute, EnableAtModifier: true, LookbackDelta: window.Lookback, Parser: parser.NewParser(parser.Options{}),
		NoStepSubqueryIntervalFn: func(int64) int64 { return scrapeEvery.Milliseconds() },
	})}
	h.window.SetRetention(nil, scrapes*scrapeEvery)
	h.source = h.window.Source()
	for i := range scrapes {
		h.scrape(at.Add(-time.Duration(scrapes-1-i)*scrapeEvery), i, targets)
	}
	return h
}

// scrape adds the samples of all targets; n is the number of the scrape.
func (h *history) scrape(at time.Time, n int, targets map[string][]collectors.Sample) {
	h.t.Helper()
	h.at = at
	h.source.Begin(at.UnixMilli())
	defer h.source.End()
	add := func(target string, value float64, l labels.Labels) {
		b := labels.NewBuilder(l)
		b.Set("job", "vitals")
		instance, pod, inPod := strings.Cut(target, " ")
		b.Set("instance", instance)
		if inPod {
			b.Set("pod", pod)
			b.Set("namespace", "shop")
		}
		if err := h.source.Add(b.Labels(), value, 0); err != nil {
			h.t.Fatal(err)
		}
	}
	for target, samples := range targets {
		up := 0.0
		for _, sample := range samples {
			up = 1
			if sample.T == counterMark {
				sample.Value += float64(n)
			}
			add(target, sample.Value, sample.Labels)
		}
		add(target, up, labels.FromStrings("__name__", "up"))
	}
}

// leave scrapes once more, after one of the targets has disappeared.
func (h *history) leave(targets map[string][]collectors.Sample, gone string) {
	h.t.Helper()
	left := maps.Clone(targets)
	left[gone] = nil
	h.scrape(h.at.Add(scrapeEvery), scrapes, left)
}

// query evaluates an expression at the time of the last scrape.
func (h *history) query(expr string) promql.Vector {
	h.t.Helper()
	q, err := h.engine.NewInstantQuery(context.Background(), h.window, nil, expr, h.at)
	if err != nil {
		h.t.Fatalf("%s: %v", expr, err)
	}
	result := q.Exec(context.Background())
	switch v := result.Value.(type) {
	case promql.Vector:
		return v
	case promql.Scalar:
		return promql.Vector{{F: v.V}}
	}
	h.t.Fatalf("%s: %v", expr, result.Err)
	return nil
}

// counterMark replaces the time of a sample to mark it as one of a counter.
const counterMark = -1

// exposition reads samples in Prometheus' text format.
func exposition(t *testing.T, name, text string) []collectors.Sample {
	t.Helper()
	p := expfmt.NewTextParser(model.UTF8Validation)
	families, err := p.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	var all []collectors.Sample
	for _, mf := range families {
		// All have the same time; those of counters, also of histograms, are marked.
		counter := mf.GetType() == dto.MetricType_COUNTER || mf.GetType() == dto.MetricType_HISTOGRAM
		samples, err := expfmt.ExtractSamples(&expfmt.DecodeOptions{}, mf)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, s := range samples {
			b := labels.NewScratchBuilder(len(s.Metric))
			for n, v := range s.Metric {
				b.Add(string(n), string(v))
			}
			b.Sort()
			one := collectors.Sample{Labels: b.Labels(), Value: float64(s.Value)}
			if counter {
				one.T = counterMark
			}
			all = append(all, one)
		}
	}
	return all
}

// goldens returns the committed expositions of the collectors, by file.
func goldens(t *testing.T) map[string][]collectors.Sample {
	t.Helper()
	all := map[string][]collectors.Sample{}
	for _, pattern := range []string{"*/testdata/*.prom"} {
		files, err := filepath.Glob(filepath.Join("../collectors", pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, ".om.prom") { // the same metrics as OpenMetrics
				continue
			}
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			instance := strings.TrimPrefix(filepath.ToSlash(name), "../collectors/")
			all[instance] = exposition(t, name, strings.ReplaceAll(string(text), " unknown\n", " untyped\n"))
		}
	}
	if len(all) < len(kinds.Names()) {
		t.Fatalf("%d golden expositions found, want one a kind", len(all))
	}
	return all
}

// ownRules has a rule in each status, after one evaluation over ownSamples.
const ownRules = `
groups:
  - name: g
    rules:
      - {alert: Fine, expr: app_value > 5, labels: {state: ready}}
      - {alert: Soon, expr: app_value == 1, for: 1h, labels: {state: ready}}
      - {alert: Down, expr: app_value == 1, labels: {state: ready}}
      - {alert: Blind, expr: app_gone == 1, labels: {state: alive}}
      - {alert: Shy, expr: app_gone == 1, labels: {state: ready}, annotations: {no_data: pass}}
      - {alert: Ordinary, expr: app_value == 1}
`

// app is a collector of one value, which fails from the second collection on if it is flaky.
type app struct {
	flaky       bool
	collections int
}

func (*app) Describe() []collectors.Desc { return nil }

func (a *app) Collect(context.Context) ([]collectors.Sample, error) {
	a.collections++
	if !a.flaky {
		return []collectors.Sample{{Labels: labels.FromStrings("__name__", "app_value"), Value: 1}}, nil
	}
	if a.collections > 1 {
		return nil, errors.New("not again")
	}
	return []collectors.Sample{{Labels: labels.FromStrings("__name__", "flaky_value"), Value: 1}}, nil
}

// ownSamples returns the metrics of Vitals about itself, with ownRules.
func ownSamples(t *testing.T) []collectors.Sample {
	t.Helper()
	file, errs := rules.Parse("rules.yml", []byte(ownRules), []string{evaluator.Ready, evaluator.Alive})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	e, err := evaluator.New(evaluator.Config{Files: []*rules.File{file}, Sources: []evaluator.Source{
		{Name: "app", Kind: "app", Interval: time.Minute, Timeout: time.Minute, Collector: &app{}},
		{Name: "flaky", Kind: "app", Interval: 20 * time.Millisecond, Timeout: time.Minute, Collector: &app{flaky: true}},
	}}, evaluator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	done := make(chan struct{})
	go func() {
		defer close(done)
		e.Run(ctx)
	}()
	defer func() {
		cancel()
		<-done
	}()
	changed, s := e.Changed(), e.Snapshot()
	for !settled(s) {
		select {
		case <-changed:
			changed, s = e.Changed(), e.Snapshot()
		case <-ctx.Done():
			t.Fatalf("the collectors are %+v, want the second one to have failed", s.Collectors)
		}
	}
	h := server.New(server.Options{Snapshot: func() *evaluator.Snapshot { return s }}).Handler()
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/ready", nil))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	return exposition(t, "/metrics", w.Body.String())
}

// settled reports whether all collections and an evaluation have ended, and the second
// collector has failed after that.
func settled(s *evaluator.Snapshot) bool {
	state, ok := s.State(evaluator.Started, s.At)
	return ok && state.Verdict == evaluator.Pass && !s.Collectors[1].Success && !s.Collectors[1].LastSuccess.IsZero()
}
