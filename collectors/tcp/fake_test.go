package tcp

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/remote"
)

// patience is the deadline of steps that take no time.
const patience = 10 * time.Second

// serveOnce runs a server for one connection in memory and returns the client's side,
// bound to a collection.
func serveOnce(t testing.TB, timeout time.Duration, serve func(conn net.Conn)) (context.Context, net.Conn) {
	t.Helper()
	client, server := net.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer server.Close()
		serve(server)
	}()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	bound, stop := remote.Bound(ctx, client, maxRead)
	t.Cleanup(func() {
		stop()
		cancel()
		_ = client.Close()
		<-done
	})
	return ctx, bound
}

// scripted is a server that reads and writes in turn: the first, third, ...
// text is read, the second, fourth, ... is written.
func scripted(t testing.TB, texts ...string) func(net.Conn) {
	return func(conn net.Conn) {
		for i, text := range texts {
			if i%2 == 1 {
				_, _ = io.WriteString(conn, text) // the client may have left
				continue
			}
			got := make([]byte, len(text))
			if n, err := io.ReadFull(conn, got); string(got) != text {
				t.Errorf("the server reads %q, %v, want %q", got[:n], err, text)
				return
			}
		}
	}
}

// reasonOf returns the reason of an error, "" for none.
func reasonOf(err error) remote.Reason {
	if err == nil {
		return ""
	}
	return remote.ReasonOf(err)
}

// hostileServers are servers that no check may accept, hang on, or read without bound.
func hostileServers() collectortest.Servers {
	forever, closing := collectortest.Forever, collectortest.Closing
	return collectortest.Hostile().With(collectortest.Servers{
		"endless opening brackets":    forever("["),
		"endless opening braces":      forever(`{"a":`),
		"one byte after the other":    oneByOne("x"),
		"endless HTTP header":         forever("HTTP/1.1 200 OK\r\n" + strings.Repeat("A: b\r\n", 500)),
		"garbage, then closes":        closing("\x16\x03\x01\x02\x00\x01\xff\xfe\r\n"),
		"huge length prefix":          closing("$2147483647\r\nx"),
		"huge array":                  closing("*2147483647\r\n"),
		"huge chunk":                  closing("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffff\r\nx"),
		"huge body that never comes":  closing("HTTP/1.1 200 OK\r\nContent-Length: 999999999\r\n\r\n{"),
		"truncated":                   closing("+PON"),
		"an SSH banner":               closing("SSH-2.0-OpenSSH_9.2\r\n"),
		"a greeting of a mail server": closing("220 mail ESMTP\r\n"),
		"a greeting of POP3":          closing("+OK POP3 ready\r\n"),
		"a memcached":                 closing("ERROR\r\nERROR\r\n"),
		"a redis":                     closing("-ERR unknown command 'x', with args beginning with: 'hunter2' \r\n"),
		"an OVSDB server":             closing(`{"error":{"details":"hunter2"},"id":null,"result":null}`),
		"echoes":                      func(conn net.Conn) { _, _ = io.Copy(conn, conn) },
	})
}

// oneByOne sends a text without end, in as many writes as it has bytes.
func oneByOne(text string) func(net.Conn) {
	return func(conn net.Conn) {
		go collectortest.Drain(conn)
		for {
			if _, err := io.WriteString(conn, text); err != nil {
				return
			}
		}
	}
}

// hostile holds a check against all hostile servers: it fails within its deadline with
// protocol or timeout, and never shows the password.
func hostile(t *testing.T, check func(context.Context, *peer) (string, error)) {
	t.Helper()
	for name, serve := range hostileServers() {
		t.Run("E28 "+name, func(t *testing.T) {
			t.Parallel()
			ctx, conn := serveOnce(t, 300*time.Millisecond, serve)
			start := time.Now()
			peer := &peer{
				conn: conn, host: "localhost", tls: &tls.Config{ServerName: "localhost"}, database: "OVN_Southbound",
				login: &credentials{Username: "vitals", Password: "hunter2"},
			}
			note, err := check(ctx, peer)
			if took := time.Since(start); took > patience {
				t.Errorf("check() took %s, want it to end at its deadline", took)
			}
			if reason := reasonOf(err); reason != remote.ReasonProtocol && reason != remote.ReasonTimeout {
				t.Errorf("check() = %q, reason %q, %v, want protocol or timeout", note, reason, err)
			}
			if text := peer.login.redacted(note + err.Error()); strings.Contains(text, "hunter2") {
				t.Errorf("check() shows the password: %q", text)
			}
		})
	}
}
