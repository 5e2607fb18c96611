package grpchealth_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding/gzip"
	healthgrpc "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/internal/grpchealth"
	"github.com/vitals-health/vitals/internal/states"
)

// patience is how long a test waits for what has to happen.
const patience = 30 * time.Second

// source is a Source whose words a test sets. It is safe for concurrent use.
type source struct {
	mu      sync.Mutex // guards what follows
	words   map[string]string
	changed chan struct{}
	// panics makes Service panic.
	panics bool
}

func newSource(words map[string]string) *source {
	return &source{words: words, changed: make(chan struct{})}
}

func (s *source) Services() map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := map[string]string{}
	for name, word := range s.words {
		all[name] = word
	}
	return all
}

func (s *source) Service(name string) (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.panics {
		panic("a fault of the source")
	}
	word, ok := s.words[name]
	return word, ok
}

func (s *source) Changed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

// set sets a word, and reports the change only where reported is set.
func (s *source) set(name, word string, reported bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.words[name] = word
	if reported {
		close(s.changed)
		s.changed = make(chan struct{})
	}
}

func (s *source) fault(panics bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.panics = panics
}

// serve starts a server with unencrypted HTTP/2 and this timeout of a request, and returns it with
// its address.
func serve(t *testing.T, from grpchealth.Source, timeout time.Duration) (*grpchealth.Server, string) {
	t.Helper()
	health := grpchealth.New(from)
	next := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	server := httptest.NewUnstartedServer(health.Handler(next))
	server.Config.Protocols = new(http.Protocols)
	server.Config.Protocols.SetHTTP1(true)
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	server.Config.ReadTimeout, server.Config.WriteTimeout = timeout, timeout
	server.Config.ConnContext = grpchealth.Context
	server.Start()
	t.Cleanup(server.Close)
	t.Cleanup(health.Close) // first
	return health, server.Listener.Addr().String()
}

// client returns a client of grpc-go.
func client(t *testing.T, address string) healthgrpc.HealthClient {
	t.Helper()
	conn, err := grpc.NewClient("passthrough:///"+address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return healthgrpc.NewHealthClient(conn)
}

// bounded returns a context that ends after patience.
func bounded(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// watch watches a service, and returns the name of each status that arrives.
func watch(t *testing.T, c healthgrpc.HealthClient, service string) func() (string, error) {
	t.Helper()
	// The server may close a connection whose first bytes are late: another follows.
	stream, err := c.Watch(bounded(t), &healthgrpc.HealthCheckRequest{Service: service}, grpc.WaitForReady(true))
	if err != nil {
		t.Fatal(err)
	}
	return func() (string, error) {
		r, err := stream.Recv()
		return r.GetStatus().String(), err
	}
}

func TestCheckAndList(t *testing.T) {
	t.Parallel()
	words, want := map[string]string{"": states.OK}, map[string]string{"": "SERVING"}
	for word, status := range map[string]string{
		states.OK: "SERVING", states.Warning: "SERVING", states.Pending: "SERVING", states.Failing: "NOT_SERVING", states.Unknown: "UNKNOWN",
	} {
		words["of_"+word], want["of_"+word] = word, status
	}
	_, address := serve(t, newSource(words), patience)
	c := client(t, address)
	got := map[string]string{}
	for name := range words {
		r, err := c.Check(bounded(t), &healthgrpc.HealthCheckRequest{Service: name})
		if err != nil {
			t.Fatalf("Check %q: %v", name, err)
		}
		got[name] = r.GetStatus().String()
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Check (-want +got):\n%s", diff)
	}
	all, err := c.List(bounded(t), &healthgrpc.HealthListRequest{})
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]string{}
	for name, r := range all.GetStatuses() {
		listed[name] = r.GetStatus().String()
	}
	if diff := cmp.Diff(want, listed); diff != "" {
		t.Errorf("List (-want +got):\n%s", diff)
	}
	if _, err := c.Check(bounded(t), &healthgrpc.HealthCheckRequest{Service: "redy"}); status.Code(err) != codes.NotFound {
		t.Errorf("Check of an unknown name: %v, want NOT_FOUND", err)
	}
	if _, err := c.Check(bounded(t), &healthgrpc.HealthCheckRequest{Service: strings.Repeat("x", 5<<10)}); status.Code(err) != codes.ResourceExhausted {
		t.Errorf("Check of a name of 5 KiB: %v, want RESOURCE_EXHAUSTED", err)
	}
}

// A watch gets the present status, each change, and the end. The timeouts of the server do not end
// it: the status UNKNOWN comes after a second, with the next look at the verdict.
func TestWatch(t *testing.T) {
	t.Parallel()
	from := newSource(map[string]string{states.Ready: states.OK})
	health, address := serve(t, from, 500*time.Millisecond)
	c := client(t, address)
	next := watch(t, c, states.Ready)
	expect := func(next func() (string, error), want string) {
		t.Helper()
		if got, err := next(); got != want || err != nil {
			t.Fatalf("status = %s, %v, want %s", got, err, want)
		}
	}
	expect(next, "SERVING")
	from.set(states.Ready, states.Warning, true) // SERVING as well: nothing is sent
	from.set(states.Ready, states.Failing, true)
	expect(next, "NOT_SERVING")
	from.set(states.Ready, states.Unknown, false) // as when the evaluator stalls
	expect(next, "UNKNOWN")
	later := watch(t, c, "batch")
	expect(later, "SERVICE_UNKNOWN")
	from.set("batch", states.OK, true)
	expect(later, "SERVING")

	health.Close()
	for _, next := range []func() (string, error){next, later} {
		if _, err := next(); status.Code(err) != codes.Unavailable {
			t.Errorf("after Close: %v, want UNAVAILABLE", err)
		}
	}
	if _, err := c.Check(bounded(t), &healthgrpc.HealthCheckRequest{}); status.Code(err) != codes.Unavailable {
		t.Errorf("Check after Close: %v, want UNAVAILABLE", err)
	}
}

// A compressed request has the same answer. Its bound is that of the text, however few bytes the
// network has carried.
func TestCompressedRequests(t *testing.T) {
	t.Parallel()
	_, address := serve(t, newSource(map[string]string{"ready": states.OK}), patience)
	c := client(t, address)
	for _, test := range []struct {
		name, service string
		want          []codes.Code
	}{
		{"a service", "ready", []codes.Code{codes.OK}},
		// net/http may reset the stream before the client has read the status.
		{"a million bytes", strings.Repeat("a", 1_000_000), []codes.Code{codes.ResourceExhausted, codes.Internal}},
	} {
		r, err := c.Check(bounded(t), &healthgrpc.HealthCheckRequest{Service: test.service}, grpc.UseCompressor(gzip.Name))
		if got := status.Code(err); !slices.Contains(test.want, got) || err == nil && r.GetStatus() != healthgrpc.HealthCheckResponse_SERVING {
			t.Errorf("%s: Check = %v, %v, want one of %s", test.name, r, err, test.want)
		}
	}
}

// The number of watches is bounded, and one that ends makes room for another.
func TestWatchesAreBounded(t *testing.T) {
	t.Parallel()
	const most = 64
	_, address := serve(t, newSource(map[string]string{states.Ready: states.OK}), patience)
	c := client(t, address)
	ctx, cancel := context.WithCancel(bounded(t))
	open := func(ctx context.Context) error {
		stream, err := c.Watch(ctx, &healthgrpc.HealthCheckRequest{Service: states.Ready})
		if err == nil {
			_, err = stream.Recv()
		}
		return err
	}
	for i := range most {
		if err := open(ctx); err != nil {
			t.Fatalf("watch %d: %v", i, err)
		}
	}
	if err := open(bounded(t)); status.Code(err) != codes.ResourceExhausted {
		t.Errorf("watch %d: %v, want RESOURCE_EXHAUSTED", most, err)
	}
	if _, err := c.Check(bounded(t), &healthgrpc.HealthCheckRequest{Service: states.Ready}); err != nil {
		t.Errorf("Check beside: %v, want that watches keep no probe waiting", err)
	}
	cancel()
	collectortest.Wait(t, "room for another watch", func() bool {
		err := open(bounded(t))
		if err != nil && status.Code(err) != codes.ResourceExhausted {
			t.Fatalf("after the watches ended: %v, want room for another", err)
		}
		return err == nil
	})
}

// A panic is the error of its call alone.
func TestPanics(t *testing.T) {
	t.Parallel()
	from := newSource(map[string]string{"": states.OK})
	_, address := serve(t, from, patience)
	c := client(t, address)
	from.fault(true)
	if _, err := c.Check(bounded(t), &healthgrpc.HealthCheckRequest{}); status.Code(err) != codes.Internal {
		t.Errorf("Check: %v, want INTERNAL", err)
	}
	if _, err := watch(t, c, "")(); status.Code(err) != codes.Internal {
		t.Errorf("Watch: %v, want INTERNAL", err)
	}
	from.fault(false)
	if r, err := c.Check(bounded(t), &healthgrpc.HealthCheckRequest{}); err != nil || r.GetStatus() != healthgrpc.HealthCheckResponse_SERVING {
		t.Errorf("Check afterwards: %v, %v, want SERVING", r, err)
	}
}

// What is not gRPC over HTTP/2 goes to the next handler.
func TestOtherRequests(t *testing.T) {
	t.Parallel()
	_, address := serve(t, newSource(nil), patience)
	old := &http.Transport{}
	h2 := &http.Transport{Protocols: new(http.Protocols)}
	h2.Protocols.SetUnencryptedHTTP2(true)
	t.Cleanup(old.CloseIdleConnections)
	t.Cleanup(h2.CloseIdleConnections)
	for _, of := range []struct {
		transport   *http.Transport
		contentType string
		proto       int
	}{{old, "application/grpc", 1}, {old, "", 1}, {h2, "text/plain", 2}} {
		r, err := http.NewRequestWithContext(bounded(t), http.MethodPost, "http://"+address+healthgrpc.Health_Check_FullMethodName, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", of.contentType)
		resp, err := of.transport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusTeapot || resp.ProtoMajor != of.proto {
			t.Errorf("%+v: HTTP/%d %d, want the next handler over HTTP/%d", of, resp.ProtoMajor, resp.StatusCode, of.proto)
		}
	}
}
