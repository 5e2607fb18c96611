package budget_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vitals-health/vitals/internal/budget"
)

const mebibyte = 1 << 20

func body(bytes int) io.Reader { return strings.NewReader(strings.Repeat("x", bytes)) }

// 100 answers of 8 MiB at once: all are read, and few at the same time.
func TestLargeBodiesAreReadOneAfterAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const bodies, large = 100, 8 * mebibyte
		b := budget.NewBodies(24 * mebibyte)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		var held, most, done atomic.Int64
		for range bodies {
			go func() {
				r := b.Reader(ctx, body(large), 1)
				defer r.Release()
				n, err := io.Copy(io.Discard, r)
				if err != nil || n != large {
					t.Errorf("read %d bytes: %v", n, err)
					return
				}
				most.Store(max(most.Load(), held.Add(1)))
				time.Sleep(10 * time.Millisecond) // parse it
				held.Add(-1)
				done.Add(1)
			}()
		}
		time.Sleep(4 * time.Second)
		synctest.Wait()
		if done.Load() != bodies || most.Load() > 3 {
			t.Errorf("%d of %d were read, %d at the same time, want all and at most 3", done.Load(), bodies, most.Load())
		}
	})
}

// silent is a body that never ends.
type silent struct{ ctx context.Context }

func (s silent) Read([]byte) (int, error) {
	<-s.ctx.Done()
	return 0, s.ctx.Err()
}

// Four targets send 1 MiB each and then nothing more.
func TestSlowBodiesLeaveRoomForOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := budget.NewBodies(24 * mebibyte)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		var slow sync.WaitGroup
		for range 4 {
			slow.Go(func() {
				r := b.Reader(ctx, io.MultiReader(body(mebibyte), silent{ctx}), 1)
				defer r.Release()
				if _, err := io.Copy(io.Discard, r); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("a body that never ends: %v, want the deadline", err)
				}
			})
		}
		synctest.Wait()
		for _, size := range []int{1 << 10, 300 << 10} {
			r := b.Reader(ctx, body(size), 1)
			if n, err := io.Copy(io.Discard, r); err != nil || n != int64(size) {
				t.Errorf("read %d of %d bytes beside slow bodies: %v", n, size, err)
			}
			r.Release()
			r.Release()
		}
		if left := time.Until(deadline(ctx)); left != 5*time.Second {
			t.Errorf("the reads took %s, want no wait", 5*time.Second-left)
		}
		slow.Wait()
	})
}

func deadline(ctx context.Context) time.Time {
	d, _ := ctx.Deadline()
	return d
}

func TestABodyWaitsUntilItsDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := budget.NewBodies(8 * mebibyte)
		first := b.Reader(t.Context(), body(4*mebibyte-1), 2)
		if _, err := io.Copy(io.Discard, first); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		second := b.Reader(ctx, body(3*mebibyte), 2)
		_, err := io.Copy(io.Discard, second)
		if !errors.Is(err, budget.ErrExceeded) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("read beside another large body = %v, want ErrExceeded at the deadline", err)
		}
		second.Release()
		first.Release()
		third := b.Reader(t.Context(), body(3*mebibyte), 2)
		if _, err := io.Copy(io.Discard, third); err != nil {
			t.Errorf("read after the release = %v", err)
		}
	})
}

func TestABodyLargerThanTheBudgetFails(t *testing.T) {
	r := budget.NewBodies(2*mebibyte).Reader(t.Context(), body(3*mebibyte), 1)
	n, err := io.Copy(io.Discard, r)
	if !errors.Is(err, budget.ErrExceeded) || errors.Is(err, context.DeadlineExceeded) || n > mebibyte {
		t.Errorf("read %d bytes: %v, want ErrExceeded after at most 1 MiB", n, err)
	}
	var none *budget.Bodies
	if n, err := io.Copy(io.Discard, none.Reader(t.Context(), body(3*mebibyte), 1)); err != nil || n != 3*mebibyte {
		t.Errorf("read %d bytes without a budget: %v, want all", n, err)
	}
}

// 80 answers of many kinds at once, in a process of 128 MiB: what they take, without the one in
// its turn and what is free, stays within half of the budget.
func TestManyKindsOfBodiesAtOnce(t *testing.T) {
	const limit, free, atOnce = 128 * mebibyte / 5, 512 << 10, 80
	kinds := []struct{ bytes, factor int64 }{{600 << 10, 96}, {mebibyte, 56}, {mebibyte, 8}, {4 * mebibyte, 4}, {60 << 10, 96}}
	synctest.Test(t, func(t *testing.T) {
		b := budget.NewBodies(limit)
		var mu sync.Mutex
		held := map[int]int64{}
		var peak, done int64
		var all sync.WaitGroup
		for i := range atOnce {
			kind := kinds[i%len(kinds)]
			all.Go(func() {
				r := b.Reader(t.Context(), body(int(kind.bytes)), kind.factor)
				defer r.Release()
				taken := func(n int64) {
					mu.Lock()
					defer mu.Unlock()
					held[i] += n * kind.factor
					sum, most := int64(0), int64(0)
					for _, h := range held {
						sum, most = sum+max(h-free, 0), max(most, h-free)
					}
					peak = max(peak, sum-most)
				}
				buffer := make([]byte, 16<<10)
				for {
					n, err := r.Read(buffer)
					taken(int64(n))
					if errors.Is(err, io.EOF) {
						break
					}
					if err != nil {
						t.Errorf("an answer of %d bytes with the factor %d: %v", kind.bytes, kind.factor, err)
						return
					}
				}
				time.Sleep(10 * time.Millisecond) // parse it
				mu.Lock()
				defer mu.Unlock()
				delete(held, i)
				done++
			})
		}
		all.Wait()
		if done != atOnce || peak > limit/2 || peak == 0 {
			t.Errorf("%d of %d were read, and at most %d bytes were taken beside the turn, want all within %d", done, atOnce, peak, limit/2)
		}
	})
}

// The memory that an answer takes counts, and not only its size.
func TestABodyThatTakesTooMuchFails(t *testing.T) {
	b := budget.NewBodies(2 * mebibyte)
	r := b.Reader(t.Context(), body(mebibyte/2), 96)
	defer r.Release()
	if n, err := io.Copy(io.Discard, r); !errors.Is(err, budget.ErrExceeded) || n*96 > 5*mebibyte {
		t.Errorf("read %d bytes: %v, want ErrExceeded after at most 5 MiB of parsed answer", n, err)
	}
}
