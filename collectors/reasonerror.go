package collectors

// reasonError is an error with the reason that is exported for it: R is the closed set
// of one kind's reasons.
type reasonError[R ~string] struct {
	reason R
	err    error
}

func (e *reasonError[R]) Error() string { return e.err.Error() }

func (e *reasonError[R]) Unwrap() error { return e.err }
