package http_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/vitals-health/vitals/collectors/collectortest"
)

// No server of another protocol is taken for an answer, and a web server that refuses is one.
func TestHostileServers(t *testing.T) {
	servers := collectortest.Hostile()
	delete(servers, "a web server")
	waits := map[string]string{"never answers": "timeout", "a byte at a time": "timeout"}
	servers.Run(t, "protocol", waits, func(t *testing.T, address, reason string) {
		collectortest.Fails(t, newCollector(t, "http://"+address+"/", ""), reason, "")
	})
}

// Every fault of a server has its reason, and leaves no goroutine behind.
func TestFaults(t *testing.T) {
	header := "HTTP/1.1 200 OK\r\n"
	tests := []struct {
		name   string
		serve  func(net.Conn)
		reason string
		code   string
		text   string
	}{
		{"hangs up", hangingUp(""), "protocol", "000", "EOF"},
		{"uses another protocol", hangingUp("SSH-2.0-OpenSSH_9.2\r\n"), "protocol", "000", `malformed HTTP response "SSH-2.0-OpenSSH_9.2"`},
		{"has no status", hangingUp("HTTP/1.1 OK\r\n\r\n"), "protocol", "000", `malformed HTTP status code "OK"`},
		{"hangs up in the header", hangingUp(header + "X: y"), "protocol", "000", "unexpected EOF"},
		{"sends a header without end", endless(header+"X: ", "y"), "protocol", "000", "server response headers exceeded 65536 bytes; aborted"},
		{"hangs up in the body", hangingUp(header + "Content-Length: 9\r\n\r\nbody"), "protocol", "200", "read body: unexpected EOF"},
		{"hangs up in a chunk", hangingUp(header + "Transfer-Encoding: chunked\r\n\r\n9\r\nbody"), "protocol", "200", "read body: unexpected EOF"},
		{"sends chunks that are none", hangingUp(header + "Transfer-Encoding: chunked\r\n\r\nzz\r\nbody"), "protocol", "200", "read body: invalid byte in chunk length"},
		{"sends a body without end", endless(header+"\r\n", "y"), "", "200", ""},
		{"sends chunks without end", endless(header+"Transfer-Encoding: chunked\r\n\r\n", "1\r\ny\r\n"), "", "200", ""},
		{"ends the body by hanging up", hangingUp(header + "\r\nbody"), "", "200", ""},
		{"answers as in 1996", hangingUp("HTTP/1.0 200 OK\r\n\r\nbody"), "", "200", ""},
		{"changes the protocol", answering("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n"), "protocol", "101", "answer has status 101: expected 200-299"},
		{"promises for ever", endless("", "HTTP/1.1 103 Early Hints\r\n\r\n"), "protocol", "000", "server response headers exceeded 65536 bytes; aborted"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			collectortest.NoLeaks(t)
			host := serveConn(t, tt.serve)
			c := newCollector(t, "http://"+host+"/", ", body_size_limit: 100kB")
			samples, err := collectortest.Collect(t, c)
			if got := failureReason(t, samples); got != tt.reason {
				t.Errorf("reason = %q, want %q", got, tt.reason)
			}
			if got := strings.TrimPrefix(errorText(err), "GET http://"+host+"/: "); !strings.HasSuffix(got, tt.text) || got == "" != (tt.text == "") {
				t.Errorf("Collect() = %q, want %q", got, tt.text)
			}
			suffix := ""
			if tt.reason != "" {
				suffix = ": " + tt.reason
			}
			checkNote(t, c, tt.code+" "+host+" SECONDS seconds"+suffix)
		})
	}
}

// hangingUp answers a request with this text and closes the connection.
func hangingUp(text string) func(net.Conn) {
	return func(c net.Conn) {
		answering(text)(c)
		_ = c.Close()
	}
}

// endless answers a request with a beginning and then repeats a text without end.
func endless(begin, again string) func(net.Conn) {
	return func(c net.Conn) {
		if _, err := http.ReadRequest(bufio.NewReader(c)); err != nil {
			return
		}
		_, err := io.WriteString(c, begin)
		for more := strings.Repeat(again, 100); err == nil; {
			_, err = io.WriteString(c, more)
		}
	}
}

// Secrets of the request that a server sends back are not shown.
func TestShowsNoSecret(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{"password": "hunter2-password", "token": "hunter2-token", "header": "hunter2-header", "body": "hunter2-body"}
	for name, text := range files {
		collectortest.Write(t, dir+"/"+name, text+"\n")
	}
	// The first line of an answer that is not HTTP is part of the error.
	echo := func(pick func(*http.Request, string) string) func(net.Conn) {
		return func(c net.Conn) {
			req, err := http.ReadRequest(bufio.NewReader(c))
			if err != nil {
				return
			}
			body, _ := io.ReadAll(req.Body)
			_, _ = io.WriteString(c, "got-"+pick(req, string(body))+"\r\n")
			_ = c.Close()
		}
	}
	tests := []struct {
		name, more string
		pick       func(r *http.Request, body string) string
	}{
		{"query", "", func(r *http.Request, _ string) string { return r.RequestURI }},
		{"password", ", basic_auth: {username: u, password_file: DIR/password}", func(r *http.Request, _ string) string {
			_, password, _ := r.BasicAuth()
			return password
		}},
		{"password as it is sent", ", basic_auth: {username: u, password_file: DIR/password}", func(r *http.Request, _ string) string { return r.Header.Get("Authorization") }},
		{"token", ", bearer_token_file: DIR/token", func(r *http.Request, _ string) string { return r.Header.Get("Authorization") }},
		{"header", ", header_files: {X-Auth-Token: DIR/header}", func(r *http.Request, _ string) string { return r.Header.Get("X-Auth-Token") }},
		{"body", ", method: POST, body_file: DIR/body", func(_ *http.Request, body string) string { return body }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			host := serveConn(t, echo(tt.pick))
			c := newCollector(t, "http://"+host+"/?secret=hunter2-query", strings.ReplaceAll(tt.more, "DIR", dir)+", note_format: '%{http_code} %{url_effective}'")
			_, err := collectortest.Collect(t, c)
			text := errorText(err) + collectortest.Note(c)
			if err == nil || strings.Contains(text, "hunter2") || strings.Contains(text, "dTpodW50ZXIy") {
				t.Errorf("Collect() and Note() = %s, want an error without a secret", text)
			}
			if !strings.Contains(text, "text that repeats a secret is not shown") {
				t.Errorf("Collect() = %v, want a hint that something is not shown", err)
			}
			if want := "000 http://" + host + "/?...: protocol"; collectortest.Note(c) != want {
				t.Errorf("Note() = %s, want %s", collectortest.Note(c), want)
			}
		})
	}
}

// A redirect may have a secret in its path.
func TestShowsNoSecretInAPath(t *testing.T) {
	file := t.TempDir() + "/token"
	collectortest.Write(t, file, "hunter2")
	server := collectortest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			http.Redirect(w, r, "/users/"+r.Header.Get("X-Auth-Token"), http.StatusFound)
			return
		}
		w.WriteHeader(http.StatusNotFound)
	})
	c := newCollector(t, server.URL+"/", ", follow_redirects: true, header_files: {X-Auth-Token: "+file+"}, note_format: '%{url_effective}'")
	_, err := collectortest.Collect(t, c)
	if text := errorText(err) + collectortest.Note(c); err == nil || strings.Contains(text, "hunter2") {
		t.Errorf("Collect() and Note() = %s, want an error without a secret", text)
	}
}
