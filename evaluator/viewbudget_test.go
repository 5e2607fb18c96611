package evaluator_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vitals-health/vitals/evaluator"
)

// used runs n views at once for so long. Each uses all the time that it gets, at most most.
// It returns when each began and for how long it ran.
func used(t *testing.T, e *evaluator.Evaluator, n int, patience, most time.Duration) (began []time.Time, took []time.Duration) {
	var mu sync.Mutex
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			err := e.View(ctx, func(ctx context.Context, _ *evaluator.View) {
				start := time.Now()
				select {
				case <-ctx.Done():
				case <-time.After(most):
				}
				mu.Lock()
				defer mu.Unlock()
				began, took = append(began, start), append(took, time.Since(start))
			})
			if err != nil && !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("View() = %v, want none or that of the context", err)
			}
		})
	}
	all.Wait()
	return began, took
}

// All views together hold the evaluator up for 250 ms a second, however many there are.
func TestViewsShareABudget(t *testing.T) {
	for _, tt := range []struct {
		name           string
		interval, most time.Duration
		views, want    int
	}{
		{"each uses all", time.Second, time.Hour, 20, 3},
		{"each uses 50 ms, and gets at least 125 ms", time.Second, 50 * time.Millisecond, 20, 9},
		{"short intervals share one of a second", 100 * time.Millisecond, time.Hour, 20, 3},
		{"long intervals have one of a second, too", time.Minute, time.Hour, 20, 3},
		{"few fit into one", time.Second, 50 * time.Millisecond, 3, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e, stop := start(t, evaluator.Config{Interval: tt.interval})
				defer stop()
				before, generation := time.Now(), e.Snapshot().Generation
				began, took := used(t, e, tt.views, 2900*time.Millisecond, tt.most)
				spent := map[time.Duration]time.Duration{}
				for i := range began {
					spent[began[i].Sub(before)/time.Second] += took[i]
				}
				for second, d := range spent {
					if d > 250*time.Millisecond {
						t.Errorf("in second %d the views took %s, want at most 250ms", second, d)
					}
				}
				if len(began) != tt.want {
					t.Errorf("%d views ran, want %d", len(began), tt.want)
				}
				if n := e.Snapshot().Generation - generation; tt.views == 20 && tt.interval <= time.Second && n < 2 {
					t.Errorf("%d evaluations in 2.9 s, want one every second", n)
				}
			})
		})
	}
}

// A view that has to wait for the next interval gets a whole budget then.
func TestViewWaitsForTheNextInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, stop := start(t, evaluator.Config{})
		defer stop()
		if _, took := used(t, e, 1, time.Minute, time.Hour); len(took) != 1 || took[0] != 250*time.Millisecond {
			t.Fatalf("the first view took %v, want 250ms", took)
		}
		before := time.Now()
		began, took := used(t, e, 1, time.Minute, 200*time.Millisecond)
		if len(took) != 1 || took[0] != 200*time.Millisecond || began[0].Sub(before) > time.Second {
			t.Errorf("the second view took %v from %v, want 200ms within a second of %v", took, began, before)
		}
	})
}
