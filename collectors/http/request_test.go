package http_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/vitals-health/vitals/collectors/collectortest"
	httpkind "github.com/vitals-health/vitals/collectors/http"
)

func TestRequest(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"token": " t0ken\n", "password": "pass word\n", "body": "{\"a\": 1}\n"} {
		collectortest.Write(t, dir+"/"+name, text)
	}
	var got http.Request
	var body []byte
	server := collectortest.Serve(t, func(_ http.ResponseWriter, r *http.Request) {
		got = *r
		body, _ = io.ReadAll(r.Body)
	})
	tests := []struct{ name, more, line, header, body string }{
		{"plain", "", "GET /v3?a=b HTTP/1.1 HOST", "Connection: close, User-Agent: vitals", ""},
		{"HEAD", ", method: HEAD, user_agent: curl-healthcheck", "HEAD /v3?a=b HTTP/1.1 HOST", "Connection: close, User-Agent: curl-healthcheck", ""},
		{"headers", ", headers: {Host: cloud.example, accept: text/plain}", "GET /v3?a=b HTTP/1.1 cloud.example", "Accept: text/plain, Connection: close, User-Agent: vitals", ""},
		{"secret header", ", header_files: {x-auth-token: DIR/token}", "GET /v3?a=b HTTP/1.1 HOST", "Connection: close, User-Agent: vitals, X-Auth-Token: t0ken", ""},
		{"token", ", bearer_token_file: DIR/token", "GET /v3?a=b HTTP/1.1 HOST", "Authorization: Bearer t0ken, Connection: close, User-Agent: vitals", ""},
		{"password", ", basic_auth: {username: u, password_file: DIR/password}", "GET /v3?a=b HTTP/1.1 HOST", "Authorization: Basic dTpwYXNzIHdvcmQ=, Connection: close, User-Agent: vitals", ""},
		{"body", ", method: POST, body: b0dy, headers: {Content-Type: text/plain}", "POST /v3?a=b HTTP/1.1 HOST", "Connection: close, Content-Length: 4, Content-Type: text/plain, User-Agent: vitals", "b0dy"},
		{"body out of a file", ", method: PUT, body_file: DIR/body", "PUT /v3?a=b HTTP/1.1 HOST", "Connection: close, Content-Length: 9, User-Agent: vitals", "{\"a\": 1}\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := collectortest.Collect(t, newCollector(t, server.URL+"/v3?a=b", strings.ReplaceAll(tt.more, "DIR", dir))); err != nil {
				t.Fatalf("Collect() = %v, want no error", err)
			}
			if line := fmt.Sprintf("%s %s %s %s", got.Method, got.RequestURI, got.Proto, got.Host); line != strings.Replace(tt.line, "HOST", hostOf(server), 1) {
				t.Errorf("request = %s, want %s", line, tt.line)
			}
			var header strings.Builder
			_ = got.Header.Write(&header)
			if text := strings.ReplaceAll(strings.TrimSpace(header.String()), "\r\n", ", "); text != tt.header {
				t.Errorf("header = %s, want %s", text, tt.header)
			}
			if string(body) != tt.body {
				t.Errorf("body = %q, want %q", body, tt.body)
			}
		})
	}
}

// Secrets are read at each request; without them, none is made.
func TestCredentialsAreRenewed(t *testing.T) {
	file := t.TempDir() + "/token"
	want, requested := "", false
	server := collectortest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		requested = true
		if r.Header.Get("X-Auth-Token") != want {
			w.WriteHeader(http.StatusUnauthorized)
		}
	})
	c := newCollector(t, server.URL, ", header_files: {X-Auth-Token: "+file+"}")
	for _, step := range []struct{ given, want, reason, text string }{
		{"one", "one", "", ""},
		{"one", "two", "auth", "GET " + server.URL + ": answer has status 401: expected 200-299"},
		{"two", "two", "", ""},
		{"two\nthree", "two", "auth", "read header X-Auth-Token: " + file + ": expected one line"},
	} {
		collectortest.Write(t, file, step.given)
		want = step.want
		samples, err := collectortest.Collect(t, c)
		if got := failureReason(t, samples); got != step.reason || errorText(err) != step.text {
			t.Errorf("with %q: reason = %q, error %v, want %q, %q", step.given, got, err, step.reason, step.text)
		}
	}
	for _, more := range []string{"header_files: {X-Auth-Token: /nonexistent/t}", "bearer_token_file: /nonexistent/t", "basic_auth: {username: u, password_file: /nonexistent/t}", "body_file: /nonexistent/t"} {
		requested = false
		c := newCollector(t, server.URL, ", "+more)
		samples, err := collectortest.Collect(t, c)
		reason := "auth"
		if strings.HasPrefix(more, "body") {
			reason = "protocol"
		}
		if got := failureReason(t, samples); got != reason || requested || !strings.Contains(errorText(err), "open /nonexistent/t: no such file or directory") {
			t.Errorf("%s: reason = %q, error %v, requested %t, want %s without a request", more, got, err, requested, reason)
		}
		if want := "000 " + errorText(err); collectortest.Note(c) != want {
			t.Errorf("Note() = %s, want %s", collectortest.Note(c), want)
		}
	}
}

// proxied makes a test run the collectors of TestProxy in a new process: net/http reads the proxies
// of the environment once per process.
const proxied = "VITALS_TEST_PROXIED"

// seenByProxy is the result of one collector and the request that it made.
type seenByProxy struct{ Reason, Error, Note string }

func TestProxy(t *testing.T) {
	if blocks := os.Getenv(proxied); blocks != "" {
		for block := range strings.SplitSeq(blocks, "\n") {
			c := collectortest.New(t, "api", block, &httpkind.Config{})
			samples, err := collectortest.Collect(t, c)
			line, _ := json.Marshal(seenByProxy{failureReason(t, samples), errorText(err), collectortest.Note(c)})
			fmt.Printf("%s\n", line)
		}
		return
	}
	var requests []string
	proxy := collectortest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		requests = append(requests, r.Method+" "+r.RequestURI+" "+r.Header.Get("Proxy-Authorization"))
		if strings.Contains(r.RequestURI, "fails") {
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
	broken := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/redirects" {
			http.Redirect(w, r, "/fails", http.StatusFound)
			return
		}
		w.WriteHeader(http.StatusInternalServerError)
	}))
	defer broken.Close()

	name, address := "http://"+noSuchHost+"/", hostOf(proxy)
	tests := []struct{ name, block, request, reason, note string }{
		{"E10 the environment's proxy is ignored", "{url: '" + name + "'}", "", "dns", "000 " + noSuchHost + ":80"},
		{"E10 the environment's proxy is used where it is wanted", "{url: '" + name + "', use_proxy: true}", "GET " + name + " Basic dTpodW50ZXIy", "", "200 " + address},
		{"E10 the proxy's answer counts", "{url: '" + name + "fails', use_proxy: true}", "GET " + name + "fails Basic dTpodW50ZXIy", "server_error", "500 " + address},
		{"E03 500 with no_proxy", "{url: '" + broken.URL + "', use_proxy: true, status: [200-399]}", "", "server_error", "500 " + hostOf(broken)},
		{"E03 500 with no_proxy behind a redirect", "{url: '" + broken.URL + "/redirects', use_proxy: true, follow_redirects: true, status: [200-399]}", "", "server_error", "500 " + hostOf(broken)},
	}
	var blocks []string
	for _, tt := range tests {
		blocks = append(blocks, tt.block)
	}
	child := exec.Command(os.Args[0], "-test.run=^TestProxy$", "-test.timeout=1m")
	child.Env = append(os.Environ(), proxied+"="+strings.Join(blocks, "\n"),
		"http_proxy=http://u:hunter2@"+address, "HTTP_PROXY=http://u:hunter2@"+address, "no_proxy=127.0.0.1", "NO_PROXY=127.0.0.1", "REQUEST_METHOD=")
	out, err := child.CombinedOutput()
	if err != nil || strings.Contains(string(out), "hunter2") {
		t.Fatalf("collect in a process of its own: %v, want no error and no password:\n%s", err, out)
	}
	decoder := json.NewDecoder(strings.NewReader(string(out)))
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got seenByProxy
			if err := decoder.Decode(&got); err != nil {
				t.Fatalf("%v:\n%s", err, out)
			}
			if got.Reason != tt.reason || !strings.HasPrefix(got.Note, tt.note+" ") {
				t.Errorf("the collector has %+v, want the reason %q and the note %s", got, tt.reason, tt.note)
			}
			request := ""
			if tt.request != "" && len(requests) > 0 {
				request, requests = requests[0], requests[1:]
			}
			if request != tt.request {
				t.Errorf("the proxy got %q, want %q", request, tt.request)
			}
		})
	}
	if len(requests) > 0 {
		t.Errorf("the proxy got %q, too, want nothing", requests)
	}
}
