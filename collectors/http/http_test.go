package http_test

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/collectortest"
	httpkind "github.com/vitals-health/vitals/collectors/http"
)

// noSuchHost is an invalid name, for which no resolver sends a query: a label has at most 63 bytes
// (RFC 1035, section 2.3.4).
const noSuchHost = "x234567890123456789012345678901234567890123456789012345678901234.example"

func newCollector(t testing.TB, url, more string) collectors.Collector {
	t.Helper()
	return collectortest.New(t, "api", "{url: '"+url+"'"+more+"}", &httpkind.Config{})
}

// failureReason returns the reason of a failed check, and empty for a success.
func failureReason(t testing.TB, samples []collectors.Sample) string {
	t.Helper()
	var reasons []string
	for _, s := range samples {
		if m := regexp.MustCompile(`^vitals_dependency_failure\{dependency="api",reason="(.*)"\} 1`).FindStringSubmatch(collectortest.Sample(s)); m != nil {
			reasons = append(reasons, m[1])
		}
	}
	if up, ok := collectortest.Value(samples, `vitals_dependency_up{dependency="api"}`); !ok || (up == 1) != (reasons == nil) || len(reasons) > 1 {
		t.Errorf("vitals_dependency_up, reasons = %v, %v, want one reason if it is down", up, reasons)
	}
	return strings.Join(reasons, ",")
}

// checkNote compares a note with a pattern in which SECONDS is a duration.
func checkNote(t testing.TB, c collectors.Collector, pattern string) {
	t.Helper()
	pattern = "^" + strings.ReplaceAll(pattern, "SECONDS", `[0-9]+\.[0-9]{3}`) + "$"
	if got := collectortest.Note(c); !regexp.MustCompile(pattern).MatchString(got) {
		t.Errorf("Note() = %q, want %s", got, pattern)
	}
}

func hostOf(server *httptest.Server) string { return server.Listener.Addr().String() }

func TestExposition(t *testing.T) {
	expires := time.Now().Add(24 * time.Hour).Truncate(time.Second)
	certificate, ca, _ := collectortest.Certificate(t, "target", expires)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"status": "UP"}`)
	}))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}}
	server.StartTLS()
	defer server.Close()
	_, port, _ := net.SplitHostPort(hostOf(server))
	c := newCollector(t, "https://localhost:"+port+"/healthcheck", ", ip_family: 4, tls: {server_name: target, ca_file: "+ca+"}"+
		`, expect: {headers: {Content-Type: "^application/json"}, body: status, json: {status: DOWN}}`)
	samples, err := collectortest.Collect(t, c)
	if want := `GET https://localhost:` + port + `/healthcheck: JSON value status is "UP": expected "DOWN"`; err == nil || err.Error() != want {
		t.Errorf("Collect() = %v, want %s", err, want)
	}
	for i, s := range samples {
		switch line := collectortest.Sample(s); {
		case regexp.MustCompile(`^vitals_(dependency_latency|http_phase_duration)_seconds`).MatchString(line):
			if s.Value <= 0 || s.Value > collectortest.Patience.Seconds() {
				t.Errorf("%s, want more than 0 and less than the deadline", line)
			}
			samples[i].Value = 0.25
		case strings.HasPrefix(line, "vitals_tls_certificate_expiry_timestamp_seconds"):
			if s.Value != float64(expires.Unix()) {
				t.Errorf("%s, want %d", line, expires.Unix())
			}
			samples[i].Value = 1_800_000_000
		}
	}
	collectortest.Golden(t, "metrics.prom", collectortest.Exposition(samples, c.Describe()))
	checkNote(t, c, `200 127\.0\.0\.1:`+port+` SECONDS seconds: protocol`)
}

func TestStatus(t *testing.T) {
	server := collectortest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		code := 0
		_, _ = fmt.Sscanf(r.URL.Path, "/%d", &code)
		if code >= 300 && code < 400 {
			w.Header().Set("Location", "/elsewhere")
		}
		w.WriteHeader(code)
	})
	upstream := `, status: ["200-399"]` // what curl --fail accepts
	tests := []struct {
		name   string
		code   int
		more   string
		reason string
	}{
		{"E01 200", 200, upstream, ""},
		{"E01 204", 204, upstream, ""},
		{"E01 300, as Keystone answers /", 300, upstream, ""},
		{"E01 302", 302, upstream, ""},
		{"E02 400", 400, upstream, "client_error"},
		{"E02 401", 401, upstream, "auth"},
		{"E02 403", 403, upstream, "forbidden"},
		{"E02 404", 404, upstream, "not_found"},
		{"E02 500", 500, upstream, "server_error"},
		{"E02 503", 503, upstream, "server_error"},
		{"200 by default", 200, "", ""},
		{"299 by default", 299, "", ""},
		{"300 by default", 300, "", "protocol"},
		{"304 by default", 304, "", "protocol"},
		{"200 that is not expected", 200, `, status: ["204"]`, "protocol"},
		{"401 that is expected", 401, `, status: ["401"]`, ""},
		{"503 that is expected", 503, `, status: ["200", "500-599"]`, ""},
		{"number in YAML", 204, `, status: [200, 204]`, ""},
		{"beyond all classes", 999, "", "server_error"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newCollector(t, fmt.Sprintf("%s/%d", server.URL, tt.code), tt.more)
			samples, err := collectortest.Collect(t, c)
			if got := failureReason(t, samples); got != tt.reason || (err != nil) != (tt.reason != "") {
				t.Errorf("reason = %q, error %v, want %q", got, err, tt.reason)
			}
			if code, _ := collectortest.Value(samples, `vitals_http_status_code{dependency="api"}`); code != float64(tt.code) {
				t.Errorf("vitals_http_status_code = %v, want %d", code, tt.code)
			}
			if latency, ok := collectortest.Value(samples, `vitals_dependency_latency_seconds{dependency="api"}`); !ok || latency <= 0 {
				t.Errorf("vitals_dependency_latency_seconds = %v, %t, want what an answer took", latency, ok)
			}
			suffix := ""
			if tt.reason != "" {
				suffix = ": " + tt.reason
				if !strings.Contains(err.Error(), fmt.Sprintf("answer has status %d", tt.code)) {
					t.Errorf("Collect() = %v, want the status", err)
				}
			}
			checkNote(t, c, fmt.Sprintf("%d %s SECONDS seconds%s", tt.code, regexp.QuoteMeta(hostOf(server)), suffix))
		})
	}
}

func TestUnreachable(t *testing.T) {
	closed := collectortest.Refusing(t)
	tests := []struct{ name, url, more, reason, note, text string }{
		{"E04 connection refused", "http://" + closed + "/", "", "refused", "000 " + closed + " SECONDS seconds: refused",
			"GET http://" + closed + "/: dial tcp " + closed + ": connect: connection refused"},
		{"E05 name not resolvable", "http://" + noSuchHost + ":5000/v3", "", "dns", "000 " + noSuchHost + ":5000 SECONDS seconds: dns",
			"GET http://" + noSuchHost + ":5000/v3: dial tcp: lookup " + noSuchHost + ": no such host"},
		{"no such Unix socket", "http://daemon/", ", unix_socket: /nonexistent/s.sock", "refused", "000 /nonexistent/s.sock SECONDS seconds: refused",
			"GET http://daemon/: dial unix /nonexistent/s.sock: connect: no such file or directory"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newCollector(t, tt.url, tt.more)
			samples, err := collectortest.Collect(t, c)
			if got := failureReason(t, samples); got != tt.reason {
				t.Errorf("reason = %q, want %q", got, tt.reason)
			}
			if err == nil || err.Error() != tt.text {
				t.Errorf("Collect() = %v, want %s", err, tt.text)
			}
			checkNote(t, c, tt.note)
			for _, absent := range []string{"vitals_dependency_latency_seconds", "vitals_http_status_code", "vitals_http_version", "vitals_http_tls", "vitals_http_redirects", "vitals_http_response_size_bytes"} {
				if v, ok := collectortest.Value(samples, absent+`{dependency="api"}`); ok {
					t.Errorf("%s = %v without an answer, want none", absent, v)
				}
			}
			if exposition := collectortest.Exposition(samples, c.Describe()); strings.Contains(exposition, "expectation") || strings.Contains(exposition, `phase="transfer"`) {
				t.Errorf("without an answer there are\n%s", exposition)
			}
		})
	}
}

// serveConn passes connections to serve, and keeps each open until the client closes it.
func serveConn(t testing.TB, serve func(net.Conn)) (host string) {
	t.Helper()
	return collectortest.Listen(t, func(conn net.Conn) {
		serve(conn)
		collectortest.Drain(conn)
	})
}

// answering reads a request and answers it with this text.
func answering(text string) func(net.Conn) {
	return func(c net.Conn) {
		if _, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
			_, _ = io.WriteString(c, text)
		}
	}
}

// At whatever point a server stops, the collection ends at its deadline and leaves no goroutine.
func TestDeadline(t *testing.T) {
	tests := []struct {
		name, url string
		serve     func(net.Conn)
		phase     string
		code      string
	}{
		{"E06 silent server", "http://HOST/", func(net.Conn) {}, "processing", "000"},
		{"silent in the handshake", "https://HOST/", func(net.Conn) {}, "tls", "000"},
		{"in the header", "http://HOST/", answering("HTTP/1.1 200 OK\r\nX: "), "transfer", "000"},
		{"in the body", "http://HOST/", answering("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nbody"), "transfer", "200"},
		{"in a chunk", "http://HOST/", answering("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nbody"), "transfer", "200"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			collectortest.NoLeaks(t)
			host := serveConn(t, tt.serve)
			c := newCollector(t, strings.Replace(tt.url, "HOST", host, 1), "")
			start := time.Now()
			samples, err := collectortest.Outlast(t, c, collectortest.ErrorContains("in the phase "+tt.phase))
			if took := time.Since(start); took < collectortest.Brief {
				t.Errorf("Collect() took %s, want the deadline, %s", took, collectortest.Brief)
			}
			if got := failureReason(t, samples); got != "timeout" || err == nil || !strings.Contains(err.Error(), "no answer in time, in the phase "+tt.phase) {
				t.Errorf("reason = %q, error %v, want timeout in the phase %s", got, err, tt.phase)
			}
			if _, ok := collectortest.Value(samples, `vitals_dependency_latency_seconds{dependency="api"}`); ok {
				t.Error("there is a latency, want none of an answer that did not end")
			}
			checkNote(t, c, tt.code+" "+host+" SECONDS seconds: timeout")
		})
	}
}

func TestUnixSocket(t *testing.T) {
	socket := filepath.Join(collectortest.Dir(t), "d.sock")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server := &httptest.Server{Listener: listener, Config: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "host="+r.Host)
	})}}
	server.Start()
	defer server.Close()
	c := newCollector(t, "http://daemon/ping", ", unix_socket: "+socket+", expect: {body: '^host=daemon$'}")
	if samples, err := collectortest.Collect(t, c); err != nil || failureReason(t, samples) != "" {
		t.Errorf("Collect() = %v, want no error", err)
	}
	checkNote(t, c, "200 "+socket+" SECONDS seconds")
}

// A host without IPv6, such as many containers, has no address to connect from.
func TestFamily6(t *testing.T) {
	want, reason := `200 \[::1\]:PORT SECONDS seconds`, ""
	url, port := "http://[::1]:1/", "1"
	if listener, err := net.Listen("tcp", "[::1]:0"); err != nil {
		want, reason = `000 \[::1\]:PORT SECONDS seconds: refused`, "refused"
	} else {
		server := &httptest.Server{Listener: listener, Config: &http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})}}
		server.Start()
		defer server.Close()
		_, port, _ = net.SplitHostPort(hostOf(server))
		url = server.URL
	}
	for _, more := range []string{"", ", ip_family: 6"} {
		c := newCollector(t, url, more)
		samples, err := collectortest.Collect(t, c)
		if got := failureReason(t, samples); got != reason {
			t.Errorf("Collect(%s) = %v, want the reason %q", more, err, reason)
		}
		checkNote(t, c, strings.Replace(want, "PORT", port, 1))
	}
}
