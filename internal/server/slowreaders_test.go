package server_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/vitals-health/vitals/internal/history"
)

// longPast is a history with as many events as it keeps, of about 1 kB each.
func longPast() *history.History {
	h := history.New(noon())
	for i := range history.MaxEvents {
		s := failing()
		s.Rules[1].Name = fmt.Sprintf("Rule%d", i)
		observe(h, s, noon().Add(time.Duration(i)*time.Second))
	}
	return h
}

// receiver is the connection of a response.
type receiver struct {
	header http.Header
	write  func(p []byte)
}

func (c receiver) Header() http.Header            { return c.header }
func (receiver) WriteHeader(int)                  {}
func (receiver) SetReadDeadline(time.Time) error  { return nil }
func (receiver) SetWriteDeadline(time.Time) error { return nil }
func (receiver) FlushError() error                { return nil }
func (c receiver) Write(p []byte) (int, error)    { c.write(p); return len(p), nil }

// serveAll serves a request for each target. write gets what is written.
func serveAll(h http.Handler, accept string, write func(p []byte), targets ...string) (wait func()) {
	var all sync.WaitGroup
	for _, target := range targets {
		all.Go(func() {
			r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1"+target, http.NoBody)
			r.Header.Set("Accept", accept)
			h.ServeHTTP(receiver{http.Header{}, write}, r)
		})
	}
	return all.Wait
}

// Streams and lists share the bytes of each event, also of the events before a stream began.
func TestEventsAreEncodedOnce(t *testing.T) {
	past := longPast()
	past.Close() // a stream ends after the first events
	all, _ := past.Events(history.Query{})
	h := withHistory(past)
	var mu sync.Mutex // guards encodings
	encodings := map[*byte]bool{}
	write := func(p []byte) {
		if bytes.HasPrefix(p, []byte(`{"id":`)) {
			mu.Lock()
			defer mu.Unlock()
			encodings[unsafe.SliceData(p)] = true
		}
	}
	targets := slices.Repeat([]string{"/api/v1/events"}, 32)
	list := serveAll(h, "application/json", write, targets...)
	serveAll(h, "text/event-stream", write, targets...)()
	list()
	if len(encodings) != len(all) {
		t.Errorf("64 readers of %d events got %d encodings, want one for each event", len(all), len(encodings))
	}
}

// Clients that do not read hold no copies of events. Four other large responses are in flight.
func TestEventsOfSlowReadersAreBounded(t *testing.T) {
	const most = 8 << 20
	for _, accept := range []string{"text/event-stream", "application/json"} {
		past := longPast()
		h := withHistory(past)
		targets := append(slices.Repeat([]string{"/api/v1/events"}, 64), "/metrics", "/api/v1/status", "/plain", "/api/v1/history")
		writes, release := make(chan struct{}, len(targets)), make(chan struct{})
		before := heap()
		wait := serveAll(h, accept, func([]byte) {
			select {
			case writes <- struct{}{}:
			case <-release:
			}
			<-release
		}, targets...)
		for range targets {
			<-writes
		}
		if held := int64(heap()) - int64(before); held > most {
			t.Errorf("64 readers of %s hold %d KiB, want at most %d", accept, held>>10, most>>10)
		}
		if r := request(t, h, http.MethodGet, "/api/v1/events", ""); r.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("one more reader = %d, want 503", r.StatusCode)
		}
		past.Close()
		close(release)
		wait()
	}
}

// Clients that do not read share a large response of which each would hold a copy.
func TestSlowReadersShareAResponse(t *testing.T) {
	past := longPast()
	defer past.Close()
	for target, limit := range map[string]int{
		"/metrics": 8, "/api/v1/status": 80, "/api/v1/status?changes=": 80, "/api/v1/alerts": 8,
		"/api/v1/history?span=24h": 8, "/api/v1/history?kind=rule": 8, "/plain": 8,
	} {
		h := withHistory(past)
		request(t, h, http.MethodGet, "/ready", "") // the first requests may render a view each
		var mu sync.Mutex                           // guards bodies
		bodies := map[*byte]bool{}
		serveAll(h, "", func(p []byte) {
			mu.Lock()
			defer mu.Unlock()
			bodies[unsafe.SliceData(p)] = true
		}, slices.Repeat([]string{target}, limit)...)()
		if len(bodies) != 1 {
			t.Errorf("%d readers of %s got %d copies, want 1", limit, target, len(bodies))
		}
	}
}
