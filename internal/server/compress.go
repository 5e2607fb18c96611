package server

import "net/http"

// minPacked is the size below which a body is sent as it is: it fits in one packet.
const minPacked = 1400

// sendJSON sends JSON, compressed if the client accepts that and it is worth it.
func sendJSON(w http.ResponseWriter, r *http.Request, plain []byte) {
	newBody(func() []byte { return plain }).sendAs(w, r, "application/json", "no-store")
}

// sendAs responds with the body, compressed if the client accepts that and it is worth it.
func (b *body) sendAs(w http.ResponseWriter, r *http.Request, contentType, caching string) {
	w.Header().Set("Vary", "Accept-Encoding")
	body := b.plain()
	if len(body) >= minPacked && acceptsGzip(r.Header["Accept-Encoding"]) {
		w.Header().Set("Content-Encoding", "gzip")
		body = b.packed()
	}
	sendAs(w, http.StatusOK, contentType, caching, body)
}
