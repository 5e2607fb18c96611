package fakes

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
)

// writeJSON answers with v as JSON. Every v here can be marshalled.
func writeJSON(w http.ResponseWriter, code int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		panic("internal error: " + err.Error())
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	// An error means that the client has disconnected.
	_, _ = w.Write(append(body, '\n'))
}

// writeText answers as the API server's health endpoints do.
func writeText(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write([]byte(text))
}

// tagRequest sets the header with the request's ID, which OpenStack services log.
func tagRequest(w http.ResponseWriter) {
	w.Header().Set("X-Openstack-Request-Id", "req-"+newUUID())
}

func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand ends the program instead
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
