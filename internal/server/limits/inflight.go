package limits

// InFlight bounds the requests in flight: a token for each, by the pattern of their path. Patterns
// that it does not have are not bounded. It is safe for concurrent use.
type InFlight map[string]chan struct{}

// NewInFlight returns bounds for patterns.
func NewInFlight(limits map[string]int) InFlight {
	all := InFlight{}
	for pattern, limit := range limits {
		all[pattern] = make(chan struct{}, limit)
	}
	return all
}

// Limit returns how many requests may be in flight, and 0 for no bound.
func (f InFlight) Limit(pattern string) int { return cap(f[pattern]) }

// Enter reports whether a request may begin. If so, leave must be called at its end.
func (f InFlight) Enter(pattern string) (leave func(), ok bool) {
	tokens := f[pattern]
	if tokens == nil {
		return func() {}, true
	}
	select {
	case tokens <- struct{}{}:
		return func() { <-tokens }, true
	default:
		return nil, false
	}
}
