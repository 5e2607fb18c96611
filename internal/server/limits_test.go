package server_test

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vitals-health/vitals/internal/server"
	"github.com/vitals-health/vitals/internal/server/limits"
)

// pipes is a listener whose connections are pipes in memory, so that time can be a fake.
type pipes struct {
	conns chan net.Conn
	once  sync.Once
	done  chan struct{}
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), done: make(chan struct{})} }

func (l *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *pipes) Close() error { l.once.Do(func() { close(l.done) }); return nil }

func (l *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "unix"} }

func (l *pipes) dial() net.Conn {
	here, there := net.Pipe()
	l.conns <- there
	return here
}

func TestSlowClients(t *testing.T) {
	const put = "PUT /api/v1/components/watcher HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n"
	tests := []struct {
		name, first, drop string
		// answer is the beginning of what the client reads until the connection ends, which it does after.
		answer string
		after  time.Duration
	}{
		{"nothing is ever sent", "", "", "", 5 * time.Second},
		{"a header drop by drop", "GET /ready HTTP/1.1\r\n", "x", "", 5 * time.Second},
		{"a body drop by drop", put, " ", "HTTP/1.1 400 Bad Request", 5 * time.Second},
		{"idle after an answer", "GET /ready HTTP/1.1\r\nHost: x\r\n\r\n", "", "HTTP/1.1 200 OK", 90 * time.Second},
		{"a header that is too long", "GET /ready HTTP/1.1\r\nX: " + strings.Repeat("x", 32<<10), "", "HTTP/1.1 431", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, _ := reporting("")
				l, stop := startOnPipes(t, s.Local(allowAll))
				defer stop()
				start := time.Now()
				c, hangUp := client(l, tt.first, tt.drop)
				defer hangUp()
				probeWhile(t, l)
				body, err := io.ReadAll(c)
				if err != nil && !errors.Is(err, io.ErrClosedPipe) {
					t.Errorf("read: %v", err)
				}
				// net/http waits half a second before it closes what it has not read.
				if took := time.Since(start); took < tt.after || took > tt.after+time.Second || !strings.HasPrefix(string(body), tt.answer) {
					t.Errorf("connection ended after %v with %.60q, want %v with %q", took, body, tt.after, tt.answer)
				}
			})
		})
	}
}

// TestAClientThatDoesNotRead takes nothing of its answer: the server gives up on it.
func TestAClientThatDoesNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, stop := startOnPipes(t, server.New(fixed(failing())).Handler())
		defer stop()
		c, hangUp := client(l, "GET /api/v1/status HTTP/1.1\r\nHost: x\r\n\r\n", "")
		defer hangUp()
		probeWhile(t, l)
		time.Sleep(31 * time.Second)
		if body, err := io.ReadAll(c); len(body) > 0 || err != nil {
			t.Errorf("read %d bytes, %v, want the connection closed without an answer", len(body), err)
		}
	})
}

// startOnPipes serves h on pipes.
func startOnPipes(t *testing.T, h http.Handler) (*pipes, func()) {
	t.Helper()
	l := newPipes()
	srv := limits.HTTPServer(h)
	done := make(chan error, 1)
	go func() { done <- srv.Serve(l) }()
	return l, func() {
		if err := srv.Close(); err != nil {
			t.Errorf("close server: %v", err)
		}
		if err := <-done; err != http.ErrServerClosed {
			t.Errorf("serve: %v", err)
		}
	}
}

// client connects and feeds the server. The function that it returns hangs up.
func client(l *pipes, first, drop string) (net.Conn, func()) {
	c := l.dial()
	fed := make(chan struct{})
	go func() {
		defer close(fed)
		feed(c, first, drop)
	}()
	return c, func() {
		_ = c.Close() // The server may have been first.
		<-fed
	}
}

// feed sends first at once and a drop every second until the connection ends.
func feed(c net.Conn, first, drop string) {
	if _, err := io.WriteString(c, first); err != nil || drop == "" {
		return
	}
	for {
		time.Sleep(time.Second)
		if _, err := io.WriteString(c, drop); err != nil {
			return
		}
	}
}

// probeWhile requests /ready on a new connection and expects a response without delay.
func probeWhile(t *testing.T, l *pipes) {
	t.Helper()
	start := time.Now()
	c := l.dial()
	defer c.Close()
	if _, err := io.WriteString(c, "GET /alive HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	r, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil || r.StatusCode != http.StatusOK || time.Since(start) != 0 {
		t.Errorf("a probe beside the slow client: %v, %v after %v, want 200 at once", r, err, time.Since(start))
	}
}
