package collectors

import "context"

// requestedKey is the key of WithRequest in a context.
type requestedKey struct{}

// WithRequest returns the context of a collection that a Runner requested between two regular ones.
func WithRequest(ctx context.Context) context.Context {
	return context.WithValue(ctx, requestedKey{}, true)
}

// Requested reports whether ctx is that of a requested collection. The collector may then export
// what has changed together with earlier results.
func Requested(ctx context.Context) bool { return ctx.Value(requestedKey{}) != nil }
