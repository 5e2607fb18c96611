// Package limits bounds what clients may take of an HTTP server: time, bytes, and requests in flight.
// The bound of the connections is that of connlimit.
package limits

import (
	"net/http"
	"time"
)

const (
	// ReadTimeout ends requests that arrive slowly: the header and the body, which has
	// at most 4 KiB. A kubelet's probe has a timeout of 1 s by default. One timeout for
	// both avoids a second deadline per request.
	ReadTimeout = 5 * time.Second
	// WriteTimeout ends connections to clients that do not read. It is longer than the transfer
	// of a large /metrics over a slow connection.
	WriteTimeout = 30 * time.Second
	// idleTimeout is longer than the usual longest scrape interval, 60 s, so that
	// scrapers keep their connection.
	idleTimeout = 90 * time.Second
	// maxHeaderBytes is enough for hundreds of ?exclude= and for usual tokens.
	maxHeaderBytes = 16 << 10
)

// HTTPServer returns a server for h with all limits set but that of its connections, which
// is connlimit's.
func HTTPServer(h http.Handler) *http.Server {
	return &http.Server{
		Handler:                      h,
		ReadHeaderTimeout:            ReadTimeout,
		ReadTimeout:                  ReadTimeout,
		WriteTimeout:                 WriteTimeout,
		IdleTimeout:                  idleTimeout,
		MaxHeaderBytes:               maxHeaderBytes,
		DisableGeneralOptionsHandler: true,
	}
}
