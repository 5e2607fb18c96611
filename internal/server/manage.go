package server

import (
	"net/http"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/server/reply"
	"github.com/vitals-health/vitals/internal/text"
)

// stalledText is the body of the process's own probes while its evaluator is stalled.
const stalledText = "The evaluator of Vitals stalled."

// healthy reports that the process responds and evaluates. The health of the workload is
// in the states.
func (s *Server) healthy(w http.ResponseWriter, _ *http.Request, v *view) {
	if v.stalled {
		reply.Sentence(w, http.StatusServiceUnavailable, stalledText)
		return
	}
	reply.Sentence(w, http.StatusOK, "Vitals is healthy.")
}

// processReady reports whether the process itself is ready: all collectors have finished
// once, it evaluates, and it is not shutting down.
func (s *Server) processReady(w http.ResponseWriter, _ *http.Request, v *view) {
	started, ok := v.stateOf("started")
	switch {
	case v.snap.ShuttingDown:
		reply.Sentence(w, http.StatusServiceUnavailable, "Vitals is shutting down.")
	case v.stalled:
		reply.Sentence(w, http.StatusServiceUnavailable, stalledText)
	case ok && started.Verdict == evaluator.Fail:
		reply.Sentence(w, http.StatusServiceUnavailable, "Vitals is starting.")
	default:
		reply.Sentence(w, http.StatusOK, "Vitals is ready.")
	}
}

// reload loads the configuration again and reports the result.
func (s *Server) reload(w http.ResponseWriter, r *http.Request, _ *view) {
	if s.opts.Reload == nil {
		reply.Sentence(w, http.StatusForbidden, "reload over HTTP is disabled: start vitals with --web.enable-lifecycle")
		return
	}
	if err := s.guard.SameOrigin(r); err != nil {
		reply.Sentence(w, http.StatusForbidden, err.Error())
		return
	}
	if err := s.opts.Reload(); err != nil {
		reply.Sentence(w, http.StatusInternalServerError, "reload configuration: "+text.Line(err.Error(), maxText))
		return
	}
	reply.Sentence(w, http.StatusOK, "The configuration was reloaded.")
}

// config serves the configuration without its secrets.
func (s *Server) config(w http.ResponseWriter, _ *http.Request, _ *view) {
	if s.opts.Config == nil {
		reply.Sentence(w, http.StatusNotFound, "this process has no configuration to show")
		return
	}
	reply.Send(w, http.StatusOK, "text/yaml; charset=utf-8", s.opts.Config())
}
