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

// outage answers 503 to everything while it lasts.
type outage struct {
	script
	over atomic.Bool
}

// RoundTrip implements http.RoundTripper.
func (o *outage) RoundTrip(req *http.Request) (*http.Response, error) {
	res := &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Request: req, Body: http.NoBody}
	switch {
	case !o.over.Load():
		res.StatusCode = http.StatusServiceUnavailable
	case req.Method == http.MethodPost:
		res.Body = io.NopCloser(strings.NewReader(`{"kind":"SelfSubjectAccessReview","status":{"allowed":true}}`))
	case req.URL.Path != "/readyz":
		return o.script.RoundTrip(req)
	}
	return res, nil
}

// late passes requests on after a while.
type late struct {
	next  http.RoundTripper
	after time.Duration
}

// RoundTrip implements http.RoundTripper.
func (l late) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := kubeFor(req.Context(), l.after); err != io.EOF {
		return nil, err
	}
	return l.next.RoundTrip(req)
}

// CloseIdleConnections does nothing: there are no connections.
func (l late) CloseIdleConnections() {}

func TestFirstRound(t *testing.T) {
	for _, test := range []struct {
		name       string
		late, took time.Duration
		samples    bool
	}{
		{"waits for the first outcome of the watches", 300 * time.Millisecond, 600 * time.Millisecond, true},
		{"does not wait for ever, and does not guess", 2 * time.Second, firstWait, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				api := &outage{}
				api.over.Store(true)
				api.play = func(ctx context.Context, _ int32, _ string, _ io.Writer) error {
					<-ctx.Done()
					return ctx.Err()
				}
				watching := fakeClient(late{api, test.late}) // once for the list, once for the watch
				k := &collector{
					name: "kubernetes", config: &rest.Config{}, asking: fakeClient(api), watching: watching,
					questions: []question{{body: reviewBody(nil)}},
					watches:   []*watch{newKubeWatch(watching, "pods", time.Minute, slog.New(slog.DiscardHandler))},
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
						t.Errorf("round %d took %s with error %v, want %s without", i, took, err, want)
					}
					exported := slices.ContainsFunc(samples, func(s collectors.Sample) bool {
						return s.Labels.Get("__name__") == "vitals_kubernetes_watch_connected"
					})
					if exported != test.samples {
						t.Errorf("round %d exports the watch: %t, want %t", i, exported, test.samples)
					}
				}
				cancel()
				<-done
			})
		})
	}
}

func TestRoundOfABlackHoleEndsInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fakeClient(&hole{})
		k := &collector{
			name: "kubernetes", config: &rest.Config{}, asking: client, watching: client,
			questions: []question{{body: reviewBody(nil)}}, watches: []*watch{newKubeWatch(client, "pods", time.Minute, slog.New(slog.DiscardHandler))},
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
		if len(samples) != 1+len(remote.Reasons()) {
			t.Errorf("Collect() gave %d samples, want up and the reasons: nothing else was measured", len(samples))
		}
	})
}

func TestWatchIsTriedAgainWhenTheAPIServerIsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		outage := &outage{}
		outage.play = func(ctx context.Context, _ int32, _ string, _ io.Writer) error {
			<-ctx.Done()
			return ctx.Err()
		}
		client := fakeClient(outage)
		w := newKubeWatch(client, "pods", time.Hour, slog.New(slog.DiscardHandler))
		k := &collector{
			name: "kubernetes", config: &rest.Config{}, asking: client, watching: client,
			questions: []question{{body: reviewBody(nil)}}, watches: []*watch{w},
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			k.Run(ctx, func() {})
		}()
		round := func() {
			_, _ = k.Collect(ctx) // what it returns is not the point
			synctest.Wait()
		}
		for range 60 { // ten minutes: the pauses are half a minute long by now
			round()
			time.Sleep(10 * time.Second)
		}
		if w.snapshot().connected {
			t.Error("connected = true, want false during the outage")
		}
		outage.over.Store(true)
		round()
		if !w.snapshot().connected {
			t.Error("connected = false right after the round that found the API server, want true")
		}
		cancel()
		<-done
	})
}
