package listen

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/exporter-toolkit/web"

	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/server"
)

// handshakeErrors opens connections that are no TLS, one after another.
func handshakeErrors(t *testing.T, address string, n int) {
	t.Helper()
	for range n {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Write([]byte("no TLS")); err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, conn) // until the server closes, which is after it logs
		_ = conn.Close()
	}
}

// One stranger cannot fill the log, and its errors have the format of all other lines.
func TestHandshakeErrorsAreBounded(t *testing.T) {
	_, cert, key := collectortest.Certificate(t, "127.0.0.1", time.Now().Add(time.Hour))
	file := write(t, t.TempDir(), "web.yml", fmt.Sprintf("tls_server_config: {cert_file: %q, key_file: %q}\n", cert, key))
	log := &strings.Builder{}
	logger := slog.New(slog.NewTextHandler(log, nil))
	none := false
	flags := &web.FlagConfig{WebListenAddresses: &[]string{"127.0.0.1:0"}, WebSystemdSocket: &none, WebConfigFile: &file}
	s := server.New(server.Options{Snapshot: func() *evaluator.Snapshot { return &evaluator.Snapshot{} }})
	l, err := Open(s, Options{Web: flags, Logger: logger, Socket: Socket{Path: filepath.Join(collectortest.Dir(t), "v.sock"), Mode: "0660"}})
	if err != nil {
		t.Fatal(err)
	}
	l.Serve()
	handshakeErrors(t, l.WebAddress(), 100)
	l.Close()
	const want = `level=WARN msg="connection failed" err="http: TLS handshake error from 127.0.0.1:`
	if n := strings.Count(log.String(), want); n < 1 || n > firstErrors+1 {
		t.Errorf("%d lines with %q after 100 errors, want at most %d; the log is\n%s", n, want, firstErrors, log)
	}
	for line := range strings.Lines(log.String()) {
		if !strings.HasPrefix(line, "time=") {
			t.Errorf("the log has the line %q, want those of slog only", line)
		}
	}
}

// After a pause, the next error is logged with the number of those in between. A long error is
// cut.
func TestConnectionErrorsAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		errors := slog.NewLogLogger(newServerErrors(slog.New(slog.NewTextHandler(&log, nil))), slog.LevelError)
		for range firstErrors + 5 {
			errors.Print("flood")
		}
		time.Sleep(errorPause)
		errors.Print(strings.Repeat("x", 2*maxError))
		lines := strings.Split(strings.TrimSpace(log.String()), "\n")
		last := lines[len(lines)-1]
		if len(lines) != firstErrors+1 || !strings.Contains(last, "omitted=5") || strings.Count(last, "x") != maxError {
			t.Errorf("the log has %d lines, and its last is %q, want %d and one with omitted=5 and %d bytes", len(lines), last, firstErrors+1, maxError)
		}
	})
}

// A flood of handshake errors hides no panic of a handler, which is an error of the program, nor
// the other way round.
func TestPanicsHaveTheirOwnLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		errors := slog.NewLogLogger(newServerErrors(slog.New(slog.NewTextHandler(&log, nil))), slog.LevelError)
		for range 2 * firstErrors {
			errors.Print("http: TLS handshake error from 192.0.2.1:1: EOF")
		}
		server := &http.Server{ErrorLog: errors, Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("a mistake") })}
		from, to := net.Pipe()
		listener := &oneConnection{conns: make(chan net.Conn, 1)}
		listener.conns <- from
		go func() { _ = server.Serve(listener) }()
		_, _ = io.WriteString(to, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		synctest.Wait()
		_ = server.Close()
		synctest.Wait()
		if n := strings.Count(log.String(), "level=WARN msg=\"connection failed\""); n != firstErrors {
			t.Errorf("%d errors of connections are logged, want %d", n, firstErrors)
		}
		const want = `level=ERROR msg="handler panicked" err="http: panic serving pipe: a mistake`
		if n := strings.Count(log.String(), want); n != 1 {
			t.Errorf("%q is logged %d times, want once; the log is\n%s", want, n, log.String())
		}
		for range 2 * firstPanics {
			errors.Print("http: panic serving x")
		}
		if n := strings.Count(log.String(), "handler panicked"); n != firstPanics {
			t.Errorf("%d panics are logged, want %d", n, firstPanics)
		}
		time.Sleep(panicPause)
		errors.Print("http: panic serving x")
		if !strings.Contains(log.String(), fmt.Sprintf("omitted=%d", firstPanics+1)) {
			t.Errorf("the next panic is logged without those in between; the log is\n%s", log.String())
		}
	})
}

// oneConnection is a listener of connections that exist.
type oneConnection struct {
	conns chan net.Conn
	once  sync.Once
}

func (l *oneConnection) Accept() (net.Conn, error) {
	if conn, ok := <-l.conns; ok {
		return conn, nil
	}
	return nil, net.ErrClosed
}

func (l *oneConnection) Close() error {
	l.once.Do(func() { close(l.conns) })
	return nil
}

func (l *oneConnection) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }
