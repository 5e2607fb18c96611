// Package server renders the evaluator's snapshot: probes, metrics, the status API and
// the status page. It computes nothing: all responses come from the same snapshot, and
// no request waits for a dependency.
package server

import (
	"context"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/explain"
	"github.com/vitals-health/vitals/internal/history"
	"github.com/vitals-health/vitals/internal/server/access"
	"github.com/vitals-health/vitals/internal/server/ownmetrics"
)

// Options configure a Server. Every field except Snapshot is optional.
type Options struct {
	// Snapshot returns the current snapshot, never nil. It is called once or twice per request.
	Snapshot func() *evaluator.Snapshot
	// Changed returns a channel that is closed when the next generation is
	// published. Without it, /api/v1/status?wait=GENERATION does not wait.
	Changed func() <-chan struct{}
	// Explain explains the verdict that a state has at now, as explain.Explainer does.
	// Without it /api/v1/explain/STATE is 404.
	Explain func(ctx context.Context, state string, o explain.Options, now time.Time) (*explain.Explanation, error)
	// History is what happened. Without it, /api/v1/events and /api/v1/history are 404.
	History *history.History
	// Now is the clock that the snapshot's age is measured with; time.Now where it is nil.
	Now func() time.Time
	// FailingStatus returns the status code of a failing probe; 503 if it is nil or returns 0.
	FailingStatus func() int
	// Report records a component's report. It returns collectors.ErrUnknownComponent or
	// collectors.ErrInvalidReport for a report that it rejects. Without it the path is 404.
	Report func(component string, r collectors.Report) error
	// ReportToken returns the bearer token that reports outside Local need. If it is nil or
	// returns an empty string, such reports are rejected.
	ReportToken func() string
	// Overrides begins and ends silences and maintenance. Without it their paths are 404.
	Overrides Overrides
	// OperatorToken is like ReportToken, for silences and maintenance.
	OperatorToken func() string
	// Stored waits for a bounded time until the storage has the silences and the maintenance of
	// now, and reports whether it has. Without it they are in memory only.
	Stored func() bool
	// Reload loads the configuration again. Without it /-/reload is 403.
	Reload func() error
	// Config returns the configuration as YAML without secrets. Without it /config is 404.
	Config func() []byte
	// Components returns the last reports of the components, for the page and the API.
	Components func() []ComponentStatus
	// Hosts are names that requests may have as Host without HTTPS, in addition to addresses and
	// local names, as access.New takes them. Requests under other names are rejected, except on
	// paths of probes and metrics.
	Hosts []string
	// Process returns what the metrics of the process itself show.
	Process ownmetrics.Sources
	// About is whose health this is, for the page and the API.
	About About
	// FrameAncestors are the sources, as in a content security policy, whose pages may show
	// the page of this server in a frame; none without any.
	FrameAncestors []string
	// Version is shown on the page and in the API.
	Version string
	// ExternalExtra are further handlers by path. Probes does not serve them. With
	// /demo/faults among them, the page has buttons for the faults.
	ExternalExtra map[string]http.Handler
	// Logger logs the failures that requests cause; nil logs nothing.
	Logger *slog.Logger
}

// Server renders snapshots. It is safe for concurrent use.
type Server struct {
	opts   Options
	view   atomic.Pointer[view]
	routes map[string]route
	own    *ownmetrics.Metrics
	shared shared
	// waiters holds one token per request that waits for a generation.
	waiters      chan struct{}
	explanations explanations
	changes      changes
	guard        *access.Guard
	nosniff      []string
	noStore      []string
}

// New returns a Server.
func New(o Options) *Server {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.FailingStatus == nil {
		o.FailingStatus = func() int { return 0 }
	}
	if o.ReportToken == nil {
		o.ReportToken = func() string { return "" }
	}
	if o.OperatorToken == nil {
		o.OperatorToken = func() string { return "" }
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Server{
		opts:    o,
		own:     ownmetrics.New(o.Process),
		shared:  shared{kept: map[string]sharedBody{}},
		waiters: make(chan struct{}, maxWaiters),
		guard:   access.New(o.Hosts),
		nosniff: []string{"nosniff"},
		noStore: []string{"no-store"},
	}
	s.routes = s.fixedRoutes()
	return s
}

// Handler serves everything to the network. Reports, silences and maintenance need their tokens.
// Each handler bounds its own requests in flight. Requests of probes have no bound.
func (s *Server) Handler() http.Handler {
	return s.Local(nil)
}

// Local serves everything to a Unix socket. Every client can read. mayWrite returns an
// error for a client without the permission to write. Reports need no token. With a nil
// mayWrite, Local is like Handler.
func (s *Server) Local(mayWrite func(r *http.Request) error) http.Handler {
	in := newInFlight()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, mayWrite, in) })
}

// Probes serves the states and the process's own probes, and nothing else, for a listener
// without authentication.
func (s *Server) Probes() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v := s.current()
		switch {
		case s.serveState(w, r, v):
		case r.URL.Path == pathHealthy, r.URL.Path == pathReady:
			s.servePath(w, r, v, nil)
		default:
			s.notFound(w, v, pathHealthy, pathReady)
		}
	})
}
