package collectors

import (
	"errors"
	"fmt"
)

// Error is an error with the reason that is exported for it. R is the closed set of one
// kind's reasons.
type Error[R ~string] struct {
	Reason R
	Err    error
}

// Errorf returns an Error with the reason and the text of fmt.Errorf.
func Errorf[R ~string](reason R, format string, args ...any) error {
	return &Error[R]{reason, fmt.Errorf(format, args...)}
}

// ReasonOf returns the reason of the first Error[R] that err wraps, and "" for nil. It
// calls classify for an error without a reason.
func ReasonOf[R ~string](err error, classify func(error) R) R {
	if err == nil {
		return ""
	}
	if known, ok := errors.AsType[*Error[R]](err); ok {
		return known.Reason
	}
	return classify(err)
}

// Error returns the text of the wrapped error.
func (e *Error[R]) Error() string { return e.Err.Error() }

// Unwrap returns the wrapped error.
func (e *Error[R]) Unwrap() error { return e.Err }
