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
	"github.com/vitals-health/vitals/internal/server/reply"
	"github.com/vitals-health/vitals/internal/text"
)

const (
	// explainTimeout is the maximum duration of an explanation. The evaluator explains
	// between two evaluations; a query can delay an evaluation by a second.
	explainTimeout = 3 * time.Second
	// maxExplanations bounds the number of cached explanations of a generation.
	maxExplanations = 64
)

// explanationKey identifies an explanation: the state and the parameters of the request.
type explanationKey struct {
	state   string
	options explain.Options
}

// explanations is the cache of the rendered explanations of one generation.
type explanations struct {
	mu         sync.Mutex // guards what follows
	generation uint64
	bodies     map[explanationKey][]byte
}

func (e *explanations) get(generation uint64, as explanationKey) ([]byte, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.generation != generation {
		return nil, false
	}
	body, ok := e.bodies[as]
	return body, ok
}

func (e *explanations) put(generation uint64, as explanationKey, body []byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if generation > e.generation {
		e.generation, e.bodies = generation, map[explanationKey][]byte{}
	}
	if generation == e.generation && len(e.bodies) < maxExplanations {
		e.bodies[as] = body
	}
}

// explainState serves /api/v1/explain/STATE: why the state has its verdict. ?rule=NAME
// selects one rule, ?all every rule of the state.
func (s *Server) explainState(w http.ResponseWriter, r *http.Request, v *view, name string) {
	w = s.counted(w, v, pathExplain+"STATE")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		reply.NotAllowed(w, r, reply.ReadMethods()...)
		return
	}
	if s.opts.Explain == nil {
		reply.Sentence(w, http.StatusNotFound, "this process has no explanations")
		return
	}
	if p, ok := v.probes[name]; ok {
		name = p.state.Name // the request may use an alias
	}
	query := r.URL.Query()
	as := explanationKey{name, explain.Options{Rule: query.Get("rule")}}
	as.options.All = as.options.Rule == "" && query.Has("all")
	if body, ok := s.explanations.get(v.snap.Generation, as); ok && !v.stalled {
		sendJSON(w, r, body)
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
	sendJSON(w, r, body)
}

// refuse responds with an error in place of an explanation.
func refuse(w http.ResponseWriter, err error) {
	if unknown := (*explain.NotFoundError)(nil); errors.As(err, &unknown) {
		reply.Sentence(w, http.StatusNotFound, text.Line(unknown.Error(), maxText))
		return
	}
	text := "the evaluator does not answer in time"
	if errors.Is(err, evaluator.ErrStopped) {
		text = err.Error()
	}
	reply.Sentence(w, http.StatusServiceUnavailable, text)
}

// ExplanationJSON is the body of /api/v1/explain/STATE.
func ExplanationJSON(x *explain.Explanation) []byte { return reply.Encode(x) }
