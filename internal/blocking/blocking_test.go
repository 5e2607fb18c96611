package blocking_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vitals-health/vitals/internal/blocking"
	"github.com/vitals-health/vitals/internal/panics"
)

func TestCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var call blocking.Call[int]
		if got, err := call.Do(t.Context(), func() int { return 1 }); got != 1 || err != nil {
			t.Errorf("Do() = %d, %v, want 1", got, err)
		}

		hang := make(chan int)
		do := func(f func() int) (int, error) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			return call.Do(ctx, f)
		}
		if _, err := do(func() int { return <-hang }); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Do() of a function that hangs = %v, want the deadline", err)
		}
		started := false
		if _, err := do(func() int { started = true; return 2 }); started || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Do() started a second call: %v, %v, want it to await the first", started, err)
		}
		hang <- 3
		synctest.Wait()
		if got, err := do(func() int { return 4 }); got != 4 || err != nil {
			t.Errorf("Do() = %d, %v, want 4: the late result is dropped", got, err)
		}
	})
}

// A panic reaches the caller: at once, or in the next call if it came after the deadline.
func TestPanicOfACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var call blocking.Call[int]
		panicked := func(f func() int) error {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			return panics.Try(func() { _, _ = call.Do(ctx, f) })
		}
		if err := panicked(func() int { panic("at once") }); err == nil || err.Error() != "panic: at once" {
			t.Errorf("Do() panics with %v, want what f panicked with", err)
		}
		if err := panicked(func() int { time.Sleep(2 * time.Second); panic("late") }); err != nil {
			t.Errorf("Do() panics with %v before f does", err)
		}
		time.Sleep(2 * time.Second)
		if err := panicked(func() int { return 1 }); err == nil || err.Error() != "panic: late" {
			t.Errorf("the next Do() panics with %v, want the late panic", err)
		}
		if err := panicked(func() int { return 1 }); err != nil {
			t.Errorf("the call after a panic panics with %v, want a result", err)
		}
	})
}
