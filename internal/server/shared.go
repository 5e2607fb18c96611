package server

import (
	"maps"
	"sync"
	"time"
)

// maxShared is how old a shared response may be. Parts from the snapshot are always of the
// current generation; the process' own metrics, for example, are not.
const maxShared = time.Second

// shared are the last responses by a key, which is one of a closed set. Requests share a
// response until the next generation, and for at most maxShared, so that many of them cost no
// more than one.
type shared struct {
	mu   sync.Mutex // guards what follows
	kept map[string]sharedBody
}

type sharedBody struct {
	of   *view
	at   time.Time
	body *body
}

// current returns what requests for the view get at now. It does not render anything itself.
func (s *shared) current(key string, v *view, now time.Time, render func() []byte) *body {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.kept, func(_ string, b sharedBody) bool {
		age := now.Sub(b.at)
		return !b.of.like(v) || age < 0 || age >= maxShared
	})
	b, ok := s.kept[key]
	if !ok {
		b = sharedBody{v, now, newBody(render)}
		s.kept[key] = b
	}
	return b.body
}

// like reports whether two views are of the same snapshot in the same condition. Requests
// at the same time may each have one.
func (v *view) like(other *view) bool {
	return v.snap == other.snap && v.stalled == other.stalled && v.stalledAlive == other.stalledAlive
}
