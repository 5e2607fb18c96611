package server

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/explain"
)

const (
	// explainTimeout is how long an explanation may take. The evaluator explains between
	// two passes, the longest of which a query may hold up for a second.
	explainTimeout = 3 * time.Second
	// maxExplanations bounds the rendered explanations that are kept of a generation.
	maxExplanations = 64
)

// explainedAs are the wishes of a request for an explanation.
type explainedAs struct {
	state   string
	options explain.Options
}

// explanations are those of one generation that were rendered.
type explanations struct {
	mu         sync.Mutex // guards what follows
	generation uint64
	bodies     map[explainedAs][]byte
}

func (e *explanations) get(generation uint64, as explainedAs) ([]byte, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.generation != generation {
		return nil, false
	}
	body, ok := e.bodies[as]
	return body, ok
}

func (e *explanations) put(generation uint64, as explainedAs, body []byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if generation > e.generation {
		e.generation, e.bodies = generation, map[explainedAs][]byte{}
	}
	if generation == e.generation && len(e.bodies) < maxExplanations {
		e.bodies[as] = body
	}
}

// explainState answers /api/v1/explain/STATE: why the state has its verdict. ?rule=NAME is
// for one rule, ?all for every rule of the state.
func (s *Server) explainState(w http.ResponseWriter, r *http.Request, v *view, name string) {
	w = s.counted(w, v, pathExplain+"STATE")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		notAllowed(w, r, read()...)
		return
	}
	if s.opts.Explain == nil {
		sentence(w, http.StatusNotFound, "this process explains nothing")
		return
	}
	if p, ok := v.probes[name]; ok {
		name = p.state.Name // which may be asked for as Kubernetes says it
	}
	query := r.URL.Query()
	as := explainedAs{name, explain.Options{Rule: query.Get("rule")}}
	as.options.All = as.options.Rule == "" && query.Has("all")
	if body, ok := s.explanations.get(v.snap.Generation, as); ok && !v.stalled {
		send(w, http.StatusOK, "application/json", body)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), explainTimeout)
	defer cancel()
	x, err := s.opts.Explain(ctx, as.state, as.options, s.opts.Now())
	if err != nil {
		refuse(w, err)
		return
	}
	body := ExplanationJSON(x)
	s.explanations.put(x.Generation, as, body)
	w.Header()[generationHeader] = []string{strconv.FormatUint(x.Generation, 10)}
	send(w, http.StatusOK, "application/json", body)
}

// refuse answers in place of an explanation.
func refuse(w http.ResponseWriter, err error) {
	if unknown := (*explain.NotFoundError)(nil); errors.As(err, &unknown) {
		sentence(w, http.StatusNotFound, Line(unknown.Error(), maxFailingText))
		return
	}
	text := "the evaluator does not answer in time"
	if errors.Is(err, evaluator.ErrStopped) {
		text = err.Error()
	}
	sentence(w, http.StatusServiceUnavailable, text)
}

// ExplanationJSON is the body of /api/v1/explain/STATE.
func ExplanationJSON(x *explain.Explanation) []byte { return encode(x) }
