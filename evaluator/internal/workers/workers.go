package workers

import (
	"context"
	"log/slog"
	"slices"
	"sync"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/internal/redact"
)

// Set is the running collectors. It is not safe for concurrent use.
type Set struct {
	results chan<- Result
	logger  *slog.Logger
	secrets *redact.List
	running map[collectors.Collector]*worker
	// ending are closed when collectors that were stopped have ended.
	ending []<-chan struct{}
	wg     sync.WaitGroup
}

// New returns a Set without collectors, whose results go to a channel. secrets are hidden in all
// that collectors return; nil hides none by their values.
func New(results chan<- Result, logger *slog.Logger, secrets *redact.List) *Set {
	return &Set{results: results, logger: logger, secrets: secrets, running: map[collectors.Collector]*worker{}}
}

// Replace starts and stops collectors until exactly those of jobs run. One that runs
// already continues, if need be with other times. A new one starts when those that were
// stopped have ended: it may need their resources, such as a socket.
func (ws *Set) Replace(ctx context.Context, jobs []Job) {
	wanted := map[collectors.Collector]bool{}
	for _, j := range jobs {
		wanted[j.Collector] = true
	}
	ws.ending = slices.DeleteFunc(ws.ending, isClosed)
	for c, w := range ws.running {
		if !wanted[c] {
			w.cancel()
			ws.ending = append(ws.ending, w.ended)
			delete(ws.running, c)
		}
	}
	for _, j := range jobs {
		if w, ok := ws.running[j.Collector]; ok {
			w.change(j)
			continue
		}
		ws.start(ctx, j)
	}
}

func (ws *Set) start(ctx context.Context, j Job) {
	ctx, cancel := context.WithCancel(ctx)
	w := newWorker(j, ws.results, ws.logger, ws.secrets)
	w.cancel = cancel
	ws.running[j.Collector] = w
	before := slices.Clone(ws.ending)
	ws.wg.Go(func() {
		defer close(w.ended)
		for _, ended := range before {
			select {
			case <-ended:
			case <-ctx.Done():
				return
			}
		}
		w.run(ctx)
	})
}

// WakeUp has every collector begin anew with a regular collection.
func (ws *Set) WakeUp() {
	for _, w := range ws.running {
		w.renew()
	}
}

// Stop stops all collectors and waits for them.
func (ws *Set) Stop() {
	for _, w := range ws.running {
		w.cancel()
	}
	ws.wg.Wait()
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
