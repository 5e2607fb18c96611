// Package server renders the evaluator's snapshot: probes, metrics, the status
// API and the status page. It computes nothing: every view shows the same
// snapshot, and no request ever waits for a dependency.
package server

import (
	"context"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/explain"
)

// Options say what a Server shows and what it may do. Every field is optional
// except Snapshot.
type Options struct {
	// Snapshot returns the current snapshot, never nil. It is called once or twice a request.
	Snapshot func() *evaluator.Snapshot
	// Changed returns a channel that is closed when the next generation is
	// published. Without it, /api/v1/status?wait=GENERATION answers at once.
	Changed func() <-chan struct{}
	// Explain explains the verdict that a state has at now, as explain.Explainer does.
	// Without it /api/v1/explain/STATE is 404.
	Explain func(ctx context.Context, state string, o explain.Options, now time.Time) (*explain.Explanation, error)
	// Now is the clock that the snapshot's age is measured with; time.Now where it is nil.
	Now func() time.Time
	// FailingStatus is the status code of a failing probe; 503 where it is 0.
	FailingStatus int
	// Report takes a component's report. It returns collectors.ErrUnknownComponent
	// or collectors.ErrInvalidReport for what it refuses. Without it there are no components: 404.
	Report func(component string, r collectors.Report) error
	// ReportToken is the bearer token that a report needs outside Local. Where it
	// is empty, such reports are refused.
	ReportToken string
	// Reload loads the configuration again. Without it /-/reload is refused.
	Reload func() error
	// Config returns the configuration as YAML without secrets. Without it /config is 404.
	Config func() []byte
	// Components returns what the components reported last, for the page and the API.
	Components func() []ComponentStatus
	// Version is shown on the page and in the API.
	Version string
	// ExternalExtra are further handlers by path. They are not served by Probes.
	// Where /demo/faults is among them, the page offers its faults as buttons.
	ExternalExtra map[string]http.Handler
	// Logger gets what a request set off; nothing is logged where it is nil.
	Logger *slog.Logger
}

// Server renders snapshots. It is safe for concurrent use.
type Server struct {
	opts     Options
	view     atomic.Pointer[view]
	routes   map[string]route
	requests *prometheus.CounterVec
	own      *prometheus.Registry
	// waiters holds one token for every request that waits for a generation.
	waiters      chan struct{}
	explanations explanations
	origins      *http.CrossOriginProtection
	nosniff      []string
	noStore      []string
}

// New makes a Server.
func New(o Options) *Server {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.FailingStatus == 0 {
		o.FailingStatus = http.StatusServiceUnavailable
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Server{
		opts:    o,
		waiters: make(chan struct{}, maxWaiters),
		origins: http.NewCrossOriginProtection(),
		nosniff: []string{"nosniff"},
		noStore: []string{"no-store"},
	}
	s.own, s.requests = ownMetrics()
	s.routes = s.fixedRoutes()
	return s
}

// Handler serves everything to the network: reports need the token.
func (s *Server) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, nil) })
}

// Local serves everything to a Unix socket. Whoever can connect may read; mayWrite
// returns why a client may not change anything, or nil. Reports need no token. Without
// mayWrite a client is any other of the network.
func (s *Server) Local(mayWrite func(r *http.Request) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, mayWrite) })
}

// Probes serves the states and nothing else, for a listener without authentication.
func (s *Server) Probes() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v := s.current()
		if !s.serveState(w, r, v) {
			s.notFound(w, v)
		}
	})
}
