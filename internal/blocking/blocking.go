// Package blocking calls functions that nothing can interrupt, such as system calls on a file
// system that hangs.
package blocking

import "context"

// Call runs a function in a goroutine, at most one at a time. The zero value is ready. It is
// not safe for concurrent use.
type Call[T any] struct{ result chan T }

// Do returns the result of f, or the cause of ctx's end. A call that is still running from
// an earlier Do is awaited instead of starting a second one; a result that came after an
// earlier Do returned is dropped.
func (c *Call[T]) Do(ctx context.Context, f func() T) (T, error) {
	select {
	case <-c.result:
		c.result = nil
	default:
	}
	if c.result == nil {
		c.result = make(chan T, 1)
		go func(result chan<- T) { result <- f() }(c.result)
	}
	select {
	case v := <-c.result:
		c.result = nil
		return v, nil
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	}
}
