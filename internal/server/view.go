package server

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/exposition"
	"github.com/vitals-health/vitals/internal/server/reply"
	"github.com/vitals-health/vitals/internal/states"
)

// view is one snapshot with what was rendered from it. A view is immutable. Rarely
// requested parts are rendered at the first request.
type view struct {
	snap *evaluator.Snapshot
	// stalled is set when the snapshot was already too old when the view was made, and
	// stalledAlive when it was too old for alive.
	stalled, stalledAlive bool
	// states are the snapshot's states at the time when the view was made.
	states     []evaluator.State
	generation []string
	// probes are the states by path without the slash, aliases included.
	probes map[string]*probe
	// exposition has one function per format, which renders once.
	exposition [exposition.Formats]func() *exposition.Exposition
	// slis is the body of /metrics/slis, status the body of /api/v1/status, and plain the page
	// without scripts.
	slis          [exposition.Formats]*body
	status, plain *body
}

// probe is a state with its prerendered response.
type probe struct {
	state    evaluator.State
	response response
}

// response is a whole response. All requests share its header values, so that sending
// it allocates nothing.
type response struct {
	status      int
	body        []byte
	contentType []string
	length      []string
	count       interface{ Inc() }
}

// current returns the view of the current snapshot. Two simultaneous requests after a
// new generation may both render it, with equal results.
func (s *Server) current() *view {
	snap, now := s.opts.Snapshot(), s.opts.Now()
	v := s.view.Load()
	if v != nil && v.snap == snap && v.stalled == snap.Stalled(now) && v.stalledAlive == snap.StalledAlive(now) {
		return v
	}
	if snap.Stalled(now) {
		snap, now = s.awaitNext(snap)
	}
	v = s.render(snap, now)
	s.view.Store(v)
	return v
}

// resumeWait is how long requests wait for a new generation when a snapshot is found stalled. A
// process that was stopped and continues then needs a moment to evaluate, and the old verdict
// would have a probe fail without a cause.
const resumeWait = 200 * time.Millisecond

// awaitNext returns the snapshot that replaces a stalled one, or the same after resumeWait. The
// view of that one is kept, so that later requests do not wait.
func (s *Server) awaitNext(stalled *evaluator.Snapshot) (*evaluator.Snapshot, time.Time) {
	if s.opts.Changed != nil {
		changed := s.opts.Changed() // Before the snapshot is read, so that no change is missed.
		if s.opts.Snapshot() == stalled {
			timer := time.NewTimer(resumeWait)
			defer timer.Stop()
			select {
			case <-changed:
			case <-timer.C:
			}
		}
	}
	return s.opts.Snapshot(), s.opts.Now()
}

// render renders a snapshot as it stands at now.
func (s *Server) render(snap *evaluator.Snapshot, now time.Time) *view {
	v := &view{
		snap:         snap,
		stalled:      snap.Stalled(now),
		stalledAlive: snap.StalledAlive(now),
		generation:   []string{strconv.FormatUint(snap.Generation, 10)},
		probes:       make(map[string]*probe, 2*len(snap.States)),
	}
	for _, st := range snap.States {
		st, _ = snap.State(st.Name, now)
		v.states = append(v.states, st)
		p := &probe{state: st, response: s.plainResponse(v, st)}
		for _, name := range states.Names(st.Name) {
			if _, taken := v.probes[name]; !taken && !states.Path(name) {
				v.probes[name] = p
			}
		}
	}
	batches := snap.Batches
	if v.stalled { // its series of the states are outdated
		batches = append(slices.Clip(batches), v.verdicts())
	}
	for f := range v.exposition {
		v.exposition[f] = sync.OnceValue(func() *exposition.Exposition { return exposition.Render(batches, exposition.Format(f)) })
		v.slis[f] = newBody(func() []byte { return v.renderSLIs(exposition.Format(f)) })
	}
	v.status = newBody(func() []byte { return s.renderStatus(v) })
	v.plain = newBody(func() []byte { return s.renderPlain(v) })
	return v
}

// verdicts returns the verdicts that the probes report, as vitals_state.
func (v *view) verdicts() evaluator.Batch {
	var b evaluator.Batch
	for _, st := range v.states {
		sample := collectors.Sample{Labels: labels.FromStrings(model.MetricNameLabel, "vitals_state", "state", st.Name)}
		if st.Verdict != evaluator.Fail {
			sample.Value = 1
		}
		b.Samples = append(b.Samples, sample)
	}
	return b
}

// plainResponse renders the response to a probe without parameters.
func (s *Server) plainResponse(v *view, st evaluator.State) response {
	a := response{status: http.StatusOK, body: []byte("ok"), contentType: []string{"text/plain; charset=utf-8"}}
	if st.Verdict == evaluator.Fail {
		a.status = s.code(st.Verdict)
		a.body = []byte(v.reading().FailingText(st, nil))
	}
	a.length = []string{strconv.Itoa(len(a.body))}
	a.count = s.own.Counter("/"+st.Name, a.status)
	return a
}

// serveState serves /STATE and /STATE/RULE. It returns false if the path names no state.
func (s *Server) serveState(w http.ResponseWriter, r *http.Request, v *view) bool {
	if len(r.URL.Path) < 2 {
		return false
	}
	name, rule, one := strings.Cut(r.URL.Path[1:], "/")
	p, ok := v.probes[name]
	if !ok || r.URL.Path[0] != '/' {
		return false
	}
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		reply.NotAllowed(s.counted(w, v, p.pattern(one)), r, reply.ReadMethods()...)
	case one:
		s.serveRule(s.counted(w, v, p.pattern(true)), r, v, p.state, rule)
	case r.URL.RawQuery == "" && !reply.MentionsJSON(r.Header["Accept"]):
		s.respond(w, r, v, &p.response)
	default:
		s.serveDetails(s.counted(w, v, p.pattern(false)), r, v, p.state)
	}
	return true
}

// pattern returns the label path of the metric of requests.
func (p *probe) pattern(rule bool) string {
	if rule {
		return "/" + p.state.Name + "/RULE"
	}
	return "/" + p.state.Name
}

// respond serves the requests of kubelets: five shared header values, one counter and
// the body.
func (s *Server) respond(w http.ResponseWriter, r *http.Request, v *view, a *response) {
	h := w.Header()
	h["Content-Type"] = a.contentType
	h["X-Content-Type-Options"] = s.nosniff
	h["Cache-Control"] = s.noStore
	h["Content-Length"] = a.length
	h[generationHeader] = v.generation
	a.count.Inc()
	if a.status != http.StatusOK {
		w.WriteHeader(a.status)
	}
	if r.Method != http.MethodHead {
		_, _ = w.Write(a.body) // The client has disconnected: there is no one to report to.
	}
}
