package server

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"sync"
	"time"

	"github.com/vitals-health/vitals/internal/exposition"
)

// maxScrapeAge is how old the process' own metrics may be in a response. Those of the
// snapshot are always of the current generation.
const maxScrapeAge = time.Second

// body is the body of a response, plain and packed. Each is rendered at the first request
// for it, and shared by all.
type body struct{ plain, packed func() []byte }

func newBody(render func() []byte) *body {
	plain := sync.OnceValue(render)
	return &body{plain: plain, packed: sync.OnceValue(func() []byte { return pack(plain()) })}
}

// pack compresses with gzip.
func pack(plain []byte) []byte {
	var packed bytes.Buffer
	z, _ := gzip.NewWriterLevel(&packed, gzip.BestSpeed) // The level is valid.
	_, _ = z.Write(plain)                                // A buffer takes everything.
	_ = z.Close()
	return packed.Bytes()
}

// send responds with metrics in a format.
func (b *body) send(w http.ResponseWriter, r *http.Request, f exposition.Format) {
	h := w.Header()
	h.Set("Vary", "Accept, Accept-Encoding")
	if !acceptsGzip(r.Header["Accept-Encoding"]) {
		send(w, http.StatusOK, f.ContentType(), b.plain())
		return
	}
	h.Set("Content-Encoding", "gzip")
	send(w, http.StatusOK, f.ContentType(), b.packed())
}

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
