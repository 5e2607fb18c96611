package kubernetes

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vitals-health/vitals/collectors/remote"
)

// script is a fake API server for one watch, without sockets, for synctest. list and watch count
// the requests.
type script struct {
	list, watch atomic.Int32
	// play writes the nth watch, from 1, to the stream. The stream ends with the error that
	// it returns, io.EOF for a regular end. If code returns a status other than 0, the
	// response has that status and no stream.
	play func(ctx context.Context, n int32, position string, w io.Writer) error
	code func(n int32, position string) int
}

// RoundTrip implements http.RoundTripper.
func (s *script) RoundTrip(req *http.Request) (*http.Response, error) {
	res := &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Request: req}
	if !req.URL.Query().Has("watch") {
		s.list.Add(1)
		res.Body = io.NopCloser(strings.NewReader(`{"metadata":{"resourceVersion":"fresh"}}`))
		return res, nil
	}
	n, position := s.watch.Add(1), req.URL.Query().Get("resourceVersion")
	if s.code != nil {
		if code := s.code(n, position); code != 0 {
			res.StatusCode, res.Body = code, http.NoBody
			return res, nil
		}
	}
	from, to := io.Pipe()
	go func() { to.CloseWithError(s.play(req.Context(), n, position, to)) }()
	context.AfterFunc(req.Context(), func() { to.CloseWithError(req.Context().Err()) })
	res.Body = from
	return res, nil
}

// CloseIdleConnections does nothing: there are no connections.
func (s *script) CloseIdleConnections() {}

// fakeClient returns a client without a network.
func fakeClient(transport http.RoundTripper) *client {
	return &client{base: &url.URL{Scheme: "https", Host: "api.example"}, http: &http.Client{Transport: transport, CheckRedirect: remote.FollowSameHost}}
}

// streamFor waits for d and then ends the stream regularly.
func streamFor(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return io.EOF
	}
}

// watchFor runs a watch with a script for d. It returns the watch and the number of requests for
// a collection.
func watchFor(s *script, d time.Duration) (*watch, int32) {
	w := newWatch(fakeClient(s), "pods", 90*time.Second, slog.New(slog.DiscardHandler))
	var changed atomic.Int32
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.run(ctx, func() { changed.Add(1) })
	}()
	time.Sleep(d)
	synctest.Wait()
	cancel()
	<-done
	return w, changed.Load()
}

const bookmark = `{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"later"}}}`

func TestWatchAttempts(t *testing.T) {
	for _, test := range []struct {
		name      string
		script    *script
		lasts     time.Duration
		least     int32 // watches
		most      int32
		lists     int32 // at most
		connected bool
		changed   int32 // at most
		reason    remote.Reason
	}{
		{
			name:   "accepted and closed at once",
			script: &script{play: func(context.Context, int32, string, io.Writer) error { return io.EOF }},
			lasts:  10 * time.Minute, least: 20, most: 40, lists: 1, changed: 2, reason: reasonClosed,
		},
		{
			name: "closed at once six times, and then silent",
			script: &script{play: func(ctx context.Context, n int32, _ string, _ io.Writer) error {
				if n <= 6 {
					return io.EOF
				}
				<-ctx.Done()
				return ctx.Err()
			}},
			lasts: 2*time.Minute + 30*time.Second, least: 7, most: 7, lists: 1, connected: true, changed: 3,
		},
		{
			name: "closed at once six times, and then a bookmark",
			script: &script{play: func(ctx context.Context, n int32, _ string, w io.Writer) error {
				if n <= 6 {
					return io.EOF
				}
				_, _ = io.WriteString(w, bookmark)
				<-ctx.Done()
				return ctx.Err()
			}},
			lasts: 2*time.Minute + 30*time.Second, least: 7, most: 7, lists: 1, connected: true, changed: 3,
		},
		{
			name: "one bookmark and closed at once",
			script: &script{play: func(_ context.Context, _ int32, _ string, w io.Writer) error {
				_, _ = io.WriteString(w, bookmark)
				return io.EOF
			}},
			lasts: 10 * time.Minute, least: 20, most: 30, lists: 1, changed: 2, reason: reasonClosed,
		},
		{
			name: "ended by the server's timeout",
			script: &script{play: func(ctx context.Context, _ int32, _ string, w io.Writer) error {
				for range 4 {
					_, _ = io.WriteString(w, bookmark)
					if err := streamFor(ctx, time.Minute); err != io.EOF {
						return err
					}
				}
				return io.EOF
			}},
			lasts: time.Hour, least: 15, most: 16, lists: 1, connected: true, changed: 1,
		},
		{
			name: "silent from the start, as for a resource without any event",
			script: &script{play: func(ctx context.Context, _ int32, _ string, _ io.Writer) error {
				<-ctx.Done()
				return ctx.Err()
			}},
			lasts: 10 * time.Minute, least: 7, most: 7, lists: 7, connected: true, changed: 1,
		},
		{
			name: "silent after a bookmark",
			script: &script{play: func(ctx context.Context, _ int32, _ string, w io.Writer) error {
				_, _ = io.WriteString(w, bookmark)
				<-ctx.Done()
				return ctx.Err()
			}},
			lasts: 90*time.Second + 100*time.Millisecond, least: 1, most: 1, lists: 1, changed: 2, reason: reasonHung,
		},
		{
			name:   "410 Gone for every position",
			script: &script{code: func(int32, string) int { return http.StatusGone }},
			lasts:  10 * time.Minute, least: 20, most: 40, lists: 40, changed: 1, reason: remote.ReasonClientError,
		},
		{
			name: "410 Gone for a position that has become old, as a status",
			script: &script{
				code: func(_ int32, position string) int {
					if position == "later" {
						return http.StatusGone
					}
					return 0
				},
				play: func(ctx context.Context, _ int32, _ string, w io.Writer) error {
					_, _ = io.WriteString(w, bookmark)
					return streamFor(ctx, time.Minute)
				},
			},
			lasts: 10*time.Minute + time.Second, least: 20, most: 22, lists: 11, connected: true, changed: 1,
		},
		{
			name: "410 Gone in a watch that worked, as an event",
			script: &script{play: func(ctx context.Context, _ int32, _ string, w io.Writer) error {
				if err := streamFor(ctx, time.Minute); err != io.EOF {
					return err
				}
				_, _ = io.WriteString(w, `{"type":"ERROR","object":{"code":410,"message":"too old resource version"}}`)
				return io.EOF
			}},
			lasts: 10*time.Minute + time.Second, least: 10, most: 11, lists: 11, connected: true, changed: 1,
		},
		{
			name: "connection lost each minute",
			script: &script{play: func(ctx context.Context, _ int32, _ string, w io.Writer) error {
				_, _ = io.WriteString(w, bookmark)
				if err := streamFor(ctx, time.Minute); err != io.EOF {
					return err
				}
				return errors.New("connection reset")
			}},
			lasts: 10 * time.Minute, least: 9, most: 11, lists: 1, connected: true, changed: 21,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, changed := watchFor(test.script, test.lasts)
				state := w.snapshot()
				if n := test.script.watch.Load(); n < test.least || n > test.most {
					t.Errorf("watches in %s = %d, want %d to %d", test.lasts, n, test.least, test.most)
				}
				if n := test.script.list.Load(); n > test.lists {
					t.Errorf("lists in %s = %d, want at most %d", test.lasts, n, test.lists)
				}
				if state.connected != test.connected || watchReason(state.err) != test.reason {
					t.Errorf("connected = %t with reason %q (%v), want %t with %q", state.connected, watchReason(state.err), state.err, test.connected, test.reason)
				}
				if changed > test.changed || changed == 0 {
					t.Errorf("requests for a collection = %d, want 1 to %d", changed, test.changed)
				}
				if n := int32(state.restarts); n < test.script.watch.Load()-2 || n > test.script.watch.Load() {
					t.Errorf("restarts = %d after %d watches, want one less", n, test.script.watch.Load())
				}
			})
		})
	}
}

// hole is a server that never responds.
type hole struct{ requests atomic.Int32 }

// RoundTrip implements http.RoundTripper.
func (h *hole) RoundTrip(req *http.Request) (*http.Response, error) {
	h.requests.Add(1)
	<-req.Context().Done()
	return nil, req.Context().Err()
}

// CloseIdleConnections does nothing: there are no connections.
func (h *hole) CloseIdleConnections() {}

func TestWatchOfABlackHole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var hole hole
		w := newWatch(fakeClient(&hole), "pods", time.Minute, slog.New(slog.DiscardHandler))
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan struct{})
		began := time.Now()
		go func() {
			defer close(done)
			w.run(ctx, func() {})
		}()
		<-w.tried
		if took := time.Since(began); took != connectTimeout {
			t.Errorf("first outcome after %s, want %s", took, connectTimeout)
		}
		if got := watchReason(w.snapshot().err); got != remote.ReasonTimeout {
			t.Errorf("reason = %q, want %q", got, remote.ReasonTimeout)
		}
		time.Sleep(10*time.Minute - connectTimeout)
		if n := hole.requests.Load(); n < 14 || n > 26 {
			t.Errorf("attempts in 10 min = %d, want 14 to 26: each takes 10 s and a pause", n)
		}
		cancel()
		<-done
	})
}

func TestPauseGrowsToItsLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var pause backoff
		want := firstPause
		for range 10 {
			began := time.Now()
			if !pause.wait(t.Context(), nil) {
				t.Fatal("wait() = false, want true while the context lasts")
			}
			if took := time.Since(began); took < want*4/5 || took > want*6/5 {
				t.Errorf("wait() took %s, want %s plus or minus a fifth", took, want)
			}
			want = min(growth*want, lastPause)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if pause.wait(ctx, nil) {
			t.Error("wait() = true, want false after the context ended")
		}
	})
}
