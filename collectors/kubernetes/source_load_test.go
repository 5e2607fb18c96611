package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vitals-health/vitals/collectors/remote"
	"github.com/vitals-health/vitals/collectors/targets"
	"github.com/vitals-health/vitals/internal/panics"
)

// discovering returns a source for pods without sockets.
func discovering(transport http.RoundTripper) *source {
	same := func(address string) string { return address }
	return &source{Discovery{Role: "pods", Selector: "app=api", Port: "80"}, "api", same, fakeClient(transport), slog.New(slog.DiscardHandler)}
}

// discoverFor runs a source for d, and returns the number of sets and the last error.
func discoverFor(t *testing.T, s *source, d time.Duration) (sets int, last error) {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	s.Run(ctx, func(_ []targets.Target, err error) {
		if last = err; err == nil {
			sets++
		}
	})
	return sets, last
}

// A fault costs at most five attempts in the first half minute, and then one each 24 s. Each sends
// a list, a watch and, where the server redirects it, another request.
func TestLoadOfDiscoveryFaults(t *testing.T) {
	for d, most := range map[time.Duration]int32{30 * time.Second: 15, 10 * time.Minute: 87} {
		for name, fault := range watchFaults() {
			t.Run(d.String()+" "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := fault.again()
					discoverFor(t, discovering(s), d-time.Millisecond)
					if n := s.all.Load(); n > most {
						t.Errorf("%d requests in %s, want at most %d", n, d, most)
					}
				})
			})
		}
	}
}

// A watch that works sends nothing more than bookmarks, and leads to no new set.
func TestLoadOfDiscoveryAtRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{write: beats(time.Minute, 4*time.Minute)}
		sets, err := discoverFor(t, discovering(s), time.Hour)
		if n := s.all.Load(); n > 17 || sets != 1 || err != nil {
			t.Errorf("%d requests and %d sets in an hour (%v), want a list, a watch each 4 minutes and one set", n, sets, err)
		}
	})
}

func TestDiscoveryOfASilentWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{write: stays(`{"type":"ADDED","object":{"metadata":{"name":"a","namespace":"lab"},"status":{"podIP":"10.0.0.1"}}}`)}
		_, err := discoverFor(t, discovering(s), discoveryIdle+firstPause/2)
		if err == nil || !errors.Is(err, errHung) {
			t.Errorf("found(nil, %v), want an error after %s of silence", err, discoveryIdle)
		}
	})
}

func TestDiscoveryWithoutAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sets, err := discoverFor(t, discovering(&hole{}), connectTimeout+time.Second)
		if sets > 0 || remote.ReasonOf(err) != remote.ReasonTimeout {
			t.Errorf("%d sets and the error %v, want none and %s", sets, err, remote.ReasonTimeout)
		}
	})
}

// endless is an API server with more pods than any discovery holds.
type endless struct{ lists atomic.Int32 }

// RoundTrip implements http.RoundTripper.
func (e *endless) RoundTrip(req *http.Request) (*http.Response, error) {
	res := &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Request: req}
	if req.URL.Query().Has("watch") {
		from, to := io.Pipe()
		context.AfterFunc(req.Context(), func() { to.CloseWithError(req.Context().Err()) })
		res.Body = from
		return res, nil
	}
	n := e.lists.Add(1)
	var pods []string
	for i := range pageSize {
		pods = append(pods, fmt.Sprintf(`{"metadata":{"namespace":"lab","name":"p%06d"},"status":{"podIP":"10.0.0.1"}}`, int(n)*pageSize+i))
	}
	res.Body = io.NopCloser(strings.NewReader(`{"metadata":{"resourceVersion":"1","continue":"x","remainingItemCount":77},"items":[` + strings.Join(pods, ",") + `]}`))
	return res, nil
}

// CloseIdleConnections does nothing: there are no connections.
func (e *endless) CloseIdleConnections() {}

func TestListWithoutAnEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var api endless
		s := discovering(&api)
		m := &members{discovery: &s.discovery, role: roles()["pods"], client: s.client, changed: func() {}}
		if _, err := m.list(t.Context(), "/api/v1/pods"); err != nil {
			t.Fatal(err)
		}
		found, beyond, _, _ := m.found()
		if len(found) != maxEndpoints || beyond != 77 || api.lists.Load() != maxObjects/pageSize {
			t.Errorf("%d targets, %d beyond, %d requests, want %d, 77 and %d", len(found), beyond, api.lists.Load(), maxEndpoints, maxObjects/pageSize)
		}
	})
}

// A panic of found ends Run with it, and Run works again afterwards.
func TestRunOfADiscoveryAfterAPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := discovering(&server{write: beats(time.Minute, time.Hour)})
		err := panics.Try(func() { s.Run(t.Context(), func([]targets.Target, error) { panic("boom") }) })
		if err == nil || err.Error() != "panic: boom" {
			t.Errorf("Run() panics with %v, want the panic of found", err)
		}
		if sets, err := discoverFor(t, s, time.Minute); sets != 1 || err != nil {
			t.Errorf("the next Run has found %d sets (%v), want 1", sets, err)
		}
	})
}
