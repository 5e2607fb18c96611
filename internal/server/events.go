package server

import (
	"bytes"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vitals-health/vitals/internal/history"
	"github.com/vitals-health/vitals/internal/server/limits"
	"github.com/vitals-health/vitals/internal/server/reply"
	"github.com/vitals-health/vitals/internal/text"
)

const (
	// eventStream is the media type of Server-Sent Events.
	eventStream = "text/event-stream"
	// keepAlive is the time between two comments in a stream without events: proxies close
	// connections that are idle for a minute.
	keepAlive = 15 * time.Second
	// maxStreams bounds the streams of a listener. Each costs some 30 kB.
	maxStreams = 64
)

// Events is the body of /api/v1/events.
type Events struct {
	// Events are the chosen ones, the oldest first.
	Events []*history.Event `json:"events"`
	// Complete is false if some of the events after the requested ID are no longer kept.
	Complete bool `json:"complete"`
}

// events serves /api/v1/events: what happened. ?since= and ?until= are times in RFC 3339 or
// durations before now, ?state= and ?rule= names, ?after= an ID, and ?limit= the number of
// events. ?waiting=true adds those that may still change. Clients that accept text/event-stream get these events and then each new one;
// Last-Event-ID is then as after.
func (s *Server) events(w http.ResponseWriter, r *http.Request, _ *view) {
	q, err := queryOf(r.URL.Query(), s.opts.Now())
	if id := r.Header.Get("Last-Event-ID"); err == nil && id != "" {
		q.After, err = strconv.ParseUint(id, 10, 64)
	}
	if err != nil {
		reply.Sentence(w, http.StatusBadRequest, text.Line(err.Error(), maxLine))
		return
	}
	if r.Method == http.MethodGet && acceptsStream(r.Header.Get("Accept")) {
		s.stream(w, r, q)
		return
	}
	s.listEvents(w, q)
}

// listEvents sends the chosen events as Events, one a line. The response is not compressed: it
// consists of bytes that all responses share.
func (s *Server) listEvents(w http.ResponseWriter, q history.Query) {
	found, complete := s.opts.History.Events(q)
	parts := [][]byte{[]byte("{\n  \"events\": [")}
	between := []byte("\n    ")
	for _, e := range found {
		parts = append(parts, between, e.JSON())
		between = []byte(",\n    ")
	}
	if len(found) > 0 {
		parts = append(parts, []byte("\n  "))
	}
	parts = append(parts, fmt.Appendf(nil, "],\n  \"complete\": %t\n}\n", complete))
	reply.Send(w, http.StatusOK, "application/json", parts...)
}

// strips serves /api/v1/history: the status of every subject over ?span=, 1h or 24h,
// with ?kind= only of subjects of that kind.
func (s *Server) strips(w http.ResponseWriter, r *http.Request, v *view) {
	span := time.Hour
	switch given := r.URL.Query().Get("span"); given {
	case "", "1h":
	case "24h":
		span = 24 * time.Hour
	default:
		reply.Sentence(w, http.StatusBadRequest, "span "+text.Line(strconv.Quote(given), 64)+": expected 1h or 24h")
		return
	}
	kind := history.Kind(r.URL.Query().Get("kind"))
	if !slices.Contains([]history.Kind{"", history.State, history.Rule, history.Collector}, kind) {
		reply.Sentence(w, http.StatusBadRequest, "kind "+text.Line(strconv.Quote(string(kind)), 64)+": expected state, rule or collector")
		return
	}
	render := func() []byte {
		all := s.opts.History.Strips(span, s.opts.Now())
		all.Strips = slices.DeleteFunc(all.Strips, func(one history.Strip) bool { return kind != "" && one.Kind != kind })
		return reply.Encode(all)
	}
	key := fmt.Sprint(pathHistory, span, kind)
	s.shared.current(key, v, s.opts.Now(), render).sendAs(w, r, "application/json", "no-store")
}

// queryOf reads the parameters of /api/v1/events.
func queryOf(form url.Values, now time.Time) (q history.Query, err error) {
	q.State, q.Rule = form.Get("state"), form.Get("rule")
	if q.Since, err = timeOf(form, "since", now); err != nil {
		return q, err
	}
	if q.Until, err = timeOf(form, "until", now); err != nil {
		return q, err
	}
	if given := form.Get("after"); given != "" {
		if q.After, err = strconv.ParseUint(given, 10, 64); err != nil {
			return q, fmt.Errorf("after %.64q: expected the id of an event", given)
		}
	}
	if given := form.Get("waiting"); given != "" {
		if q.Waiting, err = strconv.ParseBool(given); err != nil {
			return q, fmt.Errorf("waiting %.64q: expected true or false", given)
		}
	}
	if given := form.Get("limit"); given != "" {
		if q.Limit, err = strconv.Atoi(given); err != nil || q.Limit <= 0 {
			return q, fmt.Errorf("limit %.64q: expected a positive number", given)
		}
	}
	return q, nil
}

// timeOf reads a time, or a duration before now. It is zero if it is not given.
func timeOf(form url.Values, name string, now time.Time) (time.Time, error) {
	given := form.Get(name)
	if given == "" {
		return time.Time{}, nil
	}
	t, ok := history.ParseTime(given, now)
	if !ok {
		return t, fmt.Errorf("%s %.64q: expected a time such as 2006-01-02T15:04:05Z, or a duration such as 1h or 2d", name, given)
	}
	return t, nil
}

// acceptsStream reports whether the header Accept names the media type of event streams.
func acceptsStream(accept string) bool {
	for part := range strings.SplitSeq(accept, ",") {
		if t, _, err := mime.ParseMediaType(part); err == nil && t == eventStream {
			return true
		}
	}
	return false
}

// stream sends the chosen events and then each new one, until the client disconnects. A
// client that does not read is disconnected after limits.WriteTimeout.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, q history.Query) {
	q.Waiting = false // the client continues after the last ID
	h := w.Header()
	h.Set("Content-Type", eventStream)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // nginx would hold the events back
	control := http.NewResponseController(w)
	if control.SetReadDeadline(time.Time{}) != nil {
		return // the connection is closed
	}
	ping := time.NewTicker(keepAlive)
	defer ping.Stop()
	for first := true; ; first = false {
		changed := s.opts.History.Changed() // before the events are read, so that none is missed
		if control.SetWriteDeadline(time.Now().Add(limits.WriteTimeout)) != nil {
			return
		}
		if !s.sendEvents(w, &q, first) || control.Flush() != nil {
			return
		}
		select {
		case <-changed:
		case <-ping.C:
			if _, err := w.Write([]byte(": no event\n\n")); err != nil {
				return
			}
		case <-s.opts.History.Closed():
			return
		case <-r.Context().Done():
			return
		}
	}
}

// sendEvents sends the events of the query and moves it behind them. An event "gap" comes
// first if some are no longer kept. It returns false if the client has disconnected.
func (s *Server) sendEvents(w http.ResponseWriter, q *history.Query, first bool) bool {
	found, complete := s.opts.History.Events(*q)
	var b bytes.Buffer
	if first {
		b.WriteString("retry: 2000\n\n") // milliseconds until a browser connects again
	}
	if !complete && q.After > 0 {
		b.WriteString("event: gap\ndata: {}\n\n")
	}
	for _, e := range found {
		fmt.Fprintf(&b, "id: %d\ndata: ", e.ID)
		for _, part := range [][]byte{b.Bytes(), e.JSON()} {
			if _, err := w.Write(part); err != nil {
				return false
			}
		}
		b.Reset()
		b.WriteString("\n\n")
		q.After = e.ID
		q.Limit = 0 // it chooses where to begin
	}
	_, err := w.Write(b.Bytes())
	return err == nil
}
