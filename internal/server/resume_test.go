package server_test

import (
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/server"
)

// resumedEvaluator publishes snapshots as an evaluator does.
type resumedEvaluator struct {
	mu      sync.Mutex // guards what follows
	snap    *evaluator.Snapshot
	changed chan struct{}
}

func (p *resumedEvaluator) snapshot() *evaluator.Snapshot {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.snap
}

func (p *resumedEvaluator) next() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.changed
}

func (p *resumedEvaluator) publish(at time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	snap := healthy()
	snap.At, snap.AliveMaxAge = at, time.Minute
	if p.snap != nil {
		snap.Generation = p.snap.Generation + 1
		close(p.changed)
	}
	p.snap, p.changed = snap, make(chan struct{})
}

// After the process was stopped, probes wait for a new generation for 200 ms at most. Once they
// have, later ones do not wait.
func TestProbesAfterAStop(t *testing.T) {
	type answer struct {
		code       int
		generation string
		took       time.Duration
	}
	for _, tt := range []struct {
		name string
		// evaluates is when the evaluator publishes after the stop; 0 is never.
		evaluates    time.Duration
		first, later answer
	}{
		{"evaluates soon", 150 * time.Millisecond, answer{200, "8", 150 * time.Millisecond}, answer{200, "8", 0}},
		{"hangs", 0, answer{503, "7", 200 * time.Millisecond}, answer{503, "7", 0}},
		{"evaluates too late", 300 * time.Millisecond, answer{503, "7", 200 * time.Millisecond}, answer{503, "7", 0}},
	} {
		for _, path := range []string{"/ready", "/alive", "/-/healthy"} {
			t.Run(tt.name+path, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					p := &resumedEvaluator{}
					p.publish(time.Now())
					h := server.New(server.Options{Snapshot: p.snapshot, Changed: p.next}).Handler()
					get := func() answer {
						begin, w := time.Now(), httptest.NewRecorder()
						h.ServeHTTP(w, httptest.NewRequest("GET", "http://127.0.0.1"+path, nil))
						return answer{w.Code, w.Header().Get("X-Vitals-Generation"), time.Since(begin)}
					}
					if got := get(); got != (answer{200, "7", 0}) {
						t.Errorf("before the stop: %+v", got)
					}
					time.Sleep(2 * time.Minute) // no goroutine runs
					if tt.evaluates > 0 {
						time.AfterFunc(tt.evaluates, func() { p.publish(time.Now()) })
					}
					if got := get(); got != tt.first {
						t.Errorf("first answer after the stop: %+v, want %+v", got, tt.first)
					}
					if got := get(); got != tt.later {
						t.Errorf("second answer: %+v, want %+v", got, tt.later)
					}
					time.Sleep(time.Second)
					if got := get(); tt.evaluates > 0 && (got.code != 200 || got.took != 0) {
						t.Errorf("once the evaluator runs: %+v, want 200 at once", got)
					}
				})
			})
		}
	}
}
