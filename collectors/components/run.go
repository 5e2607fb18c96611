package components

import (
	"context"
	"sync"
	"time"
)

// Run listens on the notify sockets, reads the shared booleans and starts a collection
// when a deadline passes. It removes its sockets before it returns.
func (c *Collector) Run(ctx context.Context, changed func()) {
	if c.start(changed) {
		changed()
	}
	var wg sync.WaitGroup
	if len(c.sockets) > 0 {
		wg.Go(func() { c.listen(ctx) })
	}
	if len(c.booleans) > 0 {
		wg.Go(func() { c.watchBooleans(ctx) })
	}
	c.watchDeadlines(ctx, changed)
	wg.Wait()
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
