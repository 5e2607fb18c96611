package evaluator_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/rules"
)

// stub is a collector made of functions.
type stub struct {
	collect     func(ctx context.Context) ([]collectors.Sample, error)
	run         func(ctx context.Context, changed func())
	collections atomic.Int64
	busy        atomic.Int64
	overlap     atomic.Bool
	descs       []collectors.Desc
}

func (s *stub) Collect(ctx context.Context) ([]collectors.Sample, error) {
	if s.busy.Add(1) > 1 {
		s.overlap.Store(true)
	}
	defer s.busy.Add(-1)
	s.collections.Add(1)
	return s.collect(ctx)
}

func (s *stub) Describe() []collectors.Desc { return s.descs }

func (s *stub) Run(ctx context.Context, changed func()) {
	if s.run != nil {
		s.run(ctx, changed)
		return
	}
	<-ctx.Done()
}

func sample(v float64, name string, pairs ...string) collectors.Sample {
	return collectors.Sample{Labels: labels.FromStrings(append(pairs, model.MetricNameLabel, name)...), Value: v}
}

// gauge is a collector whose value the test sets.
func gauge(name string) (*stub, *atomic.Int64) {
	var v atomic.Int64
	return &stub{collect: func(context.Context) ([]collectors.Sample, error) {
		return []collectors.Sample{sample(float64(v.Load()), name)}, nil
	}}, &v
}

func source(name string, c collectors.Collector) evaluator.Source {
	return evaluator.Source{Name: name, Kind: "stub", Interval: 10 * time.Second, Timeout: 5 * time.Second, Collector: c}
}

func parse(t *testing.T, text string) []*rules.File {
	t.Helper()
	f, errs := rules.Parse("test.yml", []byte(text), []string{"ready", "alive", "started"})
	if len(errs) > 0 {
		t.Fatalf("Parse() = %v, want no error", errs)
	}
	return []*rules.File{f}
}

const upRule = `
groups:
  - name: g
    rules:
      - alert: Down
        expr: up == 0
        labels: {state: ready}
`

// start runs an evaluator until the returned function is called.
func start(t *testing.T, cfg evaluator.Config) (*evaluator.Evaluator, func()) {
	t.Helper()
	return startWith(t, cfg, evaluator.Options{})
}

func startWith(t *testing.T, cfg evaluator.Config, opts evaluator.Options) (*evaluator.Evaluator, func()) {
	t.Helper()
	e, err := evaluator.New(cfg, opts)
	if err != nil {
		t.Fatalf("New() = %v, want no error", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		e.Run(ctx)
	}()
	return e, func() {
		cancel()
		<-done
	}
}

func verdict(t *testing.T, e *evaluator.Evaluator, state string) evaluator.State {
	t.Helper()
	s, ok := e.Snapshot().State(state, time.Now())
	if !ok {
		t.Fatalf("State(%q) does not exist", state)
	}
	return s
}

func collector(t *testing.T, e *evaluator.Evaluator, name string) evaluator.CollectorStatus {
	t.Helper()
	for _, c := range e.Snapshot().Collectors {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("collector %q is not in the snapshot", name)
	return evaluator.CollectorStatus{}
}
