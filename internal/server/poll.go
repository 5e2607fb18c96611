package server

import (
	"net/http"
	"strconv"
	"time"

	"github.com/vitals-health/vitals/internal/text"
)

// Bounds of the long poll. It ends well before readTimeout, at which net/http would
// cancel the request; 64 waiters are more pages than people keep open, and cost a
// few hundred KiB.
const (
	maxWait    = 4 * time.Second
	maxWaiters = 64
)

// status serves the snapshot as JSON. With ?wait=GENERATION it first waits for
// another generation than that, for at most maxWait.
func (s *Server) status(w http.ResponseWriter, r *http.Request, v *view) {
	if r.URL.RawQuery != "" {
		if wait := r.URL.Query().Get("wait"); wait != "" {
			generation, err := strconv.ParseUint(wait, 10, 64)
			if err != nil {
				sentence(w, http.StatusBadRequest, "wait "+text.Line(strconv.Quote(wait), 64)+": expected a generation, as in the header X-Vitals-Generation")
				return
			}
			v = s.wait(r, generation)
			w.Header()[generationHeader] = v.generation
		}
	}
	send(w, http.StatusOK, "application/json", v.statusJSON())
}

// wait returns the first view that is of another generation, or that stalled, or
// the one that is current when the time is up, the client has gone or too many
// wait already. A process that shuts down keeps nobody waiting.
func (s *Server) wait(r *http.Request, generation uint64) *view {
	if s.opts.Changed == nil {
		return s.current()
	}
	select {
	case s.waiters <- struct{}{}:
		defer func() { <-s.waiters }()
	default:
		return s.current()
	}
	deadline := time.NewTimer(maxWait)
	defer deadline.Stop()
	for {
		changed := s.opts.Changed() // Before the snapshot is read, so that no change is missed.
		v := s.current()
		if v.snap.Generation != generation || v.snap.ShuttingDown {
			return v
		}
		select {
		case <-changed:
		case <-deadline.C:
			return s.current()
		case <-r.Context().Done():
			return v
		}
	}
}
