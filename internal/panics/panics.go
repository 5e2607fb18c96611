// Package panics turns panics in other goroutines into errors of the code that started them, so
// that a fault of one collector does not end the process.
package panics

import (
	"context"
	"fmt"
	"net"
	"runtime/debug"
)

// Error is a panic as an error.
type Error struct {
	// Value is the argument of the panic.
	Value any
	// Stack is the stack of the goroutine that panicked.
	Stack []byte
}

func (e *Error) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// Of returns the result of recover as an Error, nil without a panic. It must be called in the
// deferred function that recovers. An Error that another goroutine raised again keeps its stack.
func Of(recovered any) *Error {
	if recovered == nil {
		return nil
	}
	if e, ok := recovered.(*Error); ok {
		return e
	}
	return &Error{Value: recovered, Stack: debug.Stack()}
}

// Into recovers from a panic and sets *err to it. A callback that a library calls in a goroutine
// of its own defers it.
func Into(err *error) {
	if e := Of(recover()); e != nil {
		*err = e
	}
}

// Try calls f and returns its panic, or nil.
func Try(f func()) (err error) {
	defer Into(&err)
	f()
	return nil
}

// Caught returns f for errgroup.Group.Go: a panic of f is the error of the group, and ends the
// context of the group.
func Caught(f func()) func() error {
	return func() error { return Try(f) }
}

// Raise panics with err unless it is nil. Only an error of Try, Into or a group of functions of
// Caught may be passed.
func Raise(err error) {
	if err != nil {
		panic(err)
	}
}

// Dial returns a dial function for clients that connect in a goroutine of their own. A panic of
// dial is its error.
func Dial(dial func(ctx context.Context, network, address string) (net.Conn, error)) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (conn net.Conn, err error) {
		defer Into(&err)
		return dial(ctx, network, address)
	}
}

// Task is a function that runs in a goroutine of its own.
type Task[T any] struct {
	done  chan struct{}
	value T
	err   error
}

// Go starts f. The caller calls Result, which raises a panic of f.
func Go[T any](f func() T) *Task[T] {
	t := &Task[T]{done: make(chan struct{})}
	go func() {
		defer close(t.done)
		t.err = Try(func() { t.value = f() })
	}()
	return t
}

// Done is closed when f has returned or panicked.
func (t *Task[T]) Done() <-chan struct{} { return t.done }

// Result waits for f and returns its result. It panics if f did.
func (t *Task[T]) Result() T {
	<-t.done
	Raise(t.err)
	return t.value
}
