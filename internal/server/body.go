package server

import (
	"net/http"
	"sync"

	"github.com/vitals-health/vitals/internal/exposition"
	"github.com/vitals-health/vitals/internal/server/reply"
)

// minPacked is the size below which a body is sent as it is: it fits in one packet.
const minPacked = 1400

// body is the body of a response, plain and packed. Each is rendered at the first request
// for it, and shared by all.
type body struct{ plain, packed func() []byte }

func newBody(render func() []byte) *body {
	plain := sync.OnceValue(render)
	return &body{plain: plain, packed: sync.OnceValue(func() []byte { return reply.Pack(plain()) })}
}

// sendJSON sends JSON, compressed if the client accepts that and it is worth it.
func sendJSON(w http.ResponseWriter, r *http.Request, plain []byte) {
	newBody(func() []byte { return plain }).sendAs(w, r, "application/json", "no-store")
}

// sendAs responds with the body, compressed if the client accepts that and it is worth it.
func (b *body) sendAs(w http.ResponseWriter, r *http.Request, contentType, caching string) {
	w.Header().Set("Vary", "Accept-Encoding")
	body := b.plain()
	if len(body) >= minPacked && reply.AcceptsGzip(r.Header["Accept-Encoding"]) {
		w.Header().Set("Content-Encoding", "gzip")
		body = b.packed()
	}
	reply.SendAs(w, http.StatusOK, contentType, caching, body)
}

// send responds with metrics in a format.
func (b *body) send(w http.ResponseWriter, r *http.Request, f exposition.Format) {
	h := w.Header()
	h.Set("Vary", "Accept, Accept-Encoding")
	if !reply.AcceptsGzip(r.Header["Accept-Encoding"]) {
		reply.Send(w, http.StatusOK, f.ContentType(), b.plain())
		return
	}
	h.Set("Content-Encoding", "gzip")
	reply.Send(w, http.StatusOK, f.ContentType(), b.packed())
}
