package http_test

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/vitals-health/vitals/collectors/collectortest"
)

// serveTLS serves over TLS what the server received.
func serveTLS(t testing.TB, settings *tls.Config) *httptest.Server {
	t.Helper()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintf(w, "%s host=%s sni=%s certificates=%d", r.Proto, r.Host, r.TLS.ServerName, len(r.TLS.PeerCertificates))
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.TLS = settings
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	return server
}

func TestTLS(t *testing.T) {
	day := 24 * time.Hour
	later, sooner, past := time.Now().Add(2*day).Truncate(time.Second), time.Now().Add(day).Truncate(time.Second), time.Now().Add(-day).Truncate(time.Second)
	good, ca, _ := collectortest.Certificate(t, "target", later)
	old, oldCA, _ := collectortest.Certificate(t, "target", past)
	other, otherCA, _ := collectortest.Certificate(t, "other", sooner)
	_, client, key := collectortest.Certificate(t, "client", later)
	clients := x509.NewCertPool()
	clients.AppendCertsFromPEM([]byte(collectortest.Read(t, client)))
	plain := collectortest.Serve(t, func(http.ResponseWriter, *http.Request) {})
	_, plainPort, _ := net.SplitHostPort(hostOf(plain))

	trusted := serveTLS(t, &tls.Config{Certificates: []tls.Certificate{good}}).URL
	expired := serveTLS(t, &tls.Config{Certificates: []tls.Certificate{old}}).URL
	foreign := serveTLS(t, &tls.Config{Certificates: []tls.Certificate{other}}).URL
	mutual := serveTLS(t, &tls.Config{Certificates: []tls.Certificate{good}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: clients}).URL
	ancient := serveTLS(t, &tls.Config{Certificates: []tls.Certificate{good}, MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10}).URL

	tests := []struct {
		name, url, tls string
		reason         string
		expires        time.Time
		body           string
	}{
		{"trusted", trusted, "ca_file: " + ca, "", later, "HTTP/2.0 host=HOST sni= certificates=0"},
		{"under its name", trusted, "ca_file: " + ca + ", server_name: target", "", later, "HTTP/2.0 host=HOST sni=target certificates=0"},
		{"under another name", trusted, "ca_file: " + ca + ", server_name: else", "tls", later, ""},
		{"not trusted by the system", trusted, "", "tls", later, ""},
		{"of an authority that is not trusted", trusted, "ca_file: " + otherCA, "tls", later, ""},
		{"not verified", trusted, "insecure_skip_verify: true", "", later, "HTTP/2.0 host=HOST sni= certificates=0"},
		{"expired", expired, "ca_file: " + oldCA, "tls", past, ""},
		{"expired and not verified", expired, "insecure_skip_verify: true", "", past, "HTTP/2.0 host=HOST sni= certificates=0"},
		{"of another name", foreign, "ca_file: " + otherCA + ", server_name: target", "tls", sooner, ""},
		{"with a client certificate", mutual, "ca_file: " + ca + ", cert_file: " + client + ", key_file: " + key, "", later, "HTTP/2.0 host=HOST sni= certificates=1"},
		{"without a client certificate", mutual, "ca_file: " + ca, "tls", time.Time{}, ""},
		{"with a client certificate that is missing", mutual, "ca_file: " + ca + ", cert_file: /nonexistent/c, key_file: " + key, "tls", time.Time{}, ""},
		{"authorities that are missing", trusted, "ca_file: /nonexistent/ca", "tls", time.Time{}, ""},
		{"of versions that are broken", ancient, "ca_file: " + ca, "tls", time.Time{}, ""},
		{"plain HTTP", "https://127.0.0.1:" + plainPort, "", "tls", time.Time{}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			body := strings.Replace(tt.body, "HOST", strings.TrimPrefix(tt.url, "https://"), 1)
			c := newCollector(t, tt.url, ", tls: {"+tt.tls+"}, expect: {body: '^"+body+"$'}, note_format: '%{http_version} %{scheme} %{size_download}'")
			samples, err := collectortest.Collect(t, c)
			if got := failureReason(t, samples); got != tt.reason || (err != nil) != (tt.reason != "") {
				t.Errorf("reason = %q, error %v, want %q", got, err, tt.reason)
			}
			expires, ok := collectortest.Value(samples, `vitals_tls_certificate_expiry_timestamp_seconds{dependency="api"}`)
			if ok == tt.expires.IsZero() || ok && expires != float64(tt.expires.Unix()) {
				t.Errorf("vitals_tls_certificate_expiry_timestamp_seconds = %v, %t, want %d", expires, ok, tt.expires.Unix())
			}
			if tt.reason != "" {
				checkNote(t, c, "0 https 0: tls")
				return
			}
			checkNote(t, c, fmt.Sprintf("2 https %d", len(body)))
			version, _ := collectortest.Value(samples, `vitals_http_version{dependency="api"}`)
			encrypted, _ := collectortest.Value(samples, `vitals_http_tls{dependency="api"}`)
			if version != 2 || encrypted != 1 {
				t.Errorf("vitals_http_version, _tls = %v, %v, want 2, 1", version, encrypted)
			}
			for _, phase := range []string{"connect", "tls", "processing", "transfer"} {
				if v, ok := collectortest.Value(samples, `vitals_http_phase_duration_seconds{dependency="api",phase="`+phase+`"}`); !ok || v <= 0 {
					t.Errorf("phase %s = %v, %t, want more than 0", phase, v, ok)
				}
			}
		})
	}
}

// After a redirect to another server, neither the client's certificate nor the server_name is used.
func TestTLSRedirect(t *testing.T) {
	certificate, ca, key := collectortest.Certificate(t, "target", time.Now().Add(time.Hour))
	there := serveTLS(t, &tls.Config{Certificates: []tls.Certificate{certificate}, ClientAuth: tls.RequestClientCert})
	here := httptest.NewUnstartedServer(http.RedirectHandler(there.URL, http.StatusFound))
	here.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}, ClientAuth: tls.RequireAnyClientCert}
	here.StartTLS()
	defer here.Close()
	c := newCollector(t, here.URL, ", follow_redirects: true, tls: {ca_file: "+ca+", cert_file: "+ca+", key_file: "+key+", server_name: target}"+
		", expect: {body: ' sni= certificates=0$'}")
	if _, err := collectortest.Collect(t, c); err != nil {
		t.Errorf("Collect() = %v, want no error", err)
	}
}

// A server may close the connection because there is no client certificate.
func TestTLSHangsUp(t *testing.T) {
	certificate, ca, _ := collectortest.Certificate(t, "target", time.Now().Add(time.Hour))
	for clientAuth, want := range map[tls.ClientAuthType]struct{ reason, text string }{
		tls.NoClientCert:      {"protocol", ": EOF"},
		tls.RequestClientCert: {"tls", ": EOF (the server requests a client certificate)"},
	} {
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
		server.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}, ClientAuth: clientAuth}
		server.StartTLS()
		samples, err := collectortest.Collect(t, newCollector(t, server.URL, ", tls: {ca_file: "+ca+"}"))
		if got := failureReason(t, samples); got != want.reason || errorText(err) != "GET "+server.URL+want.text {
			t.Errorf("reason = %q, error %v, want %q, %s", got, err, want.reason, want.text)
		}
		server.Close()
	}
}

// Certificates are read again when they change.
func TestTLSAuthorityIsRenewed(t *testing.T) {
	certificate, ca, _ := collectortest.Certificate(t, "target", time.Now().Add(time.Hour))
	_, otherCA, _ := collectortest.Certificate(t, "target", time.Now().Add(time.Hour))
	file := t.TempDir() + "/ca.pem"
	c := newCollector(t, serveTLS(t, &tls.Config{Certificates: []tls.Certificate{certificate}}).URL, ", tls: {ca_file: "+file+"}")
	for _, step := range []struct{ ca, want string }{{otherCA, "tls"}, {ca, ""}, {otherCA, "tls"}} {
		collectortest.Write(t, file, collectortest.Read(t, step.ca))
		samples, err := collectortest.Collect(t, c)
		if got := failureReason(t, samples); got != step.want {
			t.Errorf("reason = %q, error %v, want %q", got, err, step.want)
		}
	}
}
