package openstack

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
)

// osFault is a behaviour of a server and the reason that it must lead to.
type osFault struct {
	name    string
	handler func(c *osCloud) http.HandlerFunc
	want    remote.Reason
	// says is a part of the error's text.
	says string
	// within is the round's deadline; 10 s where it is not set.
	within time.Duration
}

func osFixed(code int, contentType, fixture string) func(*osCloud) http.HandlerFunc {
	return func(c *osCloud) http.HandlerFunc {
		body := strings.ReplaceAll(osFixture(c.t, fixture), "PASSWORD", osPassword)
		return osAnswers(code, contentType, body)
	}
}

func osText(code int, body string) func(*osCloud) http.HandlerFunc {
	return func(*osCloud) http.HandlerFunc { return osAnswers(code, "application/json", body) }
}

// osFloods sends 100 MB and checks that most of it is never read.
func osFloods(code int, start string) func(*osCloud) http.HandlerFunc {
	return func(c *osCloud) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Subject-Token", "gAAAAAB-flood")
			w.WriteHeader(code)
			_, _ = io.WriteString(w, start)
			chunk := []byte(strings.Repeat("a", 1<<20))
			for sent := range 100 {
				if _, err := w.Write(chunk); err != nil {
					return
				}
				if sent > 50 {
					c.t.Error("more than 50 MB of an answer were taken")
					return
				}
			}
		}
	}
}

// osStalls sends the start of an answer and then nothing.
func osStalls(c *osCloud) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Subject-Token", "gAAAAAB-stalls")
		w.WriteHeader(http.StatusOK)
		_, _ = io.WriteString(w, `{"token": {"methods": [`)
		_ = http.NewResponseController(w).Flush()
		c.hangs(w, r)
	}
}

func osRedirects(c *osCloud) http.HandlerFunc {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		c.t.Errorf("the redirect was followed, with the token %q", r.Header.Get("X-Auth-Token"))
	}))
	c.t.Cleanup(elsewhere.Close)
	return func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
	}
}

// osCommonFaults are those that look alike at every service.
func osCommonFaults() []osFault {
	const short = 300 * time.Millisecond
	hangs := func(c *osCloud) http.HandlerFunc { return c.hangs }
	hangsUp := func(*osCloud) http.HandlerFunc { return osHangsUp }
	return []osFault{
		{name: "connects and stays silent", handler: hangs, want: remote.ReasonTimeout, says: "deadline exceeded", within: short},
		{name: "closes without an answer", handler: hangsUp, want: remote.ReasonProtocol, says: "EOF"},
		{name: "freezes within its answer", handler: osStalls, want: remote.ReasonTimeout, within: short},
		{name: "answers garbage", handler: osText(200, "\x00\x01 not JSON"), want: remote.ReasonProtocol},
		{name: "answers an empty object", handler: osText(200, "{}"), want: remote.ReasonProtocol, says: "the answer"},
		{name: "answers null", handler: osText(200, "null"), want: remote.ReasonProtocol, says: "the answer"},
		{name: "answers nothing", handler: osText(200, ""), want: remote.ReasonProtocol},
		{name: "answers HTML with 200", handler: osFixed(200, "text/html", "not_found.html"), want: remote.ReasonProtocol},
		{name: "redirects", handler: osRedirects, want: remote.ReasonProtocol, says: "not followed"},
		{name: "500 without a body", handler: osText(500, ""), want: remote.ReasonServerError, says: "500 Internal Server Error"},
		{name: "error of 100 MB", handler: osFloods(500, `{"error":{"message":"`), want: remote.ReasonServerError, says: "500"},
		{name: "answer of 100 MB", handler: osFloods(200, `{"token": {"methods": ["`), want: remote.ReasonProtocol, says: "larger than 4 MiB"},
		{name: "503 in HTML", handler: osFixed(503, "text/html", "neutron_503.html"), want: remote.ReasonServerError, says: "503 Service Unavailable (request req-"},
		{name: "429", handler: osText(429, ""), want: remote.ReasonClientError},
	}
}

func osKeystoneFaults() []osFault {
	return append(osCommonFaults(),
		osFault{name: "500 without its keys", handler: osFixed(500, "application/json", "keystone_500.json"), want: remote.ReasonServerError, says: "An unexpected error"},
		osFault{name: "wrong password", handler: osFixed(401, "application/json", "keystone_401.json"), want: remote.ReasonAuth, says: "requires authentication. (request req-"},
		osFault{name: "not allowed", handler: osFixed(403, "application/json", "keystone_403.json"), want: remote.ReasonForbidden, says: "not authorized"},
		osFault{name: "wrong path", handler: osFixed(404, "text/html", "not_found.html"), want: remote.ReasonNotFound, says: "404 Not Found (request"},
		osFault{name: "malformed request", handler: osFixed(400, "application/json", "keystone_400.json"), want: remote.ReasonClientError, says: "repeats a secret"},
		osFault{name: "token without its header", handler: osText(201, `{"token": {"expires_at": "2030-01-01T00:00:00.000000Z"}}`), want: remote.ReasonProtocol, says: "no token"},
	)
}

func TestKeystoneFaultsAtTheFirstLogin(t *testing.T) {
	for _, fault := range osKeystoneFaults() {
		t.Run(fault.name, func(t *testing.T) {
			cloud := osNewCloud(t)
			k := cloud.newKeystone(nil)
			cloud.set(func(c *osCloud) { c.atKeystone = fault.handler(c) })
			fault.check(t, k, "keystone")
			cloud.set(func(c *osCloud) { c.atKeystone = nil })
			osRecovers(t, k, "keystone")
		})
	}
}

func TestKeystoneFaultsWhileATokenIsHeld(t *testing.T) {
	for _, fault := range osKeystoneFaults() {
		t.Run(fault.name, func(t *testing.T) {
			cloud := osNewCloud(t)
			k := cloud.newKeystone(nil)
			osRecovers(t, k, "keystone")
			cloud.set(func(c *osCloud) { c.atKeystone = fault.handler(c) })
			fault.check(t, k, "keystone")
			fault.check(t, k, "keystone")
			cloud.set(func(c *osCloud) { c.atKeystone = nil })
			osRecovers(t, k, "keystone")
		})
	}
}

// check runs one round and compares what it says with the fault.
func (f osFault) check(t *testing.T, c collectors.Collector, dependency string) {
	t.Helper()
	within := f.within
	if within == 0 {
		within = 10 * time.Second
	}
	series, err := osCollectWithin(t, c, within)
	if got := osReason(t, series, dependency); got != f.want {
		t.Errorf("reason = %q (%v), want %q", got, err, f.want)
	}
	if err == nil || !strings.Contains(err.Error(), f.says) {
		t.Errorf("error = %v, want one that says %q", err, f.says)
	}
}

// osRecovers fails the test unless the next round is up.
func osRecovers(t *testing.T, c collectors.Collector, dependency string) {
	t.Helper()
	series, err := osCollect(t, c)
	if got := osReason(t, series, dependency); got != "" || err != nil {
		t.Errorf("reason = %q, error = %v, want up", got, err)
	}
}

// osClosedPort returns the address of a port on which nobody listens.
func osClosedPort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// osDial makes a session connect through dial.
func osDial(s *session, dial dial) {
	s.login.client.Transport.(*transport).next.DialContext = dial
}

func osUnknownHost(_ context.Context, network, address string) (net.Conn, error) {
	host, _, _ := net.SplitHostPort(address)
	return nil, &net.OpError{Op: "dial", Net: network, Err: &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}}
}

func TestKeystoneThatIsNotThere(t *testing.T) {
	cloud := osNewCloud(t)
	refused := cloud.newKeystone(func(c *KeystoneConfig) { c.AuthURL = "http://" + osClosedPort(t) })
	osFault{want: remote.ReasonRefused, says: "connection refused"}.check(t, refused, "keystone")

	unknown := cloud.newKeystone(func(c *KeystoneConfig) { c.AuthURL = "http://keystone.invalid:5000" })
	osDial(unknown.session, osUnknownHost)
	osFault{want: remote.ReasonDNS, says: "no such host"}.check(t, unknown, "keystone")
}

// osCertificate writes a certificate for 127.0.0.1 that signs itself, and returns
// it and the file that it is in.
func osCertificate(t *testing.T, until time.Time) (tls.Certificate, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "cloud.example"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: until.Add(-24 * time.Hour), NotAfter: until, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, file
}

func (c *osCloud) serveTLS(certificate tls.Certificate) *httptest.Server {
	s := httptest.NewUnstartedServer(http.HandlerFunc(c.serveKeystone))
	s.Config.ErrorLog = c.keystone.Config.ErrorLog
	s.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}}
	s.StartTLS()
	c.t.Cleanup(s.Close)
	return s
}

func TestKeystoneTLS(t *testing.T) {
	cloud := osNewCloud(t)
	good, goodCA := osCertificate(t, time.Now().Add(time.Hour))
	expired, expiredCA := osCertificate(t, time.Now().Add(-time.Hour))
	goodServer, expiredServer := cloud.serveTLS(good), cloud.serveTLS(expired)
	for _, test := range []struct {
		name, url, ca string
		insecure      bool
		want          remote.Reason
	}{
		{"trusted", goodServer.URL, goodCA, false, ""},
		{"expired", expiredServer.URL, expiredCA, false, remote.ReasonTLS},
		{"not trusted", goodServer.URL, "", false, remote.ReasonTLS},
		{"not checked", expiredServer.URL, "", true, ""},
		{"plain HTTP behind https", "https" + strings.TrimPrefix(cloud.keystone.URL, "http"), goodCA, false, remote.ReasonTLS},
	} {
		t.Run(test.name, func(t *testing.T) {
			k := cloud.newKeystone(func(c *KeystoneConfig) { c.AuthURL, c.CAFile, c.Insecure = test.url, test.ca, test.insecure })
			series, err := osCollect(t, k)
			if got := osReason(t, series, "keystone"); got != test.want {
				t.Errorf("reason = %q (%v), want %q", got, err, test.want)
			}
		})
	}
}

func TestKeystoneThatOnlyTheValidationFails(t *testing.T) {
	cloud := osNewCloud(t)
	k := cloud.newKeystone(nil)
	osRecovers(t, k, "keystone")
	for _, fixture := range []struct {
		code int
		name string
	}{{404, "keystone_404.json"}, {403, "keystone_403.json"}, {500, "keystone_500.json"}} {
		cloud.set(func(c *osCloud) {
			c.atKeystone = func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodGet {
					osAnswer(w, fixture.code, "application/json", osFixture(t, fixture.name))
					return
				}
				c.issueToken(w, r)
			}
		})
		osRecovers(t, k, "keystone")
	}
	if issued, _ := cloud.counts(); issued != 4 {
		t.Errorf("%d tokens, want 4: a login decides when a validation fails", issued)
	}
}

func TestKeystoneLogsInOncePerRoundWithAWrongPassword(t *testing.T) {
	cloud := osNewCloud(t)
	k := cloud.newKeystone(func(c *KeystoneConfig) { c.Password = "wrong" })
	n := cloud.newNeutron(k, nil)
	var logins atomic.Int64
	cloud.set(func(c *osCloud) {
		c.atKeystone = func(w http.ResponseWriter, r *http.Request) {
			logins.Add(1)
			c.issueToken(w, r)
		}
	})
	for range 5 {
		for _, c := range []collectors.Collector{k, n} {
			series, _ := osCollect(t, c)
			name := map[bool]string{true: "keystone", false: "neutron"}[c == k]
			if got := osReason(t, series, name); got != remote.ReasonAuth {
				t.Errorf("reason of %s = %q, want %q", name, got, remote.ReasonAuth)
			}
		}
		cloud.pass(10 * time.Second)
	}
	if logins.Load() != 5 {
		t.Errorf("%d logins in 5 rounds of both collectors, want 5", logins.Load())
	}
}
