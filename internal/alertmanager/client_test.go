package alertmanager

import (
	"bytes"
	"context"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/internal/redact"
)

// requests keeps what a server got.
type requests struct {
	mu  sync.Mutex // guards what follows
	all []*http.Request
	// bodies are in the order of all.
	bodies []string
}

func (r *requests) keep(t *testing.T, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		t.Error(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all, r.bodies = append(r.all, req), append(r.bodies, string(body))
}

// sendTo sends an alert once, to a real server, with a timeout. It returns the outcome and what was logged.
func sendTo(t *testing.T, o Options, timeout time.Duration) (Status, string) {
	t.Helper()
	var log bytes.Buffer
	secrets := &redact.List{}
	n, err := New(o, Env{Hide: secrets.Add, Clean: secrets.Text, Logger: slog.New(slog.NewTextHandler(&log, nil)), Version: "1.2"})
	if err != nil {
		t.Fatal(err)
	}
	s := n.senders[0]
	s.timeout = timeout
	defer s.client.CloseIdleConnections()
	now := time.Now()
	snap := snapshot(firing("A", now, "1"))
	snap.At = now
	s.book.observe(snap, now)
	s.step(context.Background(), now, false)
	return s.current(), log.String()
}

func TestRequest(t *testing.T) {
	var got requests
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got.keep(t, r) }))
	defer server.Close()
	status, log := sendTo(t, Options{URLs: []string{strings.Replace(server.URL, "http://", "http://vitals:hunter2@", 1) + "/am/?tenant=shop"}}, requestTimeout)
	if status.URL != server.URL+"/am" || !status.Success || status.Sent != 1 || status.Requests != 1 || status.Took <= 0 || log != "" {
		t.Errorf("status = %+v and log = %s, want success and no credentials", status, log)
	}
	r := got.all[0]
	user, password, _ := r.BasicAuth()
	if r.Method != "POST" || r.URL.String() != "/am/api/v2/alerts?tenant=shop" || user+password != "vitalshunter2" ||
		r.Header.Get("Content-Type") != "application/json" || r.Header.Get("User-Agent") != "vitals/1.2" {
		t.Errorf("request = %s %s %v, want a POST to the API with the credentials", r.Method, r.URL, r.Header)
	}
	if body := got.bodies[0]; !strings.HasPrefix(body, `[{"labels":{"alertname":"A","x":"1"},"annotations":{"summary":"A of 1"},"startsAt":"2`) {
		t.Errorf("body = %s, want the alert", body)
	}
}

// The file is that of Prometheus: each kind of credentials, and TLS.
func TestCredentialsAndTLS(t *testing.T) {
	var got requests
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got.keep(t, r) }))
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("ca.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})))
	write("secret", "from-a-file\n")
	for credentials, want := range map[string]string{
		"basic_auth: {username: vitals, password: hunter2}":      "Basic dml0YWxzOmh1bnRlcjI=",
		"basic_auth: {username: vitals, password_file: secret}":  "Basic dml0YWxzOmZyb20tYS1maWxl",
		"authorization: {credentials: hunter2}":                  "Bearer hunter2",
		"authorization: {type: Token, credentials_file: secret}": "Token from-a-file",
		"bearer_token_file: secret":                              "Bearer from-a-file",
		"":                                                       "",
	} {
		path := write("http.yml", "tls_config: {ca_file: ca.pem}\n"+credentials+"\n")
		if status, log := sendTo(t, Options{URLs: []string{server.URL}, HTTPConfigFile: path}, requestTimeout); !status.Success {
			t.Errorf("%s: %+v, %s, want success", credentials, status, log)
			continue
		}
		r := got.all[len(got.all)-1]
		if auth := r.Header.Get("Authorization"); auth != want || r.ProtoMajor != 1 {
			t.Errorf("%s: Authorization: %s with %s, want %s with HTTP/1.1, although the server offers HTTP/2", credentials, auth, r.Proto, want)
		}
	}
	if status, log := sendTo(t, Options{URLs: []string{server.URL}, HTTPConfigFile: write("empty.yml", "# nothing\n")}, requestTimeout); status.Success || !strings.Contains(log, "unknown authority") {
		t.Errorf("without the authority: %+v, %s, want a failure", status, log)
	}
}

// Alertmanagers that misbehave fail the request in time, and no secret reaches the log.
func TestBrokenAlertmanagers(t *testing.T) {
	raw := func(answer string) string {
		return "http://" + collectortest.Listen(t, func(conn net.Conn) {
			_, _ = io.CopyN(io.Discard, conn, 100)
			_, _ = io.WriteString(conn, answer)
		})
	}
	handler := func(f http.HandlerFunc) string {
		s := httptest.NewServer(f)
		t.Cleanup(s.Close)
		return s.URL
	}
	var taken requests
	elsewhere := handler(func(_ http.ResponseWriter, r *http.Request) { taken.keep(t, r) })
	wait := func(r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // else the server does not notice the end
		<-r.Context().Done()
	}
	tests := []struct {
		name, url, reason string
		success, waits    bool
	}{
		{"hangs", handler(func(_ http.ResponseWriter, r *http.Request) { wait(r) }), "no answer in time", false, true},
		{"is slow after the status", handler(func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusOK)
			_ = http.NewResponseController(w).Flush()
			wait(r)
		}), "", true, true},
		{"answers 500", handler(func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "oops hunter2", http.StatusInternalServerError)
		}), "it answers 500 Internal Server Error: oops <secret>", false, false},
		{"answers without an end", handler(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusBadGateway)
			for {
				if _, err := fmt.Fprint(w, strings.Repeat("x", 1<<16)); err != nil {
					return
				}
			}
		}), "it answers 502 Bad Gateway: xxx", false, false},
		{"headers without an end", handler(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Long", strings.Repeat("x", 1<<20))
		}), "its answer has more than 69632 bytes", false, false},
		{"half an answer", raw("HTTP/1.1 20"), "malformed HTTP", false, false},
		{"half a body", raw("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"), "", true, false},
		{"another protocol", raw("220 mail ESMTP\r\n"), "malformed HTTP", false, false},
		{"redirects a POST away", handler(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost {
				http.Redirect(w, r, "/login?token=hunter2", http.StatusFound)
			}
		}), "which loses the alerts: expected that address in --alertmanager.url", false, false},
		{"redirects", handler(func(w http.ResponseWriter, r *http.Request) {
			if !strings.HasPrefix(r.URL.Path, "/new") {
				http.Redirect(w, r, "/new"+r.URL.Path, http.StatusPermanentRedirect)
			}
		}), "", true, false},
		{"redirects in a circle", handler(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, r.URL.Path, http.StatusTemporaryRedirect)
		}), "redirect with status 307 in a circle", false, false},
		{"redirects to another host", handler(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere, http.StatusPermanentRedirect)
		}), "redirect with status 308 to another host is not followed: " + elsewhere, false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			timeout := requestTimeout
			if tt.waits {
				timeout = 100 * time.Millisecond
			}
			options := Options{URLs: []string{strings.Replace(tt.url, "http://", "http://vitals:hunter2@", 1) + "?token=hunter2"}}
			status, log := sendTo(t, options, timeout)
			for tt.waits && tt.success && !status.Success && timeout < requestTimeout { // a busy machine needs longer to get the status
				timeout *= 2
				status, log = sendTo(t, options, timeout)
			}
			if status.Success != tt.success || status.Requested != true || strings.Contains(log, "hunter2") {
				t.Errorf("status = %+v, log = %s, want success %t, and no secret", status, log, tt.success)
			}
			if !strings.Contains(log, tt.reason) || (log == "") != tt.success || len(log) > 1000 {
				t.Errorf("log = %s, want %q", log, tt.reason)
			}
		})
	}
	if len(taken.all) > 0 {
		t.Errorf("another host got %v and %q, want neither credentials nor alerts", taken.all[0].Header, taken.bodies)
	}
}

// An address without a server is refused at once.
func TestNoAlertmanagerListens(t *testing.T) {
	address := collectortest.Refusing(t)
	status, log := sendTo(t, Options{URLs: []string{"http://" + address}}, requestTimeout)
	if status.Success || status.Errors != 1 || !strings.Contains(log, "connection refused") || !strings.Contains(log, "alertmanager=http://"+address) {
		t.Errorf("status = %+v, log = %s, want connection refused, once", status, log)
	}
}
