// Package reply writes responses over HTTP: text, JSON and compressed bodies, of the type that the
// client prefers, of whatever content.
package reply

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/vitals-health/vitals/internal/text"
)

// ReadMethods returns the methods of paths that change nothing.
func ReadMethods() []string { return []string{http.MethodGet, http.MethodHead} }

// NotAllowed responds to a method that the path does not support.
func NotAllowed(w http.ResponseWriter, r *http.Request, allowed ...string) {
	w.Header().Set("Allow", strings.Join(allowed, ", "))
	Sentence(w, http.StatusMethodNotAllowed, "method "+text.Line(r.Method, 32)+" is not allowed here: use "+strings.Join(allowed, " or "))
}

// Sentence responds with one line of plain text.
func Sentence(w http.ResponseWriter, code int, text string) {
	Plain(w, code, text+"\n")
}

// Plain responds with plain text that is not to be cached.
func Plain(w http.ResponseWriter, code int, body string) {
	Send(w, code, "text/plain; charset=utf-8", []byte(body))
}

// Send responds with a body that is not to be cached or sniffed.
func Send(w http.ResponseWriter, code int, contentType string, parts ...[]byte) {
	SendAs(w, code, contentType, "no-store", parts...)
}

// SendAs is Send with a caching policy. The parts follow each other in the body. net/http omits
// the body of a response to HEAD.
func SendAs(w http.ResponseWriter, code int, contentType, caching string, parts ...[]byte) {
	length := 0
	for _, part := range parts {
		length += len(part)
	}
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", caching)
	h.Set("Content-Length", strconv.Itoa(length))
	w.WriteHeader(code)
	for _, part := range parts {
		if _, err := w.Write(part); err != nil {
			return // The client has disconnected: there is no one to report to.
		}
	}
}

// Encode returns indented JSON, readable with curl. Expressions keep their < and >,
// because no response here is HTML.
func Encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		panic("internal error: " + err.Error())
	}
	return b.Bytes()
}

// Pack compresses with gzip.
func Pack(plain []byte) []byte {
	var packed bytes.Buffer
	z, _ := gzip.NewWriterLevel(&packed, gzip.BestSpeed) // The level is valid.
	_, _ = z.Write(plain)                                // A buffer takes everything.
	_ = z.Close()
	return packed.Bytes()
}
