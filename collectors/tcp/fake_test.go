package tcp

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"strings"
	"testing"
	"time"

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
func hostileServers() map[string]func(net.Conn) {
	drain := func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }
	forever := func(text string) func(net.Conn) {
		return func(conn net.Conn) {
			go drain(conn)
			for {
				if _, err := io.WriteString(conn, text); err != nil {
					return
				}
			}
		}
	}
	once := func(text string) func(net.Conn) {
		return func(conn net.Conn) {
			go drain(conn)
			_, _ = io.WriteString(conn, text)
		}
	}
	return map[string]func(net.Conn){
		"closes at once":              func(net.Conn) {},
		"endless zeros":               forever(strings.Repeat("\x00", 4096)),
		"endless line":                forever(strings.Repeat("a", 4096)),
		"endless lines":               forever("hello\r\n"),
		"endless line ends":           forever("\r\n"),
		"endless opening brackets":    forever(strings.Repeat("[", 4096)),
		"endless opening braces":      forever(strings.Repeat(`{"a":`, 1000)),
		"one byte at a time":          forever("x"),
		"endless HTTP header":         forever("HTTP/1.1 200 OK\r\n" + strings.Repeat("A: b\r\n", 500)),
		"garbage":                     once("\x16\x03\x01\x02\x00\x01\xff\xfe\r\n"),
		"huge length prefix":          once("$2147483647\r\nx"),
		"huge array":                  once("*2147483647\r\n"),
		"huge chunk":                  once("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffff\r\nx"),
		"huge body that never comes":  once("HTTP/1.1 200 OK\r\nContent-Length: 999999999\r\n\r\n{"),
		"truncated":                   once("+PON"),
		"an SSH banner":               once("SSH-2.0-OpenSSH_9.2\r\n"),
		"a greeting of a mail server": once("220 mail ESMTP\r\n"),
		"a greeting of POP3":          once("+OK POP3 ready\r\n"),
		"a memcached":                 once("ERROR\r\nERROR\r\n"),
		"a redis":                     once("-ERR unknown command 'x', with args beginning with: 'hunter2' \r\n"),
		"an OVSDB server":             once(`{"error":{"details":"hunter2"},"id":null,"result":null}`),
		"echoes": func(conn net.Conn) {
			_, _ = io.Copy(conn, conn)
		},
		"silent": drain,
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
