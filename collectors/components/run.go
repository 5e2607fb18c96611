package components

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/vitals-health/vitals/internal/panics"
)

// Run listens on the notify sockets, reads the shared booleans and starts a collection
// when a deadline passes. It removes its sockets before it returns.
func (c *Collector) Run(ctx context.Context, changed func()) {
	if c.start(changed) {
		changed()
	}
	g, ctx := errgroup.WithContext(ctx)
	if len(c.sockets) > 0 {
		g.Go(panics.Caught(func() { c.listen(ctx) }))
	}
	if len(c.booleans) > 0 {
		g.Go(panics.Caught(func() { c.watchBooleans(ctx) }))
	}
	g.Go(panics.Caught(func() { c.watchDeadlines(ctx, changed) }))
	panics.Raise(g.Wait())
}

// start lets reports start collections. It reports whether there were reports before.
func (c *Collector) start(changed func()) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changed = changed
	for _, comp := range c.known {
		if comp.reports > 0 {
			return true
		}
	}
	return false
}

// watchDeadlines starts a collection whenever a deadline passes.
func (c *Collector) watchDeadlines(ctx context.Context, changed func()) {
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.nextCheck = time.Time{}
	}()
	for {
		passed, next := c.deadlinesAt(time.Now())
		if passed {
			changed()
		}
		var timer <-chan time.Time
		if next > 0 {
			timer = time.After(next)
		}
		select {
		case <-ctx.Done():
			return
		case <-c.wake:
		case <-timer:
		}
	}
}

// deadlinesAt reports whether a deadline has passed since the last call, and the time
// until the next one; zero is none.
func (c *Collector) deadlinesAt(at time.Time) (passed bool, next time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.noticeStopLocked(at)
	c.nextCheck = time.Time{}
	defer func() {
		if next > 0 {
			c.nextCheck = at.Add(next)
		}
	}()
	for _, comp := range c.known {
		switch {
		case comp.due().IsZero():
		case !comp.late(at):
			if left := comp.due().Sub(at); next == 0 || left < next {
				next = left
			}
		case !comp.overdue:
			comp.overdue, passed = true, true
		}
	}
	return passed, next
}

// maxTimerDelay is how late a timer fires at most while this process runs.
const maxTimerDelay = 200 * time.Millisecond

// noticeStopLocked begins the deadlines anew if this process was stopped when one passed: no
// report could arrive. Every reader of deadlines calls it, because the first to run after a stop
// may be any of them.
func (c *Collector) noticeStopLocked(at time.Time) {
	if c.nextCheck.IsZero() || at.Sub(c.nextCheck) < maxTimerDelay {
		return
	}
	c.nextCheck = time.Time{}
	for _, comp := range c.known {
		if !comp.overdue {
			comp.resumedAt = at
		}
	}
	select {
	case c.wake <- struct{}{}:
	default:
	}
}
