package kubernetes

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/rest"

	"github.com/vitals-health/vitals/collectors"
)

const (
	anEvent   = `{"type":"ADDED","object":{"metadata":{"resourceVersion":"7"}}}`
	halfEvent = `{"type":"ADDED","object":{"meta`
)

// server is an API server without sockets whose watches have a fault. It counts the requests of
// checks and all requests.
type server struct {
	checks, all atomic.Int32
	// list responds to a list, watch to a watch; nil without a fault. The stream of a watch
	// ends with the error that write returns.
	list  func(context.Context) (int, error)
	watch func(context.Context) (int, error)
	write func(ctx context.Context, w io.Writer) error
	// location is where a redirect of a watch leads.
	location string
}

// RoundTrip implements http.RoundTripper.
func (s *server) RoundTrip(req *http.Request) (*http.Response, error) {
	s.all.Add(1)
	var err error
	res := &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Request: req}
	body := func(text string) { res.Body = io.NopCloser(strings.NewReader(text)) }
	switch path := req.URL.Path; {
	case req.Method == http.MethodPost:
		s.checks.Add(1)
		body(`{"kind":"SelfSubjectAccessReview","status":{"allowed":true}}`)
	case path == "/readyz" || strings.Contains(path, "customresourcedefinitions"):
		s.checks.Add(1)
		body(`{"kind":"CustomResourceDefinition","metadata":{"resourceVersion":"1"}}`)
	case !req.URL.Query().Has("watch"):
		body(`{"metadata":{"resourceVersion":"fresh"}}`)
		if s.list != nil {
			res.StatusCode, err = s.list(req.Context())
		}
	default:
		if s.watch != nil {
			res.StatusCode, err = s.watch(req.Context())
			res.Header.Set("Location", s.location)
		}
		from, to := io.Pipe()
		go func() { to.CloseWithError(s.write(req.Context(), to)) }()
		context.AfterFunc(req.Context(), func() { to.CloseWithError(req.Context().Err()) })
		res.Body = from
	}
	if err != nil {
		return nil, err
	}
	return res, nil
}

// CloseIdleConnections does nothing: there are no connections.
func (s *server) CloseIdleConnections() {}

// collector returns the collector of the Kuryr controller's profile for this server.
func (s *server) collector() *collector {
	client := fakeClient(s)
	k := &collector{name: "kubernetes", config: &rest.Config{}, requests: client, streams: client}
	for range 6 {
		k.reviews = append(k.reviews, review{body: reviewBody(nil)})
	}
	for _, name := range []string{"kuryrports.openstack.org", "kuryrloadbalancers.openstack.org"} {
		k.crds = append(k.crds, &crd{name: name})
	}
	for _, resource := range []string{"pods", "services"} {
		k.watches = append(k.watches, newWatch(client, resource, 90*time.Second, slog.New(slog.DiscardHandler)))
	}
	return k
}

// evaluate runs a collector for d as the evaluator does: a collection every 10 s, and one at each
// request.
func evaluate(k *collector, d time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	changed, done := make(chan struct{}, 1), make(chan struct{})
	go func() {
		defer close(done)
		k.Run(ctx, func() {
			select {
			case changed <- struct{}{}:
			default:
			}
		})
	}()
	for due := time.Now(); ctx.Err() == nil; {
		collecting := collectors.WithRequest(ctx)
		if !time.Now().Before(due) {
			due, collecting = due.Add(10*time.Second), ctx
		}
		_, _ = k.Collect(collecting) // the requests count, not the samples
		select {
		case <-time.After(time.Until(due)):
		case <-changed:
		case <-ctx.Done():
		}
	}
	<-done
}

// stays writes a text and keeps the stream open.
func stays(text string) func(context.Context, io.Writer) error {
	return func(ctx context.Context, w io.Writer) error {
		_, _ = io.WriteString(w, text)
		<-ctx.Done()
		return ctx.Err()
	}
}

// ends writes a text and ends the stream with err.
func ends(text string, err error) func(context.Context, io.Writer) error {
	return func(_ context.Context, w io.Writer) error {
		_, _ = io.WriteString(w, text)
		return err
	}
}

// beats writes a bookmark each interval and ends the stream regularly after d.
func beats(interval, d time.Duration) func(context.Context, io.Writer) error {
	return func(ctx context.Context, w io.Writer) error {
		for began := time.Now(); time.Since(began) < d; {
			_, _ = io.WriteString(w, bookmark)
			if err := streamFor(ctx, interval); err != io.EOF {
				return err
			}
		}
		return io.EOF
	}
}

func always(status int) func(context.Context) (int, error) {
	return func(context.Context) (int, error) { return status, nil }
}

// hangs sends no headers.
func hangs(ctx context.Context) (int, error) {
	<-ctx.Done()
	return 0, ctx.Err()
}

// watchFaults returns servers whose watches have a fault, by its name.
func watchFaults() map[string]*server {
	faults := map[string]*server{
		"ends at once":                           {write: ends("", io.EOF)},
		"one event, and ends":                    {write: ends(anEvent, io.EOF)},
		"two events, and ends":                   {write: ends(anEvent+anEvent, io.EOF)},
		"a bookmark, and the connection is lost": {write: ends(bookmark, errors.New("connection reset"))},
		"half an event, and ends":                {write: ends(halfEvent, io.EOF)},
		"half an event, and silence":             {write: stays(halfEvent)},
		"an event, and silence":                  {write: stays(anEvent)},
		"silence":                                {write: stays("")},
		"error event 410":                        {write: ends(`{"type":"ERROR","object":{"code":410}}`, io.EOF)},
		"an event and error event 410":           {write: ends(anEvent+`{"type":"ERROR","object":{"code":410}}`, io.EOF)},
		"error event 500":                        {write: ends(`{"type":"ERROR","object":{"code":500}}`, io.EOF)},
		"HTML":                                   {write: ends("<html>", io.EOF)},
		"an event of another type":               {write: ends(`{"type":"NEWS"}`, io.EOF)},
		"redirect to a page":                     {watch: always(302), location: "/login", write: ends("", io.EOF)},
		"redirect in a circle":                   {watch: always(302), location: "?watch=1", write: ends("", io.EOF)},
		"redirect to another host":               {watch: always(302), location: "https://login.example/", write: ends("", io.EOF)},
		"no headers":                             {watch: hangs, write: ends("", io.EOF)},
		"no response to the list":                {list: hangs, write: ends("", io.EOF)},
		"ends after 9 s":                         {write: beats(time.Second, 9*time.Second)},
		"ends after 11 s":                        {write: beats(time.Second, 11*time.Second)},
	}
	for _, status := range []int{302, 400, 401, 403, 404, 410, 429, 500, 503, 504} {
		faults["watch: "+http.StatusText(status)] = &server{watch: always(status), write: ends("", io.EOF)}
		faults["list: "+http.StatusText(status)] = &server{list: always(status), write: ends("", io.EOF)}
	}
	return faults
}

// again returns a server with the same fault and no requests.
func (s *server) again() *server {
	return &server{list: s.list, watch: s.watch, write: s.write, location: s.location}
}

// Trouble with watches costs at most as many requests as the checks, and no check.
func TestLoadOfWatchFaults(t *testing.T) {
	counts := func(t *testing.T, s *server, d time.Duration) (checks, all int32) {
		synctest.Test(t, func(*testing.T) { evaluate(s.collector(), d-time.Millisecond) })
		return s.checks.Load(), s.all.Load()
	}
	for _, d := range []time.Duration{30 * time.Second, 10 * time.Minute} {
		checks, all := counts(t, &server{write: beats(time.Minute, time.Hour)}, d)
		for name, fault := range watchFaults() {
			t.Run(d.String()+" "+name, func(t *testing.T) {
				s := fault.again()
				gotChecks, gotAll := counts(t, s, d)
				if gotChecks != checks || gotAll > 2*all {
					t.Errorf("%d requests in %s, %d of checks, want at most twice the %d at rest, %d of checks", gotAll, d, gotChecks, all, checks)
				}
			})
		}
	}
}

// A retry replaces an attempt that hangs, and leaves a watch alone that is open.
func TestRetryReplacesAnAttemptThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var attempts atomic.Int32
		first := func(ctx context.Context) (int, error) {
			if attempts.Add(1) == 1 {
				return hangs(ctx)
			}
			return http.StatusOK, nil
		}
		s := &server{watch: first, write: beats(time.Minute, time.Hour)}
		w := newWatch(fakeClient(s), "pods", 90*time.Second, slog.New(slog.DiscardHandler))
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			w.run(ctx, func() {})
		}()
		for i, want := range []int32{2, 2, 2} {
			time.Sleep(time.Second)
			w.retry()
			synctest.Wait()
			if state := w.snapshot(); attempts.Load() != want || !state.connected {
				t.Errorf("after retry %d: %d attempts, connected = %t, want %d and true", i, attempts.Load(), state.connected, want)
			}
		}
		cancel()
		<-done
	})
}
