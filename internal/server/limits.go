package server

import (
	"net/http"
	"time"
)

const (
	// readTimeout ends clients that send their request drop by drop: the header and
	// the body, of which the largest has 4 KiB. A kubelet's probe, which is
	// sent at once, has 1 s by default. One timeout for both spares each request
	// the setting of a second deadline.
	readTimeout = 5 * time.Second
	// writeTimeout ends clients that do not read. It is longer than maxWait, and than a
	// large /metrics takes over a slow line.
	writeTimeout = 30 * time.Second
	// idleTimeout is longer than the 60 s at which the slowest scrapers come, so
	// that they keep their connection.
	idleTimeout = 90 * time.Second
	// maxHeaderBytes holds hundreds of ?exclude= and every usual token.
	maxHeaderBytes = 16 << 10
	// maxWaiting is how many connections may wait for a request. A connection costs
	// about 20 KiB, so that they stay below 10 MiB; a node has a handful of probers.
	maxWaiting = 512
)

// HTTPServer returns a server for h with all limits set. Connections that wait for a
// request are bounded as well: beyond 512 the one that has waited longest is
// closed, so that neither memory nor file descriptors run out and a new probe is
// always accepted.
func HTTPServer(h http.Handler) *http.Server {
	return &http.Server{
		Handler:                      h,
		ReadHeaderTimeout:            readTimeout,
		ReadTimeout:                  readTimeout,
		WriteTimeout:                 writeTimeout,
		IdleTimeout:                  idleTimeout,
		MaxHeaderBytes:               maxHeaderBytes,
		ConnState:                    newWaiting().track,
		DisableGeneralOptionsHandler: true,
	}
}
