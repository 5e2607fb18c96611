package tcp

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/vitals-health/vitals/collectors/remote"
)

func TestEtcdAnswers(t *testing.T) {
	for _, c := range []struct {
		name   string
		status int
		body   string
		want   remote.Reason
	}{
		{"healthy", 200, `{"health":"true","reason":""}`, ""},
		{"healthy, of version 3.4", 200, `{"health":"true"}`, ""},
		{"healthy, without quotes", 200, `{"health": true}`, ""},
		{"no leader", 503, `{"health":"false","reason":"RAFT NO LEADER"}`, remote.ReasonServerError},
		{"alarm", 503, `{"health":"false","reason":"ALARM NOSPACE"}`, remote.ReasonServerError},
		{"false with status 200", 200, `{"health":"false"}`, remote.ReasonServerError},
		{"true with status 503", 503, `{"health":"true"}`, remote.ReasonServerError},
		{"true with a redirection", 302, `{"health":"true"}`, remote.ReasonProtocol},
		{"another server's health", 200, `{"health":"ok"}`, remote.ReasonProtocol},
		{"a list", 200, `["true"]`, remote.ReasonProtocol},
		{"a web page", 200, "<html>", remote.ReasonProtocol},
		{"nothing", 200, "", remote.ReasonProtocol},
		{"truncated", 200, `{"health":"true"`, remote.ReasonProtocol},
		{"more behind it", 200, `{"health":"true"} {"health":"false"}`, remote.ReasonProtocol},
		{"no login", 401, "", remote.ReasonAuth},
		{"forbidden", 403, "no", remote.ReasonForbidden},
		{"unknown path", 404, "404 page not found", remote.ReasonNotFound},
		{"requests more", 100, "", remote.ReasonProtocol},
	} {
		if got := reasonOf(parseEtcd(c.status, []byte(c.body))); got != c.want {
			t.Errorf("%s: parseEtcd(%d, %q) has reason %q, want %q", c.name, c.status, c.body, got, c.want)
		}
	}
}

func TestEtcdCheck(t *testing.T) {
	for host, want := range map[string]string{"etcd.example": "etcd.example", "2001:db8::1": "[2001:db8::1]", "localhost": "localhost"} {
		ctx, conn := serveOnce(t, patience, func(conn net.Conn) {
			req, err := http.ReadRequest(bufio.NewReader(conn))
			if err != nil || req.Method != http.MethodGet || req.URL.Path != "/health" || req.Host != want {
				t.Errorf("the server reads %+v, %v, want GET /health at %s", req, err, want)
			}
			const body = `{"health":"true","reason":""}`
			_, _ = fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
		})
		note, err := checkEtcd(ctx, &peer{conn: conn, host: host})
		if note != "health is true" || err != nil {
			t.Errorf("checkEtcd() = %q, %v, want it healthy", note, err)
		}
	}
}

func TestEtcdAnswerIsBounded(t *testing.T) {
	ctx, conn := serveOnce(t, patience, func(conn net.Conn) {
		go func() { _, _ = io.Copy(io.Discard, conn) }()
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n"+`{"health":"true"}`+strings.Repeat(" ", maxEtcdAnswer))
	})
	note, err := checkEtcd(ctx, &peer{conn: conn, host: "localhost"})
	if reasonOf(err) != remote.ReasonProtocol || !strings.Contains(err.Error(), "larger than 64KiB") {
		t.Errorf("checkEtcd() = %q, %v, want an answer that is too large", note, err)
	}
}

func TestEtcdHostile(t *testing.T) { hostile(t, checkEtcd) }

func FuzzEtcdAnswer(f *testing.F) {
	f.Add(200, []byte(`{"health":"true","reason":""}`))
	f.Add(503, []byte(`{"health":"false","reason":"ALARM NOSPACE"}`))
	f.Add(200, []byte(`{"health":{"health":["true"]}}`))
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		err := parseEtcd(status, body)
		if err == nil && (status != http.StatusOK || !strings.Contains(string(body), "true")) {
			// JSON may write the letters as escapes.
			if status != http.StatusOK || !strings.Contains(string(body), `\u`) {
				t.Fatalf("parseEtcd(%d, %q) = nil, want an error", status, body)
			}
		}
		if got := reasonOf(err); err != nil && !slices.Contains(remote.Reasons(), got) {
			t.Fatalf("parseEtcd(%d, %q) has the reason %q, want a known one", status, body, got)
		}
	})
}

func FuzzEtcdServer(f *testing.F) {
	f.Add([]byte("HTTP/1.1 200 OK\r\nContent-Length: 17\r\n\r\n{\"health\":\"true\"}"))
	f.Add([]byte("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n11\r\n{\"health\":\"true\"}\r\n0\r\n\r\n"))
	f.Fuzz(func(t *testing.T, answer []byte) { fuzzServer(t, answer, checkEtcd) })
}

// fuzzServer runs a check against a server that sends one answer and closes.
func fuzzServer(t *testing.T, answer []byte, check func(context.Context, *peer) (string, error)) {
	ctx, conn := serveOnce(t, patience, func(conn net.Conn) {
		go func() { _, _ = io.Copy(io.Discard, conn) }()
		_, _ = conn.Write(answer)
	})
	_, err := check(ctx, &peer{conn: conn, host: "localhost"})
	if got := reasonOf(err); err != nil && (!slices.Contains(remote.Reasons(), got) || got == remote.ReasonTimeout) {
		t.Fatalf("check() with the answer %q = %v, reason %q, want a known one, and no waiting", answer, err, got)
	}
}
