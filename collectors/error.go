package collectors

import (
	"errors"
	"fmt"
)

// Error is an error with a reason, which a collector exports as a label value. R is the
// closed set of reasons of one kind.
type Error[R ~string] struct {
	Reason R
	Err    error
}

// Errorf returns an Error with the reason and the text of fmt.Errorf.
func Errorf[R ~string](reason R, format string, args ...any) error {
	return &Error[R]{reason, fmt.Errorf(format, args...)}
}

// ReasonOf returns the reason of the first Error[R] that err wraps, the result of classify if
// there is none, and "" for nil.
func ReasonOf[R ~string](err error, classify func(error) R) R {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*Error[R]](err); ok {
		return e.Reason
	}
	return classify(err)
}

// Error returns the text of the wrapped error.
func (e *Error[R]) Error() string { return e.Err.Error() }

// Unwrap returns the wrapped error.
func (e *Error[R]) Unwrap() error { return e.Err }
