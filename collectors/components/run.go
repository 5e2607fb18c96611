package components

import (
	"context"
	"sync"
	"time"
)

// Run listens on the notify sockets, watches the shared booleans, and asks for a
// round when a deadline passes. It closes and removes its sockets before it returns.
func (c *Collector) Run(ctx context.Context, changed func()) {
	if c.begin(changed) {
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

// begin lets reports ask for rounds. It says whether there have been reports
// before, which could not ask.
func (c *Collector) begin(changed func()) bool {
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

// watchDeadlines asks for a round whenever a component's deadline passes.
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

// deadlinesAt says whether a deadline has passed that has not asked for a round
// yet, and how far the next one is; zero means that there is none.
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
