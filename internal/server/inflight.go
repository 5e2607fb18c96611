package server

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/vitals-health/vitals/internal/server/limits"
	"github.com/vitals-health/vitals/internal/server/reply"
)

// Bounds of the requests in flight for each path, on each listener. A client that does not
// read holds a response until limits.WriteTimeout.
const (
	// maxLarge is for what each request renders, up to a few MiB. Two Prometheus servers,
	// and some people, need fewer.
	maxLarge = 8
	// maxReloads is for requests that wait for a reload, which follow one another and take up
	// to 30 s each.
	maxReloads = 4
	// maxReports is for reports of 4 KiB: more than the components of a workload.
	maxReports = 32
	// maxStatuses is for responses that share their body. Most of them wait.
	maxStatuses = maxWaiters + 16
)

// newInFlight returns the bounds of a listener. Paths that probes use have none.
func newInFlight() limits.InFlight {
	all := map[string]int{
		pathMetrics:             maxLarge,
		pathSLIs:                maxLarge,
		pathConfig:              maxLarge,
		pathRules:               maxLarge,
		pathAlerts:              maxLarge,
		pathReload:              maxReloads,
		pathExplain + "STATE":   maxLarge,
		pathComponents + "NAME": maxReports,
		pathStatus:              maxStatuses,
		pathEvents:              maxStreams,
		pathHistory:             maxLarge,
		pathPlain:               maxLarge,
		pathSilences:            maxLarge,
		pathMaintenance:         maxLarge,
	}
	for _, pattern := range overridePatterns() {
		all[pattern] = maxReports
	}
	return limits.NewInFlight(all)
}

// patternOf returns the pattern of a path.
func patternOf(path string) string {
	switch {
	case strings.HasPrefix(path, pathExplain):
		return pathExplain + "STATE"
	case strings.HasPrefix(path, pathComponents):
		return pathComponents + "NAME"
	}
	if p, _, ok := overridePathOf(path); ok {
		return p.pattern
	}
	return path
}

// bounded calls serve, or responds with 503 while too many requests for the path are in flight.
func (s *Server) bounded(w http.ResponseWriter, r *http.Request, v *view, all limits.InFlight, serve func()) {
	pattern := patternOf(r.URL.Path)
	leave, ok := all.Enter(pattern)
	if !ok {
		w.Header().Set("Retry-After", "1")
		reply.Sentence(s.counted(w, v, pattern), http.StatusServiceUnavailable, fmt.Sprintf("too many requests for %s are in flight: at most %d", pattern, all.Limit(pattern)))
		return
	}
	defer leave()
	serve()
}
