package budget

import (
	"context"
	"fmt"
	"io"

	"golang.org/x/sync/semaphore"
)

const (
	// freeBody is how much of a body is read without a reservation, in bytes, and freeMemory
	// bounds what that part takes. Most answers are smaller.
	freeBody, freeMemory = 64 << 10, 512 << 10
	// turnShare is how much of the other half an answer may take in its turn. Bodies are a
	// fifth of a process's memory, so one answer takes at most half of that memory.
	turnShare = 5
)

// Bodies bounds the memory of the answers that are read and parsed at the same time. Half
// of it is a Budget, from which an answer takes as it grows. Answers that outgrow it take
// turns with the other half. So a slow answer holds only what was read of it, one that is
// not large need not wait, and large ones are read one after another. Its methods are safe
// for concurrent use.
type Bodies struct {
	shared *Budget
	turn   *semaphore.Weighted
}

// NewBodies returns a budget of limit bytes.
func NewBodies(limit int64) *Bodies {
	return &Bodies{shared: New(limit / 2), turn: semaphore.NewWeighted(1)}
}

// Reader returns a reader of body that reserves memory as it reads: parsing takes factor
// bytes for one of the body. Call Release when the parsed body is no longer in use. A nil
// Bodies reserves nothing.
func (b *Bodies) Reader(ctx context.Context, body io.Reader, factor int64) *Reader {
	r := &Reader{ctx: ctx, bodies: b, body: body, factor: factor, allowed: min(freeBody, freeMemory/factor)}
	if b != nil {
		r.reserved = b.shared.Account()
	}
	return r
}

// Reader reads a body. It is not safe for concurrent use.
type Reader struct {
	ctx    context.Context
	bodies *Bodies
	body   io.Reader
	factor int64
	// read and allowed are bytes of the body.
	read, allowed int64
	reserved      *Account
	// hasTurn is set while the reader has the other half.
	hasTurn bool
}

// Read implements io.Reader. It waits for memory until the context ends. The error then
// wraps that of the context and ErrExceeded. An answer that is larger than half of the
// budget, or that takes more than one may in its turn, is an ErrExceeded, too.
func (r *Reader) Read(p []byte) (int, error) {
	if r.bodies != nil {
		if r.read == r.allowed {
			if err := r.reserve(); err != nil {
				return 0, err
			}
		}
		p = p[:min(int64(len(p)), r.allowed-r.read)]
	}
	n, err := r.body.Read(p)
	r.read += int64(n)
	return n, err
}

// reserve allows the body to become twice as large, or with a turn as large as there is room.
func (r *Reader) reserve() error {
	b := r.bodies
	if r.hasTurn {
		return fmt.Errorf("%w for an answer of more than %s", ErrExceeded, size(r.allowed))
	}
	if r.reserved.Grow(r.allowed*r.factor) == nil {
		r.allowed *= 2
		return nil
	}
	largest := min(b.shared.Limit(), turnShare*b.shared.Limit()/r.factor)
	if r.allowed >= largest {
		return fmt.Errorf("%w for an answer of more than %s", ErrExceeded, size(r.allowed))
	}
	if err := b.turn.Acquire(r.ctx, 1); err != nil {
		return fmt.Errorf("%w for an answer of more than %s beside other large ones: %w", ErrExceeded, size(r.allowed), err)
	}
	r.hasTurn, r.allowed = true, largest
	return nil
}

// Release returns the memory. It may be called more than once.
func (r *Reader) Release() {
	if r.bodies == nil {
		return
	}
	r.reserved.Close()
	if r.hasTurn {
		r.hasTurn = false
		r.bodies.turn.Release(1)
	}
}
