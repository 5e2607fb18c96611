package scrape_test

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/vitals-health/vitals/collectors/collectortest"
)

func TestRequest(t *testing.T) {
	headers := make(chan http.Header, 1)
	target := collectortest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		headers <- r.Header
		w.Header().Set("Content-Type", textFormat)
	})
	if _, err := collectortest.Collect(t, newScraper(t, target.URL, "")); err != nil {
		t.Fatalf("Collect() = %v, want no error", err)
	}
	got := <-headers
	for name, want := range map[string]string{
		"Accept": "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,application/openmetrics-text;version=0.0.1;q=0.5," +
			"text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2",
		"Accept-Encoding": "gzip",
		"User-Agent":      "vitals",
		"Authorization":   "",
	} {
		if got.Get(name) != want {
			t.Errorf("%s = %q, want %q", name, got.Get(name), want)
		}
	}
	seconds, err := strconv.ParseFloat(got.Get("X-Prometheus-Scrape-Timeout-Seconds"), 64)
	if err != nil || seconds <= 0 || seconds > collectortest.Patience.Seconds() {
		t.Errorf("X-Prometheus-Scrape-Timeout-Seconds = %v, %v, want what is left of %s", seconds, err, collectortest.Patience)
	}
}

func TestCredentials(t *testing.T) {
	dir := t.TempDir()
	secret := filepath.Join(dir, "secret")
	want := ""
	target := collectortest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != want {
			w.WriteHeader(http.StatusUnauthorized)
		}
		w.Header().Set("Content-Type", textFormat)
	})
	bearer := newScraper(t, target.URL, ", bearer_token_file: "+secret)
	basic := newScraper(t, target.URL, ", basic_auth: {username: vitals, password_file: "+secret+"}")
	for _, step := range []struct{ secret, bearer, basic string }{
		{"first\n", "Bearer first", "Basic dml0YWxzOmZpcnN0"},
		{" second \n", "Bearer second", "Basic dml0YWxzOnNlY29uZA=="},
	} {
		collectortest.Write(t, secret, step.secret)
		want = step.bearer
		if _, err := collectortest.Collect(t, bearer); err != nil {
			t.Errorf("Collect() with the token %q = %v, want no error", step.secret, err)
		}
		want = step.basic
		if _, err := collectortest.Collect(t, basic); err != nil {
			t.Errorf("Collect() with the password %q = %v, want no error", step.secret, err)
		}
	}
	want = "Bearer third"
	samples, err := collectortest.Collect(t, bearer)
	if got := reason(t, samples); got != "auth" || err == nil || strings.Contains(err.Error(), "second") {
		t.Errorf("reason = %q, error %v, want auth and an error without the token", got, err)
	}
	missing := newScraper(t, target.URL, ", bearer_token_file: "+filepath.Join(dir, "none"))
	samples, err = collectortest.Collect(t, missing)
	if got := reason(t, samples); got != "protocol" || err == nil {
		t.Errorf("without a token file: reason = %q, error %v, want protocol", got, err)
	}
}

func TestRedirects(t *testing.T) {
	target := collectortest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/once":
			http.Redirect(w, r, "/metrics", http.StatusFound)
		case "/round":
			http.Redirect(w, r, "/round", http.StatusFound)
		case "/away":
			http.Redirect(w, r, r.URL.RawQuery, http.StatusFound)
		default:
			w.Header().Set("Content-Type", textFormat)
		}
	})
	_, certificate, key := collectortest.Certificate(t, "client", time.Now().Add(time.Hour))
	password := t.TempDir() + "/password"
	collectortest.Write(t, password, "s3cret")
	other := collectortest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			t.Errorf("another host received the credentials %q", r.Header.Get("Authorization"))
		}
		w.Header().Set("Content-Type", textFormat)
	})
	away := ", basic_auth: {username: u, password_file: " + password + "}"
	tests := []struct{ name, path, more, want string }{
		{"within the same host", "/once", "", ""},
		{"within the same host, if all are followed", "/once", ", follow_redirects: true", ""},
		{"to another host", "/away?" + other.URL, away, "protocol"},
		{"to another host, if all are followed", "/away?" + other.URL, away + ", follow_redirects: true", ""},
		{"to another host, with a client certificate", "/away?" + other.URL, ", follow_redirects: true, tls: {cert_file: " + certificate + ", key_file: " + key + "}", "protocol"},
		{"in a circle", "/round", ", follow_redirects: true", "protocol"},
	}
	for _, tt := range tests {
		samples, err := collectortest.Collect(t, newScraper(t, target.URL+tt.path, tt.more))
		if got := reason(t, samples); got != tt.want {
			t.Errorf("%s: reason = %q, error %v, want %q", tt.name, got, err, tt.want)
		} else if tt.want != "" && tt.path != "/round" && !strings.Contains(err.Error(), "to another host is not followed: "+other.URL) {
			t.Errorf("%s: error %v, want the other host", tt.name, err)
		}
	}
}

func TestUnixSocket(t *testing.T) {
	socket := filepath.Join(collectortest.Dir(t), "m.sock")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server := &httptest.Server{Listener: listener, Config: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", textFormat)
		_, _ = io.WriteString(w, "host{name=\""+r.Host+"\"} 1\n")
	})}}
	server.Start()
	defer server.Close()
	samples, err := collectortest.Collect(t, newScraper(t, "http://daemon/metrics", ", unix_socket: "+socket))
	if _, ok := collectortest.Value(samples, `host{component="target",name="daemon"}`); !ok || err != nil {
		t.Errorf("Collect() = %v, want the sample of the host daemon", err)
	}
}

func newTLSTarget(t *testing.T, settings *tls.Config) string {
	t.Helper()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", textFormat)
		_, _ = io.WriteString(w, "a 1\n")
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.TLS = settings
	server.StartTLS()
	t.Cleanup(server.Close)
	return server.URL
}

func TestClientTLS(t *testing.T) {
	good, goodFile, _ := collectortest.Certificate(t, "target", time.Now().Add(24*time.Hour))
	expired, expiredFile, _ := collectortest.Certificate(t, "target", time.Now().Add(-24*time.Hour))
	_, clientFile, clientKey := collectortest.Certificate(t, "client", time.Now().Add(24*time.Hour))
	clients := x509.NewCertPool()
	clients.AppendCertsFromPEM([]byte(collectortest.Read(t, clientFile)))

	plain := newTLSTarget(t, &tls.Config{Certificates: []tls.Certificate{good}})
	old := newTLSTarget(t, &tls.Config{Certificates: []tls.Certificate{expired}})
	mutual := newTLSTarget(t, &tls.Config{Certificates: []tls.Certificate{good}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: clients})
	notPEM := filepath.Join(t.TempDir(), "not.pem")
	collectortest.Write(t, notPEM, "x")

	tests := []struct{ name, url, tls, want string }{
		{"trusted", plain, "ca_file: " + goodFile, ""},
		{"not trusted", plain, "ca_file: " + expiredFile, "tls"},
		{"not trusted by the system", plain, "", "tls"},
		{"not verified", plain, "insecure_skip_verify: true", ""},
		{"expired", old, "ca_file: " + expiredFile, "tls"},
		{"under its name", plain, "server_name: target, ca_file: " + goodFile, ""},
		{"under another name", plain, "server_name: other, ca_file: " + goodFile, "tls"},
		{"with a client certificate", mutual, "ca_file: " + goodFile + ", cert_file: " + clientFile + ", key_file: " + clientKey, ""},
		{"without a client certificate", mutual, "ca_file: " + goodFile, "tls"},
		{"with a client certificate that is missing", mutual, "ca_file: " + goodFile + ", cert_file: /nonexistent/cert.pem, key_file: " + clientKey, "tls"},
		{"authorities that are not PEM", plain, "ca_file: " + notPEM, "tls"},
		{"authorities that are missing", plain, "ca_file: /nonexistent/ca.pem", "tls"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			samples, err := collectortest.Collect(t, newScraper(t, tt.url, ", tls: {"+tt.tls+"}"))
			if got := reason(t, samples); got != tt.want || (err != nil) != (tt.want != "") {
				t.Errorf("reason = %q, error %v, want %q", got, err, tt.want)
			}
		})
	}
}

func TestClientTLSAuthorityIsRenewed(t *testing.T) {
	good, goodFile, _ := collectortest.Certificate(t, "target", time.Now().Add(24*time.Hour))
	_, otherFile, _ := collectortest.Certificate(t, "target", time.Now().Add(24*time.Hour))
	ca := filepath.Join(t.TempDir(), "ca.pem")
	c := newScraper(t, newTLSTarget(t, &tls.Config{Certificates: []tls.Certificate{good}}), ", tls: {ca_file: "+ca+"}")
	for _, step := range []struct{ file, want string }{{otherFile, "tls"}, {goodFile, ""}, {otherFile, "tls"}} {
		collectortest.Write(t, ca, collectortest.Read(t, step.file))
		samples, err := collectortest.Collect(t, c)
		if got := reason(t, samples); got != step.want {
			t.Errorf("reason = %q, error %v, want %q", got, err, step.want)
		}
	}
}
