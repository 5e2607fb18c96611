package http_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/vitals-health/vitals/collectors/collectortest"
)

// redirector answers /to?STATUS=URL with a redirect, and any other request with what it received.
func redirector(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/to" {
		var code int
		for status, target := range r.URL.Query() {
			_, _ = fmt.Sscan(status, &code)
			w.Header().Set("Location", target[0])
		}
		w.WriteHeader(code)
		return
	}
	body, _ := io.ReadAll(r.Body)
	_, _ = fmt.Fprintf(w, "%s %s%s authorization=%s token=%s plain=%s referer=%s agent=%s body=%s",
		r.Method, r.Host, r.URL.Path, r.Header.Get("Authorization"), r.Header.Get("X-Auth-Token"), r.Header.Get("X-Plain"), r.Header.Get("Referer"), r.Header.Get("User-Agent"), body)
}

func TestRedirects(t *testing.T) {
	dir := t.TempDir()
	collectortest.Write(t, dir+"/secret", "s3cret")
	own, other := collectortest.Serve(t, redirector), collectortest.Serve(t, redirector)
	back := other.URL + "/to?302=" + own.URL + "/back"
	tests := []struct {
		name, first string
		method      string
		followed    float64
		// body is the last answer, wrong the error; one of them.
		body, wrong string
	}{
		{"to the same server", "/to?302=/there", "GET", 1,
			"GET OWN/there authorization=Basic dTpzM2NyZXQ= token=s3cret plain=p referer= agent=vitals body=", ""},
		{"to the same server with the whole URL", "/to?301=" + own.URL + "/there", "GET", 1,
			"GET OWN/there authorization=Basic dTpzM2NyZXQ= token=s3cret plain=p referer= agent=vitals body=", ""},
		{"to another server", "/to?302=" + other.URL + "/there", "GET", 1,
			"GET OTHER/there authorization= token= plain= referer= agent=vitals body=", ""},
		{"to another server and back", "/to?302=" + back, "GET", 2,
			"GET OWN/back authorization= token= plain= referer= agent=vitals body=", ""},
		{"with the body to the same server", "/to?307=/there", "POST", 1,
			"POST OWN/there authorization=Basic dTpzM2NyZXQ= token=s3cret plain=p referer= agent=vitals body=b0dy", ""},
		{"with the body to another server", "/to?307=" + other.URL + "/there", "POST", 0,
			"", "redirect with status 307 to another server: expected none for a request with a body"},
		{"without the body to another server", "/to?303=" + other.URL + "/there", "POST", 1,
			"GET OTHER/there authorization= token= plain= referer= agent=vitals body=", ""},
		{"to no HTTP", "/to?302=gopher://host/", "GET", 1, "", `unsupported protocol scheme "gopher"`},
		{"to nowhere", "/to?302=http://" + noSuchHost + "/", "GET", 1, "", "dial tcp: lookup " + noSuchHost + ": no such host"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			more := ", follow_redirects: true, headers: {X-Plain: p}, header_files: {X-Auth-Token: " + dir + "/secret}, basic_auth: {username: u, password_file: " + dir + "/secret}"
			if tt.method == "POST" {
				more += ", method: POST, body: b0dy"
			}
			want := strings.NewReplacer("OWN", hostOf(own), "OTHER", hostOf(other), "=Basic", "=Basic").Replace(tt.body)
			samples, err := collectortest.Collect(t, newCollector(t, own.URL+tt.first, more+", expect: {body: '^"+strings.ReplaceAll(want, ".", `\.`)+"$'}"))
			if !strings.HasSuffix(errorText(err), tt.wrong) || err == nil != (tt.wrong == "") {
				t.Errorf("Collect() = %v, want %q and the body %s", err, tt.wrong, want)
			}
			if n, _ := collectortest.Value(samples, `vitals_http_redirects{dependency="api"}`); tt.wrong == "" && n != tt.followed {
				t.Errorf("vitals_http_redirects = %v, want %v", n, tt.followed)
			}
		})
	}
}

func TestRedirectsEnd(t *testing.T) {
	server := collectortest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		var left int
		_, _ = fmt.Sscanf(r.URL.Path, "/%d", &left)
		if r.URL.Path == "/round" {
			http.Redirect(w, r, "/round", http.StatusFound)
		} else if left > 0 {
			http.Redirect(w, r, fmt.Sprintf("/%d", left-1), http.StatusFound)
		}
	})
	tests := []struct {
		name, path, more string
		code, followed   float64
		reason           string
	}{
		{"one", "/1", "", 200, 1, ""},
		{"expected", "/1", ", status: [302]", 302, 0, ""},
		{"expected, and all are followed", "/1", ", status: [302], follow_redirects: true", 200, 1, "protocol"},
		{"in a circle within the same host", "/round", "", 302, 10, "protocol"},
		{"ten", "/10", ", follow_redirects: true", 200, 10, ""},
		{"eleven", "/11", ", follow_redirects: true", 302, 10, "protocol"},
		{"in a circle", "/round", ", follow_redirects: true", 302, 10, "protocol"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newCollector(t, server.URL+tt.path, tt.more)
			samples, err := collectortest.Collect(t, c)
			if got := failureReason(t, samples); got != tt.reason {
				t.Errorf("reason = %q, error %v, want %q", got, err, tt.reason)
			}
			code, _ := collectortest.Value(samples, `vitals_http_status_code{dependency="api"}`)
			followed, _ := collectortest.Value(samples, `vitals_http_redirects{dependency="api"}`)
			if code != tt.code || followed != tt.followed {
				t.Errorf("status, redirects = %v, %v, want %v, %v", code, followed, tt.code, tt.followed)
			}
		})
	}
}

// A redirect to another host is refused, and named. Its query may be a secret.
func TestRefusedRedirect(t *testing.T) {
	own := collectortest.Serve(t, redirector)
	other := collectortest.Serve(t, func(http.ResponseWriter, *http.Request) { t.Error("another host received a request") })
	for _, code := range []int{301, 302, 303, 307, 308} {
		_, err := collectortest.Collect(t, newCollector(t, fmt.Sprintf("%s/to?%d=%s/there%%3Ftoken=s3cret", own.URL, code, other.URL), ""))
		if want := fmt.Sprintf("GET %s/to?...: answer has status %d: expected 200-299 (the redirect to another host is not followed: %s)", own.URL, code, other.URL); errorText(err) != want {
			t.Errorf("Collect() = %v, want %s", err, want)
		}
	}
	for _, code := range []int{300, 304} { // net/http does not follow these
		_, err := collectortest.Collect(t, newCollector(t, fmt.Sprintf("%s/to?%d=/there", own.URL, code), ""))
		if want := fmt.Sprintf("GET %s/to?...: answer has status %d: expected 200-299", own.URL, code); errorText(err) != want {
			t.Errorf("Collect() = %v, want %s", err, want)
		}
	}
}

// The name of a virtual host is sent to the first server only.
func TestRedirectedHost(t *testing.T) {
	own, other := collectortest.Serve(t, redirector), collectortest.Serve(t, redirector)
	for first, want := range map[string]string{
		"/to?302=/there":                                         "cloud.example",
		"/to?302=//" + hostOf(other) + "/there":                  hostOf(other),
		"/to?302=" + url.QueryEscape(other.URL+"/to?302=/there"): hostOf(other),
	} {
		c := newCollector(t, own.URL+first, ", follow_redirects: true, headers: {Host: cloud.example}, expect: {body: '^GET "+strings.ReplaceAll(want, ".", `\.`)+"/there '}")
		if _, err := collectortest.Collect(t, c); err != nil {
			t.Errorf("Collect(%s) = %v, want the host %s", first, err, want)
		}
	}
}

// The phases of all requests are added up.
func TestRedirectPhases(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			http.Redirect(w, r, "/there", http.StatusFound)
		}
	}))
	defer server.Close()
	c := newCollector(t, server.URL+"/", ", follow_redirects: true, tls: {insecure_skip_verify: true}, note_format: '%{num_redirects} "+
		"%{time_namelookup} %{time_connect} %{time_appconnect} %{time_pretransfer} %{time_starttransfer} %{time_total} %{url_effective}'")
	samples, err := collectortest.Collect(t, c)
	if err != nil {
		t.Fatal(err)
	}
	latency, _ := collectortest.Value(samples, `vitals_dependency_latency_seconds{dependency="api"}`)
	sum := 0.0
	for _, phase := range []string{"connect", "tls", "processing", "transfer"} {
		v, ok := collectortest.Value(samples, `vitals_http_phase_duration_seconds{dependency="api",phase="`+phase+`"}`)
		if !ok || v <= 0 {
			t.Errorf("phase %s = %v, %t, want more than 0", phase, v, ok)
		}
		sum += v
	}
	if sum > latency {
		t.Errorf("the phases take %v, want at most the whole, %v", sum, latency)
	}
	var redirects int
	var lookup, connect, appconnect, pretransfer, starttransfer, total float64
	var url string
	if n, err := fmt.Sscan(collectortest.Note(c), &redirects, &lookup, &connect, &appconnect, &pretransfer, &starttransfer, &total, &url); n != 8 || err != nil {
		t.Fatalf("Note() = %s, want 8 values: %v", collectortest.Note(c), err)
	}
	if lookup != 0 || connect > appconnect || appconnect > pretransfer || pretransfer > starttransfer || starttransfer > total || redirects != 1 || url != server.URL+"/there" {
		t.Errorf("Note() = %s, want one redirect, no lookup and times in their order", collectortest.Note(c))
	}
}
