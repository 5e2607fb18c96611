package prometheus_test

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/collectortest"
)

// answering reads requests and writes a text after each; a server that closes does so after the
// first. more is repeated until the connection ends.
func answering(text string, closes bool, more string) func(net.Conn) {
	return func(conn net.Conn) {
		reader := bufio.NewReader(conn)
		for {
			req, err := http.ReadRequest(reader)
			if err != nil {
				return
			}
			_, _ = io.Copy(io.Discard, req.Body)
			if _, err := io.WriteString(conn, text); err != nil || closes {
				return
			}
			for more != "" {
				if _, err := io.WriteString(conn, more); err != nil {
					return
				}
			}
		}
	}
}

// trickle sends an answer, too slowly for any deadline.
func trickle(conn net.Conn) {
	go func() { _, _ = io.Copy(io.Discard, conn) }()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for text := "HTTP/1.1 200 OK\r\n\r\n" + strings.Repeat(" ", 1<<20); text != ""; text = text[1:] {
		<-tick.C
		if _, err := io.WriteString(conn, text[:1]); err != nil {
			return
		}
	}
}

// Every fault of a server ends in time with its reason, without values and without a goroutine that
// is left, over a plain connection and behind TLS.
func TestFaults(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	const header = "HTTP/1.1 200 OK\r\n"
	whole := fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s", header, len(check), check)
	cert, _, _ := collectortest.Certificate(t, "h", time.Now().Add(time.Hour))
	settings := &tls.Config{Certificates: []tls.Certificate{cert}}
	for _, tt := range []struct {
		name         string
		serve        func(net.Conn)
		reason, text string
	}{
		{"closes at once", func(net.Conn) {}, "protocol", "EOF"},
		{"reads and closes", answering("", true, ""), "protocol", "EOF"},
		{"waits for ever", func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }, "timeout", "no complete answer in time"},
		{"another protocol", answering("SSH-2.0-OpenSSH_9.2\r\n", true, ""), "protocol", "malformed HTTP response"},
		{"garbage", answering("\x16\x03\x01\x02\x00\x01\xff\xfe\r\n", true, ""), "protocol", "malformed HTTP response"},
		{"half a header", answering(header+"X: y", true, ""), "protocol", "unexpected EOF"},
		{"half an answer", answering(header+"Content-Length: 900\r\n\r\n"+check[:20], true, ""), "protocol", "unexpected EOF"},
		{"half an answer, then waits", answering(header+"Content-Length: 900\r\n\r\n"+check[:20], false, ""), "timeout", "no complete answer in time"},
		{"an answer cut off", answering(header+"\r\n"+check[:20], true, ""), "protocol", "unexpected end of JSON input"},
		{"nested brackets", answering(header+"\r\n"+strings.Repeat("[", 1<<19), true, ""), "protocol", "exceeded max depth"},
		{"10 GB", answering(header+"Content-Length: 10000000000\r\n\r\n", false, strings.Repeat(" ", 64<<10)), "protocol", "answer is larger than 1MiB"},
		{"chunks without end", answering(header+"Transfer-Encoding: chunked\r\n\r\n", false, strings.Repeat("1\r\n \r\n", 1000)), "protocol", "answer is larger than 1MiB"},
		{"a header without end", answering(header+"X: ", false, strings.Repeat("y", 4096)), "protocol", "server response headers exceeded"},
		{"a byte at a time", trickle, "timeout", "no complete answer in time"},
		{"answers the check only", func(conn net.Conn) {
			answering(whole, true, "")(conn)
			_, _ = io.Copy(io.Discard, conn)
		}, "", "query q: no complete answer in time"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			checkFault(t, newCollector(t, "http://"+collectortest.Listen(t, tt.serve), ", queries: {q: up}"), tt.reason, tt.text)
		})
		t.Run(tt.name+" behind TLS", func(t *testing.T) {
			address := collectortest.ListenOn(t, "tcp", "127.0.0.1:0", settings, func(conn net.Conn) {
				if conn.(*tls.Conn).Handshake() == nil {
					tt.serve(conn)
				}
			})
			checkFault(t, newCollector(t, "https://"+address, ", tls: {insecure_skip_verify: true}, queries: {q: up}"), tt.reason, tt.text)
		})
	}
	t.Run("no TLS", func(t *testing.T) {
		checkFault(t, newCollector(t, "https://"+collectortest.Listen(t, func(conn net.Conn) {
			_, _ = io.WriteString(conn, "HTTP/1.1 400 Bad Request\r\n\r\n")
			_, _ = io.Copy(io.Discard, conn)
		}), ", queries: {q: up}"), "tls", "server gave HTTP response to HTTPS client")
	})
	t.Run("nothing listens", func(t *testing.T) {
		checkFault(t, newCollector(t, "http://"+collectortest.Refusing(t), ", queries: {q: up}"), "refused", "connection refused")
	})
	t.Run("no such name", func(t *testing.T) {
		checkFault(t, newCollector(t, "http://prometheus.invalid", ", queries: {q: up}"), "dns", "prometheus.invalid")
	})
}

// checkFault collects until the deadline, and compares the reason and the error.
func checkFault(t *testing.T, c collectors.Collector, reason, text string) {
	t.Helper()
	samples, err := collectortest.Outlast(t, c, func(samples []collectors.Sample, err error) bool {
		return reasonOf(samples, "") == reason && err != nil && strings.Contains(err.Error(), text)
	})
	if got := reasonOf(samples, ""); got != reason || err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("Collect() has the reason %q and the error %v, want %q and %q", got, err, reason, text)
	}
	if values := queryValues(samples); values != "" {
		t.Errorf("values = %q, want none", values)
	}
	if note := collectortest.Note(c); len(note) > collectors.MaxNote || reason != "" && !strings.Contains(note, " "+reason+": ") {
		t.Errorf("Note() = %q, want the reason %s in at most %d bytes", note, reason, collectors.MaxNote)
	}
}

// A query that is slow leaves time for the next.
func TestSlowQuery(t *testing.T) {
	end := make(chan struct{})
	s := collectortest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("query") == "slow" {
			select {
			case <-r.Context().Done():
			case <-end:
			}
			return
		}
		_, _ = io.WriteString(w, check)
	})
	defer close(end)
	c := newCollector(t, s.URL, ", queries: {a: slow, b: up}")
	samples, err := collectortest.Outlast(t, c, func(samples []collectors.Sample, _ error) bool { return queryValues(samples) != "" })
	if got, want := queryValues(samples), "vitals_query_value{dependency=\"monitoring\",query=\"b\"} 1\n"; got != want || reasonOf(samples, "a") != "timeout" || err == nil {
		t.Errorf("values = %q, reason of a %q, error %v, want %q, timeout and an error", got, reasonOf(samples, "a"), err, want)
	}
}

// Secrets of the request that a server sends back are not shown, and do not go to another host.
func TestShowsNoSecret(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"password": "hunter2-password", "token": "hunter2-token", "header": "hunter2-header"} {
		collectortest.Write(t, dir+"/"+name, text+"\n")
	}
	other := collectortest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		t.Errorf("the other host has the request %s %v", r.URL, r.Header)
	})
	for _, more := range []string{
		"basic_auth: {username: u, password_file: DIR/password}", "bearer_token_file: DIR/token", "header_files: {X-Scope-OrgID: DIR/header}",
	} {
		for _, redirect := range []bool{false, true} {
			s := collectortest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
				if redirect {
					http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
					return
				}
				_, password, _ := r.BasicAuth()
				w.WriteHeader(http.StatusBadRequest)
				_, _ = fmt.Fprintf(w, `{"status":"error","errorType":"bad_data","error":"got %s %s %s %s"}`, password, r.Header.Get("Authorization"), r.Header.Get("X-Scope-OrgID"), r.URL.RawQuery)
			})
			c := newCollector(t, s.URL+"?api_key=hunter2-key", ", "+strings.ReplaceAll(more, "DIR", dir))
			samples, err := collectortest.Collect(t, c)
			want := map[bool]string{false: "client_error", true: "protocol"}[redirect]
			if got := reasonOf(samples, ""); err == nil || got != want {
				t.Errorf("%s: Collect() = %v with the reason %q, want %q", more, err, got, want)
			}
			if text := fmt.Sprint(err, collectortest.Note(c)); strings.Contains(text, "hunter2") {
				t.Errorf("%s: Collect() and Note() = %s, want no secret", more, text)
			}
		}
	}
}

// A file of the credentials that cannot be read fails the collection without a request.
func TestMissingFiles(t *testing.T) {
	s := collectortest.Serve(t, func(_ http.ResponseWriter, r *http.Request) { t.Errorf("there is the request %s", r.URL) })
	for more, want := range map[string]string{
		"basic_auth: {username: u, password_file: /nonexistent}": "auth", "bearer_token_file: /nonexistent": "auth",
		"header_files: {X-A: /nonexistent}": "auth", "tls: {ca_file: /nonexistent}": "tls",
	} {
		samples, err := collectortest.Collect(t, newCollector(t, s.URL, ", "+more))
		if got := reasonOf(samples, ""); got != want || err == nil {
			t.Errorf("%s: Collect() = %v with the reason %q, want %q", more, err, got, want)
		}
	}
}
