package evaluator

import (
	"context"
	"slices"
	"sync"

	"github.com/vitals-health/vitals/collectors"
)

// workers are the running collectors.
type workers struct {
	results chan<- result
	opts    Options
	running map[collectors.Collector]*worker
	// ending are closed when collectors that were stopped have ended.
	ending []<-chan struct{}
	wg     sync.WaitGroup
}

func newWorkers(results chan<- result, opts Options) *workers {
	return &workers{results: results, opts: opts, running: map[collectors.Collector]*worker{}}
}

// replace starts and stops collectors until exactly those of sources run. One that runs
// already continues, if need be with other times. A new one starts when those that were
// stopped have ended: it may need their resources, such as a socket.
func (ws *workers) replace(ctx context.Context, sources []Source) {
	wanted := map[collectors.Collector]bool{}
	for _, s := range sources {
		wanted[s.Collector] = true
	}
	ws.ending = slices.DeleteFunc(ws.ending, isClosed)
	for c, w := range ws.running {
		if !wanted[c] {
			w.cancel()
			ws.ending = append(ws.ending, w.ended)
			delete(ws.running, c)
		}
	}
	for _, s := range sources {
		if w, ok := ws.running[s.Collector]; ok {
			w.change(s)
			continue
		}
		ws.start(ctx, s)
	}
}

func (ws *workers) start(ctx context.Context, s Source) {
	ctx, cancel := context.WithCancel(ctx)
	w := newWorker(s, ws.results, ws.opts)
	w.cancel = cancel
	ws.running[s.Collector] = w
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

// wakeUp has every collector begin anew with a regular collection.
func (ws *workers) wakeUp() {
	for _, w := range ws.running {
		w.renew()
	}
}

// stop stops all collectors and waits for them.
func (ws *workers) stop() {
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
