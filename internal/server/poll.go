package server

import (
	"net/http"
	"strconv"
	"time"

	"github.com/vitals-health/vitals/internal/server/reply"
	"github.com/vitals-health/vitals/internal/text"
)

// Bounds of the long poll. It ends before limits.ReadTimeout, at which net/http would cancel
// the request. 64 waiters are more than the usual number of open pages, and cost a few
// hundred KiB.
const (
	maxWait    = 4 * time.Second
	maxWaiters = 64
)

// status serves the snapshot as JSON. With ?wait=GENERATION it first waits for a
// different generation, at most maxWait. With &changes=STARTED, the start of the process that
// the page has a status of, the answer has only what changed since.
func (s *Server) status(w http.ResponseWriter, r *http.Request, v *view, mayWrite func(*http.Request) error) {
	query := r.URL.Query()
	var generation uint64
	if r.URL.RawQuery != "" {
		if wait := query.Get("wait"); wait != "" {
			var err error
			generation, err = strconv.ParseUint(wait, 10, 64)
			if err != nil {
				reply.Sentence(w, http.StatusBadRequest, "wait "+text.Line(strconv.Quote(wait), 64)+": expected a generation, as in the header X-Vitals-Generation")
				return
			}
			v = s.wait(r, generation)
			w.Header()[generationHeader] = v.generation
		}
	}
	if query.Has("changes") {
		body := s.renderChanges(v, query.Get("changes"), generation, s.mayOverride(r, mayWrite))
		body.sendAs(w, r, "application/json", "no-store")
		return
	}
	v.status.sendAs(w, r, "application/json", "no-store")
}

// wait returns the first view of another generation. It returns the current view after
// maxWait, when the client disconnects, and at once if maxWaiters requests wait already
// or the process shuts down.
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
