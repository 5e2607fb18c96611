package panics_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/vitals-health/vitals/internal/panics"
)

// explode is named in the stack of its panic.
func explode() { panic("boom") }

// caught returns the panic of f, which must have one with the stack of explode.
func caught(t *testing.T, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		p := panics.Of(recover())
		if p == nil {
			t.Fatal("no panic, want that of the other goroutine")
		}
		if p.Error() != "panic: boom" || !strings.Contains(string(p.Stack), "panics_test.explode") {
			t.Errorf("panic = %v with the stack %s, want that of explode", p, p.Stack)
		}
	}()
	f()
}

func TestResultRaisesThePanicOfItsTask(t *testing.T) {
	task := panics.Go(func() int { explode(); return 0 })
	<-task.Done()
	caught(t, func() { task.Result() })
	if got := panics.Go(func() int { return 7 }).Result(); got != 7 {
		t.Errorf("Result() = %d, want 7", got)
	}
}

func TestAPanicEndsItsGroup(t *testing.T) {
	g, ctx := errgroup.WithContext(t.Context())
	g.Go(panics.Caught(func() { <-ctx.Done() })) // would wait for ever without the end of ctx
	g.Go(panics.Caught(explode))
	caught(t, func() { panics.Raise(g.Wait()) })
	panics.Raise(nil)
}

func TestAPanicOfACallbackIsItsError(t *testing.T) {
	dial := panics.Dial(func(context.Context, string, string) (net.Conn, error) { explode(); return nil, nil })
	_, err := dial(t.Context(), "tcp", "a:1")
	e, ok := errors.AsType[*panics.Error](err)
	if !ok || !strings.Contains(string(e.Stack), "panics_test.explode") {
		t.Errorf("dial: %v, want the panic with its stack", err)
	}
	if err := panics.Try(func() {}); err != nil {
		t.Errorf("Try() = %v without a panic, want nil", err)
	}
}

// A panic with nil has a value since Go 1.21.
func TestPanicWithNil(t *testing.T) {
	if err := panics.Try(func() { panic(nil) }); err == nil {
		t.Error("Try() = nil, want the panic")
	}
}
