package server

import (
	"sync"
	"time"
)

// maxScrapeAge is how old the process' own metrics may be in a response. Those of the
// snapshot are always of the current generation.
const maxScrapeAge = time.Second

// scrape is the last /metrics of a format. Scrapes share it until the next generation, and
// for at most maxScrapeAge, so that many of them cost no more than one.
type scrape struct {
	mu   sync.Mutex // guards what follows
	of   *view
	at   time.Time
	body *body
}

// current returns what scrapes of the view get at now. It does not render anything itself.
func (s *scrape) current(v *view, now time.Time, render func() []byte) *body {
	s.mu.Lock()
	defer s.mu.Unlock()
	if age := now.Sub(s.at); s.of == nil || !s.of.like(v) || age < 0 || age >= maxScrapeAge {
		s.of, s.at, s.body = v, now, newBody(render)
	}
	return s.body
}

// like reports whether two views are of the same snapshot in the same condition. Requests
// at the same time may each have one.
func (v *view) like(other *view) bool {
	return v.snap == other.snap && v.stalled == other.stalled && v.stalledAlive == other.stalledAlive
}
