package server_test

import (
	"bufio"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/explain"
	"github.com/vitals-health/vitals/internal/history"
	"github.com/vitals-health/vitals/internal/server"
	"github.com/vitals-health/vitals/internal/server/limits"
)

// past is a history of a start, and of snapshots at noon and a minute later.
func past() *history.History {
	h := history.New(noon().Add(-time.Minute))
	observe(h, healthy(), noon())
	s := failing()
	observe(h, s, noon().Add(time.Minute))
	h.Compare(s, map[int]explain.Compared{1: {Limit: evaluator.Limit{Op: "==", Value: 0}, Value: 0}})
	return h
}

func observe(h *history.History, s *evaluator.Snapshot, at time.Time) {
	s.At, s.MaxAge = at, time.Hour
	h.Observe(s)
}

// withHistory returns a handler with a history, two minutes after noon.
func withHistory(h *history.History) http.Handler {
	o := fixed(healthy())
	o.History = h
	o.Now = func() time.Time { return noon().Add(2 * time.Minute) }
	return server.New(o).Handler()
}

func TestEvents(t *testing.T) {
	h := withHistory(past())
	for _, tt := range []struct {
		query string
		want  int
		part  string
	}{
		{"", 200, `"name":"KeystoneDown"`},
		{"?state=ready&limit=1", 200, `"from":"ok","to":"failing"`},
		{"?rule=KeystoneDown&since=3m", 200, `"expr":`},
		{"?rule=KeystoneDown&since=1d", 200, `"expr":`},
		{"?since=1m", 200, `"complete": true`},
		{"?since=30s", 200, `"events": []`},
		{"?until=2026-01-02T11:59:30Z", 200, `"reason":"started"`},
		{"?state=missing", 200, `"events": []`},
		{"?since=yesterday", 400, `since "yesterday": expected a time such as 2006-01-02T15:04:05Z, or a duration such as 1h or 2d`},
		{"?after=x", 400, `after "x": expected the id of an event`},
		{"?waiting=maybe", 400, `waiting "maybe": expected true or false`},
		{"?limit=0", 400, `limit "0": expected a positive number`},
	} {
		r := request(t, h, http.MethodGet, "/api/v1/events"+tt.query, "")
		if body := text(t, r); r.StatusCode != tt.want || !strings.Contains(body, tt.part) {
			t.Errorf("%s: got %d %s, want %d with %s", tt.query, r.StatusCode, body, tt.want, tt.part)
		}
	}
}

// Who continues after the last ID gets no event that may still change.
func TestEventsThatWait(t *testing.T) {
	past := past()
	for i := range 50 {
		s := healthy()
		if i%2 == 1 {
			s = failing()
		}
		observe(past, s, noon().Add(time.Minute+time.Duration(i)*time.Second))
	}
	h := withHistory(past)
	for query, want := range map[string]bool{"?state=ready": false, "?state=ready&waiting=true": true} {
		body := text(t, request(t, h, http.MethodGet, "/api/v1/events"+query, ""))
		if got := strings.Contains(body, `"id":0,`); got != want {
			t.Errorf("%s has an event that waits: %t, want %t", query, got, want)
		}
	}
}

func TestStripsOfAnHourAndADay(t *testing.T) {
	h := withHistory(past())
	for query, want := range map[string]string{
		"":                `"step_seconds": 10`,
		"?span=1h":        `"slots": "` + strings.Repeat(".", 341),
		"?span=24h":       `"step_seconds": 60`,
		"?kind=collector": `"kind": "collector"`,
		"?kind=x":         `kind "x": expected state, rule or collector`,
		"?span=1w":        `span "1w": expected 1h or 24h`,
	} {
		if body := text(t, request(t, h, http.MethodGet, "/api/v1/history"+query, "")); !strings.Contains(body, want) {
			t.Errorf("%s: got %s, want it with %s", query, body, want)
		}
	}
	if body := text(t, request(t, h, http.MethodGet, "/api/v1/history?kind=state", "")); strings.Count(body, `"kind": "state"`) != 3 || strings.Contains(body, `"kind": "rule"`) {
		t.Errorf("?kind=state: got %s, want the three states", body)
	}
	if code := request(t, server.New(fixed(healthy())).Handler(), http.MethodGet, "/api/v1/history", "").StatusCode; code != http.StatusNotFound {
		t.Errorf("without a history: got %d, want 404", code)
	}
}

// readStream reads a stream of events up to the first line that has a text.
func readStream(t *testing.T, r *bufio.Reader, until string) (read string) {
	t.Helper()
	for {
		line, err := r.ReadString('\n')
		read += line
		if err != nil || strings.Contains(line, until) {
			return read
		}
	}
}

// openStream requests the events as a stream.
func openStream(t *testing.T, url, lastID string) *bufio.Reader {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/api/v1/events", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "text/event-stream")
	if lastID != "" {
		r.Header.Set("Last-Event-ID", lastID)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = response.Body.Close() })
	if got := response.Header.Get("Content-Type"); got != "text/event-stream" {
		t.Errorf("got the type %q", got)
	}
	return bufio.NewReader(response.Body)
}

func TestStream(t *testing.T) {
	kept := past()
	s := httptest.NewUnstartedServer(nil)
	s.Config = limits.HTTPServer(withHistory(kept))
	s.Start()
	defer s.Close()
	all, _ := kept.Events(history.Query{})
	last := all[len(all)-1]

	stream := openStream(t, s.URL, "")
	if got := readStream(t, stream, `"kind":"state","name":"ready"`); !strings.HasPrefix(got, "retry: 2000\n\nid: ") || strings.Count(got, "data: ") < 3 {
		t.Errorf("got the stream\n%s", got)
	}
	resumed := openStream(t, s.URL, strconv.FormatUint(last.ID, 10))
	observe(kept, healthy(), noon().Add(3*time.Minute))
	if got := readStream(t, resumed, `"name":"ready"`); !strings.Contains(got, "id: "+strconv.FormatUint(last.ID+1, 10)) || strings.Contains(got, "gap") {
		t.Errorf("got the resumed stream\n%s", got)
	}
	kept.Close()
	if got := readStream(t, resumed, "nothing"); strings.Contains(got, "nothing") {
		t.Errorf("the stream went on with %s", got)
	}
}

// A client that was away for too long is informed that it missed events.
func TestStreamWithAGap(t *testing.T) {
	h := history.New(noon())
	for i := range 2 * history.MaxEvents {
		s := failing()
		s.Rules[1].Name = "Rule" + strconv.Itoa(i)
		observe(h, s, noon().Add(time.Duration(i)*time.Second))
	}
	s := httptest.NewServer(withHistory(h))
	defer s.Close() // waits for the stream
	defer h.Close()
	if got := readStream(t, openStream(t, s.URL, "5"), "id: "); !strings.Contains(got, "event: gap\n") {
		t.Errorf("got the stream\n%s", got)
	}
}
