package server

import (
	"net/http"
	"slices"
	"strings"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/execprobe"
	"github.com/vitals-health/vitals/internal/server/limits"
	"github.com/vitals-health/vitals/internal/server/page"
	"github.com/vitals-health/vitals/internal/server/reply"
	"github.com/vitals-health/vitals/internal/text"
)

// The paths that do not belong to a state.
const (
	pathMetrics     = "/metrics"
	pathSLIs        = "/metrics/slis"
	pathStatus      = "/api/v1/status"
	pathComponents  = "/api/v1/components/"
	pathVerdict     = "/api/v1/verdict/"
	pathExplain     = "/api/v1/explain/"
	pathEvents      = "/api/v1/events"
	pathHistory     = "/api/v1/history"
	pathSilences    = "/api/v1/silences"
	pathMaintenance = "/api/v1/maintenance"
	pathHealthy     = "/-/healthy"
	pathReady       = "/-/ready"
	pathReload      = "/-/reload"
	pathConfig      = "/config"
	pathFaults      = "/demo/faults"
	pathRules       = "/api/v1/rules"
	pathAlerts      = "/api/v1/alerts"
	pathOpenAPI     = "/api/v1/openapi.json"
	pathPlain       = "/plain"
	pathWall        = "/wall"
	pathBadge       = "/badge/"
)

// generationHeader names the snapshot that a response was rendered from.
const generationHeader = "X-Vitals-Generation"

// route is the handler of a fixed path.
type route struct {
	// methods are the allowed methods; with nil the handler checks them.
	methods []string
	handle  func(w http.ResponseWriter, r *http.Request, v *view)
}

func (s *Server) fixedRoutes() map[string]route {
	routes := map[string]route{
		pathMetrics:     {reply.ReadMethods(), s.metrics},
		pathSLIs:        {reply.ReadMethods(), s.slis},
		pathStatus:      {reply.ReadMethods(), nil}, // status, which depends on who may write
		pathHealthy:     {reply.ReadMethods(), s.healthy},
		pathReady:       {reply.ReadMethods(), s.processReady},
		pathReload:      {[]string{http.MethodPost, http.MethodPut}, s.reload},
		pathConfig:      {reply.ReadMethods(), s.config},
		pathSilences:    {reply.ReadMethods(), s.listOverrides(false)},
		pathMaintenance: {reply.ReadMethods(), s.listOverrides(true)},
		pathRules:       {reply.ReadMethods(), s.rules},
		pathAlerts:      {reply.ReadMethods(), s.alerts},
		pathOpenAPI:     {reply.ReadMethods(), s.file(openAPIFile())},
		pathPlain:       {reply.ReadMethods(), s.plainPage},
	}
	if s.opts.History != nil {
		routes[pathEvents] = route{reply.ReadMethods(), s.events}
		routes[pathHistory] = route{reply.ReadMethods(), s.strips}
	}
	for path, f := range page.Files() {
		routes[path] = route{reply.ReadMethods(), s.file(f)}
	}
	for path, h := range s.opts.ExternalExtra {
		routes[path] = route{nil, s.extra(h)}
	}
	return routes
}

// serve serves one request. Paths are compared without normalisation and there are no
// redirects, because a kubelet counts a redirect as success. mayWrite is nil if the
// request did not come over the Unix socket.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, mayWrite func(*http.Request) error, in limits.InFlight) {
	v := s.current()
	if s.serveState(w, r, v) {
		return
	}
	if mayWrite == nil && !anyHost(r.URL.Path) {
		if err := s.guard.NotRebound(r); err != nil {
			reply.Sentence(s.counted(w, v, "other"), http.StatusForbidden, err.Error())
			return
		}
	}
	s.bounded(w, r, v, in, func() { s.servePath(w, r, v, mayWrite) })
}

// anyHost reports whether a path is served under any name: probes, badges and metrics. The paths of
// states are also served under any name.
func anyHost(path string) bool {
	switch path {
	case pathHealthy, pathReady, pathMetrics, pathSLIs:
		return true
	}
	return strings.HasPrefix(path, pathVerdict) || strings.HasPrefix(path, pathBadge)
}

// servePath serves all paths that are not those of a state.
func (s *Server) servePath(w http.ResponseWriter, r *http.Request, v *view, mayWrite func(*http.Request) error) {
	if name, ok := strings.CutPrefix(r.URL.Path, pathComponents); ok {
		s.component(s.counted(w, v, pathComponents+"NAME"), r, name, mayWrite)
		return
	}
	if name, ok := strings.CutPrefix(r.URL.Path, pathVerdict); ok {
		s.verdictOf(w, r, v, name)
		return
	}
	if name, ok := strings.CutPrefix(r.URL.Path, pathExplain); ok {
		s.explainState(w, r, v, name)
		return
	}
	if name, ok := strings.CutPrefix(r.URL.Path, pathBadge); ok {
		s.badge(w, r, v, name)
		return
	}
	if p, name, ok := overridePathOf(r.URL.Path); ok {
		s.override(s.counted(w, v, p.pattern), r, p, name, mayWrite)
		return
	}
	rt, ok := s.routes[r.URL.Path]
	switch {
	case !ok:
		s.notFound(w, v, s.fixedPaths()...)
	case rt.methods != nil && !slices.Contains(rt.methods, r.Method):
		reply.NotAllowed(s.counted(w, v, r.URL.Path), r, rt.methods...)
	default:
		w = s.counted(w, v, r.URL.Path)
		if err := refusal(r, mayWrite); err != nil {
			reply.Sentence(w, http.StatusForbidden, text.Line(err.Error(), maxLine))
			return
		}
		if r.URL.Path == pathStatus {
			s.status(w, r, v, mayWrite)
			return
		}
		rt.handle(w, r, v)
	}
}

// refusal returns an error if a request over the Unix socket would change something
// without the permission to write.
func refusal(r *http.Request, mayWrite func(*http.Request) error) error {
	if mayWrite == nil || slices.Contains(reply.ReadMethods(), r.Method) {
		return nil
	}
	return mayWrite(r)
}

// counted sets the header with the generation and returns a writer that counts the
// response under pattern, which is one of a closed set.
func (s *Server) counted(w http.ResponseWriter, v *view, pattern string) http.ResponseWriter {
	w.Header()[generationHeader] = v.generation
	return s.own.Counted(w, pattern)
}

// fixedPaths returns the paths that a 404 lists in addition to those of the states.
func (s *Server) fixedPaths() []string {
	paths := []string{"/", pathMetrics, pathSLIs, pathStatus, pathComponents + "NAME", pathVerdict + "STATE", pathExplain + "STATE", pathRules, pathAlerts, pathOpenAPI, pathHealthy, pathReady, pathReload, pathConfig, pathPlain, pathWall, pathBadge + "STATE.svg", pathSilences, pathMaintenance}
	paths = append(paths, overridePatterns()...)
	if s.opts.History != nil {
		paths = append(paths, pathEvents, pathHistory)
	}
	for path := range s.opts.ExternalExtra {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	return paths
}

// notFound responds with a list of what exists: the states with their rules, and other
// paths.
func (s *Server) notFound(w http.ResponseWriter, v *view, others ...string) {
	var paths []string
	for _, st := range v.states {
		paths = append(paths, "/"+st.Name)
	}
	paths = append(append(paths, "/STATE/RULE"), others...)
	reply.Sentence(s.counted(w, v, "other"), http.StatusNotFound, execprobe.NoSuchPath+"there are "+strings.Join(paths, ", "))
}

// extra serves a handler of the program that embeds the server. It rejects cross-origin
// requests of browsers that could change something.
func (s *Server) extra(h http.Handler) func(http.ResponseWriter, *http.Request, *view) {
	return func(w http.ResponseWriter, r *http.Request, _ *view) {
		if err := s.guard.SameOrigin(r); err != nil {
			reply.Sentence(w, http.StatusForbidden, err.Error())
			return
		}
		h.ServeHTTP(w, r)
	}
}

// stateOf returns the state of that name at the time of the view.
func (v *view) stateOf(name string) (evaluator.State, bool) {
	for _, st := range v.states {
		if st.Name == name {
			return st, true
		}
	}
	return evaluator.State{}, false
}
