package workers

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vitals-health/vitals/collectors"
)

// requestedCollector counts its collections, those that were requested apart.
type requestedCollector struct{ regular, requested int }

func (c *requestedCollector) Collect(ctx context.Context) ([]collectors.Sample, error) {
	if collectors.Requested(ctx) {
		c.requested++
	} else {
		c.regular++
	}
	return nil, nil
}

func (*requestedCollector) Describe() []collectors.Desc { return nil }

// All collectors run anew after a step of the clock: results from before it are no evidence, so the
// collections are regular ones.
func TestCollectorsRunAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &requestedCollector{}
		w := newWorker(Job{Name: "c", Interval: time.Hour, Timeout: time.Second, Collector: c}, make(chan Result, 9), slog.New(slog.DiscardHandler), nil)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			w.run(ctx)
		}()
		for _, wake := range []func(){func() {}, w.wakeUp, (&Set{running: map[collectors.Collector]*worker{c: w}}).WakeUp} {
			time.Sleep(time.Second)
			wake()
		}
		time.Sleep(time.Second)
		cancel()
		<-done
		if c.regular != 2 || c.requested != 1 {
			t.Errorf("%d regular and %d requested collections, want 2 and 1", c.regular, c.requested)
		}
	})
}
