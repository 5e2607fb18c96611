package explain

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/rules"
)

// stub is a collector made of functions; without run it is idle between
// collections.
type stub struct {
	collect func(ctx context.Context) ([]collectors.Sample, error)
	run     func(ctx context.Context, changed func())
}

func (s *stub) Collect(ctx context.Context) ([]collectors.Sample, error) { return s.collect(ctx) }

func (s *stub) Describe() []collectors.Desc { return nil }

func (s *stub) Run(ctx context.Context, changed func()) {
	if s.run != nil {
		s.run(ctx, changed)
	}
	<-ctx.Done()
}

// daemon is an evaluator and its explainer.
type daemon struct {
	*evaluator.Evaluator
	explainer *Explainer
}

// newDaemon makes an evaluator with one collector and the rules Down, up == 0, and Other.
func newDaemon(t *testing.T, c *stub) *daemon {
	t.Helper()
	file, errs := rules.Parse("test.yml", []byte("groups: [{name: g, rules: [{alert: Down, expr: up == 0, labels: {state: ready}}, {alert: Other, expr: up == 2}]}]"), []string{"ready"})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	e, err := evaluator.New(evaluator.Config{
		Files:   []*rules.File{file},
		Sources: []evaluator.Source{{Name: "c", Kind: "stub", Interval: 10 * time.Second, Timeout: 5 * time.Second, Collector: c}},
	}, evaluator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &daemon{e, New(e)}
}

// start runs an evaluator until the returned function is called.
func start(t *testing.T, c *stub) (*daemon, func()) {
	t.Helper()
	d := newDaemon(t, c)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		d.Run(ctx)
	}()
	return d, func() {
		cancel()
		<-done
	}
}

// gauge is a collector that exports up with this value.
func gauge(value *atomic.Int64) *stub {
	return &stub{collect: func(context.Context) ([]collectors.Sample, error) {
		return []collectors.Sample{sample(float64(value.Load()), "up")}, nil
	}}
}

func (d *daemon) explain(ctx context.Context, state string, o Options) (*Explanation, error) {
	return d.explainer.Explain(ctx, state, o, time.Now())
}

func TestExplainOnceAGeneration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, stop := start(t, gauge(&atomic.Int64{}))
		defer stop()
		time.Sleep(1500 * time.Millisecond)
		var mu sync.Mutex // guards what follows
		rules := map[*Rule]uint64{}
		request := func() {
			var wg sync.WaitGroup
			for i := range 100 {
				wg.Go(func() {
					x, err := e.explain(t.Context(), "ready", Options{All: i%2 == 0})
					if err != nil || len(x.Rules) != 1 || x.Rules[0].Tree == nil {
						t.Errorf("Explain() = %+v, %v, want one rule and its tree", x, err)
						return
					}
					mu.Lock()
					defer mu.Unlock()
					rules[x.Rules[0]] = x.Generation
				})
			}
			wg.Wait()
		}
		before := e.Snapshot().Generation
		request()
		if got := e.Snapshot().Generation; len(rules) != 1 || got != before {
			t.Errorf("a hundred requests cost %d explanations and %d generations, want 1 and none", len(rules), got-before)
		}
		time.Sleep(time.Second)
		request()
		if len(rules) != 2 {
			t.Errorf("in the next generation there are %d explanations in all, want 2", len(rules))
		}
		for _, generation := range rules {
			if generation != before && generation != e.Snapshot().Generation {
				t.Errorf("an explanation is of the generation %d, want %d or %d", generation, before, e.Snapshot().Generation)
			}
		}
	})
}

// A result that is not evaluated yet is in the window, and in no verdict. Without history
// its time is too late for the last evaluation.
func TestExplainWaitsForTheEvaluationThatIsDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var value atomic.Int64
		value.Store(1)
		wake := make(chan struct{})
		c := gauge(&value)
		c.run = func(ctx context.Context, changed func()) {
			select {
			case <-wake:
				changed()
			case <-ctx.Done():
			}
		}
		e, stop := start(t, c)
		defer stop()
		time.Sleep(1500 * time.Millisecond)
		value.Store(0)
		close(wake)
		synctest.Wait() // The loop has the result, and 10 ms for others to come.
		before := e.Snapshot()
		x, err := e.explain(t.Context(), "ready", Options{All: true})
		if err != nil || x.Generation != before.Generation+1 || x.Verdict != "fail" {
			t.Fatalf("Explain() = %+v, %v, want the next generation, which fails", x, err)
		}
		up := x.Rules[0].Tree.Children[0]
		if up.Count != 1 || *up.Series[0].Value != 0 || up.Series[0].Collector != "c" {
			t.Errorf("the selector = %+v, want its new value", up)
		}
	})
}

func TestExplainEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		idle := newDaemon(t, gauge(&atomic.Int64{}))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := idle.explain(ctx, "ready", Options{}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Explain() of an evaluator that does not run = %v, want the deadline's error", err)
		}
		e, stop := start(t, gauge(&atomic.Int64{}))
		if _, err := e.explain(t.Context(), "started", Options{All: true}); err != nil {
			t.Errorf("Explain() = %v, want no error", err)
		}
		if _, err := e.explain(t.Context(), "ready", Options{Rule: "Down"}); err != nil {
			t.Errorf("Explain() = %v, want no error", err)
		}
		if _, err := e.explain(t.Context(), "platinum", Options{}); !errors.As(err, new(*NotFoundError)) {
			t.Errorf("Explain() of no state = %v, want a NotFoundError", err)
		}
		stop()
		if _, err := e.explain(t.Context(), "ready", Options{Rule: "Down"}); err != nil {
			t.Errorf("Explain() of what is explained already = %v, want it without the loop", err)
		}
		if _, err := e.explain(t.Context(), "ready", Options{Rule: "Other"}); !errors.Is(err, evaluator.ErrStopped) {
			t.Errorf("Explain() of an evaluator that has stopped = %v, want ErrStopped", err)
		}
	})
}

func TestNumberInJSON(t *testing.T) {
	for _, f := range []float64{0, 1, -1.5, 1e300, math.Inf(1), math.Inf(-1)} {
		data, err := json.Marshal(Number(f))
		var back Number
		if err = errors.Join(err, json.Unmarshal(data, &back)); err != nil || float64(back) != f {
			t.Errorf("%g became %s and %g, %v, want it to come back", f, data, back, err)
		}
	}
	data, err := json.Marshal(struct{ N *Number }{new(Number(math.NaN()))})
	if err != nil || string(data) != `{"N":"NaN"}` {
		t.Errorf("Marshal(NaN) = %s, %v, want a string", data, err)
	}
	var got struct{ N Number }
	if err := json.Unmarshal(data, &got); err != nil || !math.IsNaN(float64(got.N)) {
		t.Errorf("Unmarshal(%s) = %v, %v, want NaN", data, got, err)
	}
	for _, bad := range []string{`{"N":"1"}`, `{"N":true}`, `{"N":[]}`, `{"N":"nan"}`, `{"N":"Infinity"}`} {
		if err := json.Unmarshal([]byte(bad), &got); err == nil {
			t.Errorf("Unmarshal(%s) = %v, want an error", bad, got)
		}
	}
}

// An explanation survives JSON.
func TestExplanationInJSON(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, stop := start(t, gauge(&atomic.Int64{}))
		defer stop()
		time.Sleep(1500 * time.Millisecond)
		x, err := e.explain(t.Context(), "ready", Options{})
		if err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(x)
		if err != nil {
			t.Fatal(err)
		}
		var back Explanation
		if err := json.Unmarshal(data, &back); err != nil || !reflect.DeepEqual(&back, x) {
			t.Errorf("Unmarshal() = %+v, %v, want %+v", &back, err, x)
		}
	})
}

// A metric that no collector describes may be one of a collector that fails.
func TestExplainNamesTheFailingCollector(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, stop := start(t, &stub{collect: func(context.Context) ([]collectors.Sample, error) { return nil, errors.New("refused") }})
		defer stop()
		time.Sleep(time.Second)
		synctest.Wait()
		x, err := d.explain(t.Context(), evaluator.Ready, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := x.Rules[0].Tree.collectors(nil); !slices.Equal(got, []string{"c"}) || len(x.Collectors) != 1 || x.Collectors[0].Error != "refused" {
			t.Errorf("the tree names %q, and the collectors are %+v, want the failing one", got, x.Collectors)
		}
	})
}
