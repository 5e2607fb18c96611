package kubernetes

import (
	"context"
	"io"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/internal/panics"
)

// A watch that panics ends Run with its panic, and the next Run opens all watches again.
func TestRunAfterAPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := &outage{}
		api.over.Store(true)
		api.play = func(ctx context.Context, _ int32, _ string, _ io.Writer) error {
			<-ctx.Done()
			return ctx.Err()
		}
		client, logger := fakeClient(api), slog.New(slog.DiscardHandler)
		k := &collector{watches: []*watch{newWatch(client, "pods", time.Minute, logger), newWatch(client, "services", time.Minute, logger)}, requests: client, streams: client}
		var opened atomic.Int64
		err := panics.Try(func() {
			k.Run(t.Context(), func() {
				if opened.Add(1) == 2 {
					panic("boom")
				}
			})
		})
		if err == nil || err.Error() != "panic: boom" {
			t.Fatalf("Run() panics with %v, want the panic of the watch", err)
		}

		ctx, cancel := context.WithCancel(t.Context())
		changed := make(chan struct{}, len(k.watches))
		running := panics.Go(func() struct{} {
			collectors.Runner(k).Run(ctx, func() { changed <- struct{}{} })
			return struct{}{}
		})
		for range k.watches {
			<-changed
		}
		for _, w := range k.watches {
			if !w.snapshot().connected {
				t.Errorf("the watch on %s is not open after the next Run", w.resource)
			}
		}
		cancel()
		running.Result()
	})
}

// A panic of the timer that confirms a watch ends the attempt with its panic.
func TestPanicOfATimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWatch(nil, "pods", time.Minute, slog.New(slog.DiscardHandler))
		w.state.err = errClosed // the previous watch was ended at once
		ctx, cancel := context.WithCancelCause(t.Context())
		stop := w.confirm(time.Now(), func() { panic("boom") }, cancel)
		<-ctx.Done()
		if err := panics.Try(stop); err == nil || err.Error() != "panic: boom" {
			t.Errorf("stop() panics with %v, want the panic of the timer", err)
		}
	})
}
