// Package blocking calls functions that nothing can interrupt, such as system calls on a file
// system that hangs.
package blocking

import (
	"context"

	"github.com/vitals-health/vitals/internal/panics"
)

// Call runs a function in a goroutine, at most one at a time. The zero value is ready. It is
// not safe for concurrent use.
type Call[T any] struct{ running *panics.Task[T] }

// Do returns the result of f, or the cause of ctx's end. A call that is still running from
// an earlier Do is awaited instead of starting a second one; a result that came after an
// earlier Do returned is dropped. Do panics if f did, also in a call of an earlier Do.
func (c *Call[T]) Do(ctx context.Context, f func() T) (T, error) {
	if c.running != nil {
		select {
		case <-c.running.Done():
			c.end()
		default:
		}
	}
	if c.running == nil {
		c.running = panics.Go(f)
	}
	select {
	case <-c.running.Done():
		return c.end(), nil
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	}
}

// end returns the result of the call, which has ended.
func (c *Call[T]) end() T {
	ended := c.running
	c.running = nil
	return ended.Result()
}
