package kubereport

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/vitals-health/vitals/collectors/kubernetes"
	"github.com/vitals-health/vitals/collectors/remote"
	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/history"
	"github.com/vitals-health/vitals/internal/text"
)

// The limits are those of client-go's recorder, which is not used itself: it links the types of
// all of Kubernetes.
// Source: k8s.io/client-go/tools/record/events_cache.go.
const (
	// An event of the same state and reason within seriesWithin counts one on, instead of being
	// a new one.
	seriesWithin = 10 * time.Minute
	// Of each type, eventBurst events are sent at once, and then one in eventEvery.
	eventEvery, eventBurst = 5 * time.Minute, 25
	// An event that the API server does not take for so long is dropped.
	maxEventAge = 10 * time.Minute
)

// The types of events.
const (
	normal  = "Normal"
	warning = "Warning"
)

// note is one event to report.
type note struct {
	// id is that of the event in the history.
	id                           uint64
	kind, state, reason, message string
	begin, at                    time.Time
	changes                      int
}

// series is an event that was created.
type series struct {
	name  string
	count int
	last  time.Time
}

// events reports changes of states as events about the pod. It belongs to one goroutine, except
// for dropped.
type events struct {
	id            identity
	api           api
	clean         func(string) string
	create, patch *right
	limits        map[string]*rate.Limiter
	// recent are the events of the last seriesWithin.
	recent map[[3]string]series
	// reported are the states with an event of their failure.
	reported map[string]bool
	// starting are the states that have failed since the start, for the lack of samples so far.
	starting map[string]bool
	dropped  atomic.Uint64
}

func newEvents(id identity, to api, clean func(string) string, create, patch *right) *events {
	limit := func() *rate.Limiter { return rate.NewLimiter(rate.Every(eventEvery), eventBurst) }
	return &events{
		id: id, api: to, clean: clean, create: create, patch: patch, limits: map[string]*rate.Limiter{normal: limit(), warning: limit()},
		recent: map[[3]string]series{}, reported: map[string]bool{}, starting: map[string]bool{},
	}
}

// run reports what happens from the start of the process until ctx ends. The history is the queue, with its bound: the oldest
// events that wait are lost.
func (e *events) run(ctx context.Context, h *history.History) {
	after := h.StartID()
	for {
		changed := h.Changed()
		happened, complete := h.Events(history.Query{After: after})
		if !complete {
			e.dropped.Add(1)
		}
		for _, event := range happened {
			after = event.ID
			if n, ok := e.note(event); ok {
				e.deliver(ctx, n)
			}
			if ctx.Err() != nil {
				return
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-changed:
		}
	}
}

// note returns what to report of a change, and false for nothing. The start of the process is
// nothing, and neither is a state that becomes ok without having failed, or an action that
// changes no status. A state that fails at the start is reported with the first rule that has a
// status other than ok after a collection.
func (e *events) note(event *history.Event) (note, bool) {
	if event.Action != "" {
		return note{}, false
	}
	if event.Kind == history.Rule && e.starting[event.State] && len(event.Rules) > 0 && !event.Rules[0].Observe {
		ofState := *event
		ofState.Kind, ofState.Name, ofState.To = history.State, event.State, history.Unknown
		if event.To == history.Failing {
			ofState.To = history.Failing
		}
		event = &ofState
	} else if event.Kind == history.State && event.From == history.None && event.To.Fails() && (len(event.Rules) == 0 || event.Rules[0].Status == history.Unknown) {
		e.starting[event.Name] = true
		return note{}, false
	}
	if event.Kind == history.State {
		delete(e.starting, event.Name)
	}
	if event.Kind != history.State || event.Name == evaluator.Started || event.Reason == evaluator.ReasonStarting {
		return note{}, false
	}
	n := note{id: event.ID, kind: warning, state: event.Name, reason: camel(event.Name) + "Failing", begin: event.At, at: event.At, changes: max(1, event.Changes)}
	since := ", " + event.Name + " " + event.To.String() + " since " + timestamp(event.At)
	passed := event.Changes > 1 && event.FailingSeconds > 0 && !event.To.Fails() // it failed, and no longer does
	if event.Changes > 1 {
		n.begin = event.Begin
		since = fmt.Sprintf(", %s %s, %d changes since %s", event.Name, event.To, event.Changes, timestamp(event.Begin))
		if event.FailingSeconds > 0 {
			since += ", failing " + text.Span(time.Duration(event.FailingSeconds*float64(time.Second)))
		}
	}
	switch {
	case event.Reason == evaluator.ReasonShuttingDown:
		n.kind, n.reason, n.message = normal, "ShuttingDown", "Vitals is shutting down"+since
	case event.To == history.OK && e.reported[event.Name]:
		delete(e.reported, event.Name)
		n.kind, n.reason = normal, camel(event.Name)+"Ok"
		if n.message = strings.TrimPrefix(since, ", "); event.Changes <= 1 {
			n.message = fmt.Sprintf("%s ok, after %s for %s", event.Name, event.From, text.Span(time.Duration(event.LastedSeconds*float64(time.Second))))
		}
	case event.To != history.Warning && !event.To.Fails() && !passed, event.From.Fails() && event.To.Fails() && event.Changes <= 1 && e.reported[event.Name]:
		return note{}, false
	case len(event.Rules) > 0:
		r := &event.Rules[0]
		e.reported[event.Name] = true
		n.reason, n.message = camel(r.Name), because(e.clean(cmp.Or(history.Why(r.Status == history.Unknown, r.Summary, cmp.Or(r.Reason, r.Note)), r.Name)), event.RuleCount)+since
	default:
		e.reported[event.Name] = true
		n.message = because(e.clean(cmp.Or(event.Reason, "no rule decides")), 0) + since
	}
	if passed {
		delete(e.reported, event.Name)
	}
	n.message = text.Clip(n.message, maxMessage)
	return n, true
}

// deliver sends a note until the API server takes or rejects it, or it is too old.
func (e *events) deliver(ctx context.Context, n note) {
	if !e.limits[n.kind].Allow() {
		e.dropped.Add(1)
		return
	}
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		err := e.send(ctx, n)
		if err == nil {
			return
		}
		if rejected(err) || time.Since(n.at) > maxEventAge {
			e.dropped.Add(1)
			return
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
	}
}

// rejected reports whether the same request would be rejected again.
func rejected(err error) bool {
	switch remote.ReasonOf(err) {
	case remote.ReasonForbidden, remote.ReasonNotFound:
		return true
	case remote.ReasonClientError:
		return !kubernetes.IsStatus(err, http.StatusTooManyRequests) && !kubernetes.IsStatus(err, http.StatusRequestTimeout)
	}
	return false
}

// send counts the recent event of the same kind on, or creates one.
func (e *events) send(ctx context.Context, n note) error {
	maps.DeleteFunc(e.recent, func(_ [3]string, s series) bool { return n.at.Sub(s.last) > seriesWithin })
	key := [3]string{n.kind, n.state, n.reason}
	collection := "/api/v1/namespaces/" + e.id.namespace + "/events"
	if s, ok := e.recent[key]; ok {
		s.count, s.last = s.count+n.changes, n.at
		body, _ := json.Marshal(map[string]any{"count": s.count, "lastTimestamp": timestamp(n.at), "message": n.message})
		err := e.patch.use(ctx, requestTimeout, func(ctx context.Context) error { return e.api.Patch(ctx, collection+"/"+s.name, body) })
		if err == nil {
			e.recent[key] = s
		}
		if err == nil || !rejected(err) {
			return err
		}
		delete(e.recent, key) // it has expired, or may not be changed
	}
	name, object := e.object(n)
	err := e.create.use(ctx, requestTimeout, func(ctx context.Context) error { return e.api.Create(ctx, collection, object) })
	if kubernetes.IsStatus(err, http.StatusConflict) {
		err = nil // the answer to an earlier attempt was lost
	}
	if err == nil {
		e.recent[key] = series{name, n.changes, n.at}
	}
	return err
}

// object returns a new event. Its name is the same at each attempt.
func (e *events) object(n note) (name string, object []byte) {
	type fields map[string]any
	name = fmt.Sprintf("%s.%x", strings.TrimRight(e.id.pod[:min(len(e.id.pod), 200)], "-."), n.id)
	object, _ = json.Marshal(fields{
		"apiVersion": "v1", "kind": "Event",
		"metadata":       fields{"name": name, "namespace": e.id.namespace},
		"involvedObject": fields{"apiVersion": "v1", "kind": "Pod", "namespace": e.id.namespace, "name": e.id.pod, "uid": e.id.uid},
		"type":           n.kind, "reason": n.reason, "message": n.message, "count": n.changes,
		"firstTimestamp": timestamp(n.begin), "lastTimestamp": timestamp(n.at),
		"source":             fields{"component": "vitals", "host": e.id.node},
		"reportingComponent": "vitals", "reportingInstance": e.id.pod,
	})
	return name, object
}
