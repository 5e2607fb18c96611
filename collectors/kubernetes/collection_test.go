package kubernetes

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/rest"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
)

// outage is an API server that responds with 503, or not at all, until over is true.
type outage struct {
	script
	hangs bool
	over  atomic.Bool
}

// RoundTrip implements http.RoundTripper.
func (o *outage) RoundTrip(req *http.Request) (*http.Response, error) {
	res := &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Request: req, Body: http.NoBody}
	switch {
	case !o.over.Load() && o.hangs:
		<-req.Context().Done()
		return nil, req.Context().Err()
	case !o.over.Load():
		res.StatusCode = http.StatusServiceUnavailable
	case req.Method == http.MethodPost:
		res.Body = io.NopCloser(strings.NewReader(`{"kind":"SelfSubjectAccessReview","status":{"allowed":true}}`))
	case req.URL.Path != "/readyz":
		return o.script.RoundTrip(req)
	}
	return res, nil
}

// late forwards requests after a delay.
type late struct {
	next  http.RoundTripper
	after time.Duration
}

// RoundTrip implements http.RoundTripper.
func (l late) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := streamFor(req.Context(), l.after); err != io.EOF {
		return nil, err
	}
	return l.next.RoundTrip(req)
}

// CloseIdleConnections does nothing: there are no connections.
func (l late) CloseIdleConnections() {}

func TestFirstCollection(t *testing.T) {
	for _, test := range []struct {
		name       string
		late, took time.Duration
		samples    bool
	}{
		{"waits for the first attempt of the watches", 300 * time.Millisecond, 600 * time.Millisecond, true},
		{"waits no longer than firstWait, and exports no guess", 2 * time.Second, firstWait, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				api := &outage{}
				api.over.Store(true)
				api.play = func(ctx context.Context, _ int32, _ string, _ io.Writer) error {
					<-ctx.Done()
					return ctx.Err()
				}
				streams := fakeClient(late{api, test.late}) // once for the list, once for the watch
				k := &collector{
					name: "kubernetes", config: &rest.Config{}, requests: fakeClient(api), streams: streams,
					reviews: []review{{body: reviewBody(nil)}},
					watches: []*watch{newWatch(streams, "pods", time.Minute, slog.New(slog.DiscardHandler))},
				}
				ctx, cancel := context.WithCancel(t.Context())
				done := make(chan struct{})
				go func() {
					defer close(done)
					k.Run(ctx, func() {})
				}()
				for i, want := range []time.Duration{test.took, 0} {
					began := time.Now()
					samples, err := k.Collect(ctx)
					if took := time.Since(began); took != want || err != nil {
						t.Errorf("collection %d took %s with error %v, want %s without an error", i, took, err, want)
					}
					exported := slices.ContainsFunc(samples, func(s collectors.Sample) bool {
						return s.Labels.Get("__name__") == "vitals_kubernetes_watch_connected"
					})
					if exported != test.samples {
						t.Errorf("collection %d exports the watch: %t, want %t", i, exported, test.samples)
					}
				}
				cancel()
				<-done
			})
		})
	}
}

func TestCollectionOfABlackHoleEndsInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fakeClient(&hole{})
		k := &collector{
			name: "kubernetes", config: &rest.Config{}, requests: client, streams: client,
			reviews: []review{{body: reviewBody(nil)}}, watches: []*watch{newWatch(client, "pods", time.Minute, slog.New(slog.DiscardHandler))},
		}
		for i := range 10 {
			k.crds = append(k.crds, &crd{name: fmt.Sprintf("c%d.example.org", i)})
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		began := time.Now()
		samples, err := k.Collect(ctx)
		if took := time.Since(began); took != 5*time.Second-margin {
			t.Errorf("Collect() took %s, want %s less than its 5 s", took, margin)
		}
		if err == nil || len(err.Error()) > 512 {
			t.Errorf("Collect() = %v, want an error of at most 512 bytes", err)
		}
		for _, s := range samples {
			want := collectors.Number(s.Labels.Get("reason") == string(remote.ReasonTimeout))
			if s.Value != want {
				t.Errorf("%s = %v, want %v", s.Labels, s.Value, want)
			}
		}
		if len(samples) != 1+11*len(remote.Reasons()) {
			t.Errorf("Collect() returned %d samples, want up and the reasons only, of the server and of 10 definitions", len(samples))
		}
	})
}

// A watch is open again with the first good collection, although an attempt may hang since the
// outage, or a pause last half a minute.
func TestWatchRetriesAfterAnOutage(t *testing.T) {
	for _, hangs := range []bool{false, true} {
		for _, lasts := range []time.Duration{30 * time.Second, 10*time.Minute + 500*time.Millisecond} {
			testRetryAfterAnOutage(t, hangs, lasts)
		}
	}
}

func testRetryAfterAnOutage(t *testing.T, hangs bool, lasts time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		outage := &outage{hangs: hangs}
		outage.play = func(ctx context.Context, _ int32, _ string, _ io.Writer) error {
			<-ctx.Done()
			return ctx.Err()
		}
		client := fakeClient(outage)
		w := newWatch(client, "pods", time.Hour, slog.New(slog.DiscardHandler))
		k := &collector{
			name: "kubernetes", config: &rest.Config{}, requests: client, streams: client,
			reviews: []review{{body: reviewBody(nil)}}, watches: []*watch{w},
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			k.Run(ctx, func() {})
		}()
		collect := func() {
			within, stop := context.WithTimeout(ctx, 5*time.Second)
			defer stop()
			_, _ = k.Collect(within) // only the effect on the watch counts
			synctest.Wait()
		}
		for began := time.Now(); time.Since(began) < lasts; time.Sleep(5 * time.Second) {
			collect()
		}
		if w.snapshot().connected {
			t.Error("connected = true, want false during the outage")
		}
		outage.over.Store(true)
		collect()
		if !w.snapshot().connected {
			t.Error("connected = false after the collection that reached the API server, want true")
		}
		cancel()
		<-done
	})
}
