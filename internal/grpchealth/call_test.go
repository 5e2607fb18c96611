package grpchealth_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc/codes"
	healthgrpc "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/internal/grpchealth"
	"github.com/vitals-health/vitals/internal/states"
)

// caller sends calls of gRPC byte by byte, and counts its connections.
type caller struct {
	address   string
	transport *http.Transport
	dials     atomic.Int32
}

func newCaller(t *testing.T, address string) *caller {
	t.Helper()
	c := &caller{address: address}
	c.transport = &http.Transport{Protocols: new(http.Protocols), DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		c.dials.Add(1)
		return new(net.Dialer).DialContext(ctx, network, address)
	}}
	c.transport.Protocols.SetUnencryptedHTTP2(true)
	t.Cleanup(c.transport.CloseIdleConnections)
	return c
}

// call sends a body to a method, and returns the status of the call.
func (c *caller) call(t *testing.T, method string, body io.Reader) codes.Code {
	t.Helper()
	r, err := http.NewRequestWithContext(bounded(t), http.MethodPost, "http://"+c.address+method, body)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/grpc")
	response, err := c.transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, response.Body)
	_ = response.Body.Close()
	status := response.Header.Get("Grpc-Status") + response.Trailer.Get("Grpc-Status")
	code, err := strconv.Atoi(status)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s with the status %q of the call, want 200 and a number: %v", response.Status, status, err)
	}
	return codes.Code(code)
}

// endless returns a body that stops in the middle, until its call ends.
func endless(begin ...byte) io.Reader {
	r, _ := io.Pipe()
	return struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(begin), r), r}
}

// A call gets to the library with its whole message only. The timeouts of the server do not
// delay the refusal: they are longer than this test waits.
func TestMessages(t *testing.T) {
	t.Parallel()
	_, address := serve(t, newSource(map[string]string{"": states.OK}), 2*patience)
	for _, test := range []struct {
		name, method string
		body         io.Reader
		want         codes.Code
	}{
		{"a whole message", healthgrpc.Health_Check_FullMethodName, bytes.NewReader(make([]byte, 5)), codes.OK},
		{"half a prefix", healthgrpc.Health_Check_FullMethodName, endless(0, 0, 0), codes.DeadlineExceeded},
		{"half a prefix of a watch", healthgrpc.Health_Watch_FullMethodName, endless(0, 0, 0), codes.DeadlineExceeded},
		{"half a message", healthgrpc.Health_Check_FullMethodName, endless(0, 0, 0, 0, 7, 10, 5), codes.DeadlineExceeded},
		{"the end in a message", healthgrpc.Health_List_FullMethodName, strings.NewReader("\x00\x00"), codes.InvalidArgument},
		{"a message of 4 GiB", healthgrpc.Health_Check_FullMethodName, endless(0, 255, 255, 255, 255), codes.ResourceExhausted},
		{"an unknown method", "/grpc.health.v1.Health/Cheque", endless(), codes.Unimplemented},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := newCaller(t, address).call(t, test.method, test.body); got != test.want {
				t.Errorf("the call ends with %s, want %s", got, test.want)
			}
		})
	}
}

// A connection whose calls are refused again and again is closed. Calls that succeed keep it.
func TestRefusedCallsCloseTheConnection(t *testing.T) {
	t.Parallel()
	_, address := serve(t, newSource(map[string]string{"": states.OK}), patience)
	c := newCaller(t, address)
	for i := range 150 {
		if got := c.call(t, healthgrpc.Health_Check_FullMethodName, bytes.NewReader(make([]byte, 5))); got != codes.OK {
			t.Fatalf("call %d ends with %s, want OK", i, got)
		}
	}
	refused := func() {
		if got := c.call(t, healthgrpc.Health_Check_FullMethodName, bytes.NewReader([]byte{0, 255, 255, 255, 255})); got != codes.ResourceExhausted {
			t.Fatalf("a call ends with %s, want RESOURCE_EXHAUSTED", got)
		}
	}
	for range 99 {
		refused()
	}
	if n := c.dials.Load(); n != 1 {
		t.Errorf("99 refused calls take %d connections, want 1", n)
	}
	refused()
	collectortest.Wait(t, "a new connection", func() bool {
		return c.call(t, healthgrpc.Health_Check_FullMethodName, bytes.NewReader(make([]byte, 5))) == codes.OK && c.dials.Load() == 2
	})
}

// Clients that read no response keep no other call from its answer.
func TestUnreadResponses(t *testing.T) {
	t.Parallel()
	const more = 100 // than the library serves at a time
	health := grpchealth.New(newSource(map[string]string{"": states.OK}))
	t.Cleanup(health.Close)
	handler := health.Handler(nil)
	writes, release := make(chan struct{}, more), make(chan struct{})
	var calls sync.WaitGroup
	t.Cleanup(calls.Wait)
	t.Cleanup(func() { close(release) })
	call := func(w http.ResponseWriter) {
		r := httptest.NewRequestWithContext(bounded(t), http.MethodPost, healthgrpc.Health_Check_FullMethodName, bytes.NewReader(make([]byte, 5)))
		r.ProtoMajor = 2
		r.Header.Set("Content-Type", "application/grpc")
		handler.ServeHTTP(w, r)
	}
	for range more {
		calls.Go(func() { call(&unread{header: http.Header{}, writes: writes, release: release}) })
	}
	ctx := bounded(t)
	for range more {
		select {
		case <-writes:
		case <-ctx.Done():
			t.Fatalf("fewer than %d calls get to their response while others are unread", more)
		}
	}
	w := httptest.NewRecorder()
	call(w)
	if got := w.Header().Get("Grpc-Status"); got != "0" {
		t.Errorf("the status of the call is %q, want 0", got)
	}
}

// unread is a client that reads nothing until its release. It reports the first write.
type unread struct {
	header  http.Header
	begun   bool
	writes  chan<- struct{}
	release <-chan struct{}
}

func (u *unread) Header() http.Header { return u.header }
func (u *unread) WriteHeader(int)     {}
func (u *unread) Flush()              { _, _ = u.Write(nil) }
func (u *unread) Write(p []byte) (int, error) {
	if !u.begun {
		u.begun = true
		u.writes <- struct{}{}
	}
	<-u.release
	return len(p), nil
}
