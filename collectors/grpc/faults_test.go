package grpc_test

import (
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/collectortest"
)

// preface has the connection preface of HTTP/2 read, and the settings of a server sent.
func preface(conn net.Conn) {
	_, _ = io.ReadFull(conn, make([]byte, len("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")))
	_, _ = io.WriteString(conn, "\x00\x00\x00\x04\x00\x00\x00\x00\x00")
	go func() { _, _ = io.Copy(io.Discard, conn) }()
}

// A ping and a GOAWAY of HTTP/2.
const (
	pingFrame   = "\x00\x00\x08\x06\x00\x00\x00\x00\x00\x01\x02\x03\x04\x05\x06\x07\x08"
	goAwayFrame = "\x00\x00\x08\x07\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
)

// Every fault of a server ends in time with its reason, over a plain connection and behind TLS,
// and leaves no goroutine behind.
func TestFaults(t *testing.T) {
	cert, _, _ := collectortest.Certificate(t, "grpc.example", time.Now().Add(time.Hour))
	settings := &tls.Config{Certificates: []tls.Certificate{cert}, NextProtos: []string{"h2"}}
	servers := collectortest.Hostile().With(collectortest.Servers{
		"settings, then closes": preface,
		"settings, then waits":  func(conn net.Conn) { preface(conn); collectortest.Drain(conn) },
		"settings, then pings for ever": func(conn net.Conn) {
			preface(conn)
			collectortest.Forever(strings.Repeat(pingFrame, 200))(conn)
		},
		"settings, then GOAWAY": func(conn net.Conn) { preface(conn); collectortest.Once(goAwayFrame)(conn) },
		"half a frame":          collectortest.Closing("\x00\x00\x06"),
		"zeros at a time":       collectortest.Slowly(strings.Repeat("\x00", 10_000)),
	})
	waits := map[string]string{"never answers": "timeout", "a byte at a time": "timeout", "settings, then waits": "timeout", "zeros at a time": "timeout"}
	run := func(t *testing.T, servers collectortest.Servers, more string) {
		servers.Run(t, "protocol", waits, func(t *testing.T, address, reason string) { fails(t, newCollector(t, address, more), reason) })
	}
	run(t, servers, "")
	t.Run("behind TLS", func(t *testing.T) { run(t, servers.BehindTLS(settings), ", tls: {insecure_skip_verify: true}") })
}

func TestNothingListens(t *testing.T) {
	fails(t, newCollector(t, collectortest.Refusing(t), ""), "refused")
	fails(t, newCollector(t, "unix:/nonexistent", ""), "refused")
	fails(t, newCollector(t, "no..such:1", ""), "dns")
}

// TLS and plain text do not match, or the server has no HTTP/2.
func TestMismatchedTLS(t *testing.T) {
	cert, _, _ := collectortest.Certificate(t, "grpc.example", time.Now().Add(time.Hour))
	insecure := ", tls: {insecure_skip_verify: true}"
	secured := serve(t, nil, &tls.Config{Certificates: []tls.Certificate{cert}}, respond(frameServing, "0", ""))
	fails(t, newCollector(t, secured, ""), "protocol")
	fails(t, newCollector(t, collectortest.Listen(t, collectortest.Once("220 mail ESMTP\r\n")), insecure), "tls")
	fails(t, newCollector(t, collectortest.Listen(t, collectortest.Drain), insecure), "timeout")
	handshake := func(conn net.Conn) { _ = conn.(*tls.Conn).Handshake() }
	fails(t, newCollector(t, collectortest.ListenOn(t, "tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{cert}}, handshake), insecure), "protocol")
	fails(t, newCollector(t, collectortest.ListenOn(t, "tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{cert}, NextProtos: []string{"http/1.1"}}, handshake), insecure), "tls")
}

// A response that begins and never ends is read in part.
func TestEndlessResponses(t *testing.T) {
	collectortest.NoLeaks(t)
	stream := func(header map[string]string, begin, again string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/grpc")
			for key, value := range header {
				w.Header().Set(key, value)
			}
			_, err := io.WriteString(w, begin)
			for err == nil && r.Context().Err() == nil && again != "" {
				_, err = io.WriteString(w, again)
			}
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}
	}
	for _, tt := range []struct {
		name   string
		handle http.HandlerFunc
		reason string
	}{
		{"after the message", stream(nil, frameServing, strings.Repeat("x", 4096)), "protocol"},
		{"without a message's end", stream(nil, "\x00\x00\x00\x0f\xff", strings.Repeat("x", 4096)), "protocol"},
		{"a message, then nothing", stream(nil, frameServing, ""), "timeout"},
		{"half a message, then nothing", stream(nil, frameServing[:6], ""), "timeout"},
		{"headers alone", stream(nil, "", ""), "timeout"},
		{"a reset of the stream", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "protocol"},
		{"headers that are too large", stream(map[string]string{"X": strings.Repeat("x", 100_000)}, frameServing, ""), "protocol"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fails(t, newCollector(t, serve(t, nil, nil, tt.handle), ""), tt.reason)
		})
	}
}

// fails checks a fault of the collector d, which has no status of a call.
func fails(t *testing.T, c collectors.Collector, reason string) {
	t.Helper()
	if got, ok := value(collectortest.Fails(t, c, reason, ""), "grpc_status_code"); ok {
		t.Errorf("vitals_grpc_status_code = %v, want none without a response", got)
	}
}
