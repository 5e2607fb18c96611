package openstack

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/remote"
)

// faultCase is a fault of a server and the expected reason.
type faultCase struct {
	name    string
	handler func(c *fakeCloud) http.HandlerFunc
	want    remote.Reason
	// text is a part of the error.
	text string
	// within is the timeout of the collection; default 10 s.
	within time.Duration
}

func fixed(code int, contentType, fixture string) func(*fakeCloud) http.HandlerFunc {
	return func(c *fakeCloud) http.HandlerFunc {
		body := strings.ReplaceAll(readFixture(c.t, fixture), "PASSWORD", testPassword)
		return responder(code, contentType, body)
	}
}

func plain(code int, body string) func(*fakeCloud) http.HandlerFunc {
	return func(*fakeCloud) http.HandlerFunc { return responder(code, "application/json", body) }
}

// floods sends 100 MB and checks that the client does not read all of it.
func floods(code int, start string) func(*fakeCloud) http.HandlerFunc {
	return func(c *fakeCloud) http.HandlerFunc {
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
					c.t.Error("more than 50 MB of a response were read")
					return
				}
			}
		}
	}
}

// stalls sends the start of a response and then nothing.
func stalls(c *fakeCloud) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Subject-Token", "gAAAAAB-stalls")
		w.WriteHeader(http.StatusOK)
		_, _ = io.WriteString(w, `{"token": {"methods": [`)
		_ = http.NewResponseController(w).Flush()
		c.hangs(w, r)
	}
}

func redirects(c *fakeCloud) http.HandlerFunc {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		c.t.Errorf("the redirect was followed, with the token %q", r.Header.Get("X-Auth-Token"))
	}))
	c.t.Cleanup(elsewhere.Close)
	return func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
	}
}

// commonFaults returns the faults with the same result at both services.
func commonFaults() []faultCase {
	const short = 300 * time.Millisecond
	hangs := func(c *fakeCloud) http.HandlerFunc { return c.hangs }
	hangsUp := func(*fakeCloud) http.HandlerFunc { return hangUp }
	return []faultCase{
		{name: "accepts the connection and sends nothing", handler: hangs, want: remote.ReasonTimeout, text: "deadline exceeded", within: short},
		{name: "closes without a response", handler: hangsUp, want: remote.ReasonProtocol, text: "EOF"},
		{name: "freezes within its response", handler: stalls, want: remote.ReasonTimeout, within: short},
		{name: "sends garbage", handler: plain(200, "\x00\x01 not JSON"), want: remote.ReasonProtocol},
		{name: "sends an empty object", handler: plain(200, "{}"), want: remote.ReasonProtocol, text: "the response"},
		{name: "sends null", handler: plain(200, "null"), want: remote.ReasonProtocol, text: "the response"},
		{name: "sends an empty body", handler: plain(200, ""), want: remote.ReasonProtocol},
		{name: "sends HTML with 200", handler: fixed(200, "text/html", "not_found.html"), want: remote.ReasonProtocol},
		{name: "redirects", handler: redirects, want: remote.ReasonProtocol, text: "not followed"},
		{name: "500 without a body", handler: plain(500, ""), want: remote.ReasonServerError, text: "500 Internal Server Error"},
		{name: "error of 100 MB", handler: floods(500, `{"error":{"message":"`), want: remote.ReasonServerError, text: "500"},
		{name: "response of 100 MB", handler: floods(200, `{"token": {"methods": ["`), want: remote.ReasonProtocol, text: "larger than 4 MiB"},
		{name: "503 in HTML", handler: fixed(503, "text/html", "neutron_503.html"), want: remote.ReasonServerError, text: "503 Service Unavailable (request req-"},
		{name: "429", handler: plain(429, ""), want: remote.ReasonClientError},
	}
}

func keystoneFaults() []faultCase {
	return append(commonFaults(),
		faultCase{name: "500 without its keys", handler: fixed(500, "application/json", "keystone_500.json"), want: remote.ReasonServerError, text: "An unexpected error"},
		faultCase{name: "wrong password", handler: fixed(401, "application/json", "keystone_401.json"), want: remote.ReasonAuth, text: "requires authentication. (request req-"},
		faultCase{name: "not allowed", handler: fixed(403, "application/json", "keystone_403.json"), want: remote.ReasonForbidden, text: "not authorized"},
		faultCase{name: "wrong path", handler: fixed(404, "text/html", "not_found.html"), want: remote.ReasonNotFound, text: "404 Not Found (request"},
		faultCase{name: "malformed request", handler: fixed(400, "application/json", "keystone_400.json"), want: remote.ReasonClientError, text: "repeats a secret"},
		faultCase{name: "token without its header", handler: plain(201, `{"token": {"expires_at": "2030-01-01T00:00:00.000000Z"}}`), want: remote.ReasonProtocol, text: "no token"},
	)
}

func TestKeystoneFaultsAtTheFirstLogin(t *testing.T) {
	for _, fault := range keystoneFaults() {
		t.Run(fault.name, func(t *testing.T) {
			cloud := newFakeCloud(t)
			k := cloud.newKeystone(nil)
			cloud.set(func(c *fakeCloud) { c.atKeystone = fault.handler(c) })
			fault.check(t, k, "keystone")
			cloud.set(func(c *fakeCloud) { c.atKeystone = nil })
			wantUp(t, k, "keystone")
		})
	}
}

func TestKeystoneFaultsWhileATokenIsHeld(t *testing.T) {
	for _, fault := range keystoneFaults() {
		t.Run(fault.name, func(t *testing.T) {
			cloud := newFakeCloud(t)
			k := cloud.newKeystone(nil)
			wantUp(t, k, "keystone")
			cloud.set(func(c *fakeCloud) { c.atKeystone = fault.handler(c) })
			fault.check(t, k, "keystone")
			fault.check(t, k, "keystone")
			cloud.set(func(c *fakeCloud) { c.atKeystone = nil })
			wantUp(t, k, "keystone")
		})
	}
}

// check runs one collection and compares its result with the fault.
func (f faultCase) check(t *testing.T, c collectors.Collector, dependency string) {
	t.Helper()
	within := f.within
	if within == 0 {
		within = 10 * time.Second
	}
	series, err := collectWithin(t, c, within)
	if got := downReason(t, series, dependency); got != f.want {
		t.Errorf("reason = %q (%v), want %q", got, err, f.want)
	}
	if err == nil || !strings.Contains(err.Error(), f.text) {
		t.Errorf("error = %v, want one with %q", err, f.text)
	}
}

// wantUp fails the test unless the next collection succeeds.
func wantUp(t *testing.T, c collectors.Collector, dependency string) {
	t.Helper()
	series, err := collect(t, c)
	if got := downReason(t, series, dependency); got != "" || err != nil {
		t.Errorf("reason = %q, error = %v, want up", got, err)
	}
}

// setDial sets the dial function of a session.
func setDial(s *session, dial dial) {
	s.login.client.Transport.(*transport).next.DialContext = dial
}

func unknownHost(_ context.Context, network, address string) (net.Conn, error) {
	host, _, _ := net.SplitHostPort(address)
	return nil, &net.OpError{Op: "dial", Net: network, Err: &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}}
}

// blackHole is the dial function of a resolver whose servers do not respond.
func blackHole(ctx context.Context, _, _ string) (net.Conn, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestUnreachableKeystone(t *testing.T) {
	cloud := newFakeCloud(t)
	refused := cloud.newKeystone(func(c *KeystoneConfig) { c.AuthURL = "http://" + collectortest.Refusing(t) })
	faultCase{want: remote.ReasonRefused, text: "connection refused"}.check(t, refused, "keystone")

	unknown := cloud.newKeystone(func(c *KeystoneConfig) { c.AuthURL = "http://keystone.invalid:5000" })
	setDial(unknown.session, unknownHost)
	faultCase{want: remote.ReasonDNS, text: "no such host"}.check(t, unknown, "keystone")

	setDial(unknown.session, (&net.Dialer{Resolver: &net.Resolver{PreferGo: true, Dial: blackHole}}).DialContext)
	faultCase{want: remote.ReasonDNS, text: "not resolved in time", within: 300 * time.Millisecond}.check(t, unknown, "keystone")
}

func (c *fakeCloud) serveTLS(handler http.HandlerFunc, certificate tls.Certificate) *httptest.Server {
	s := httptest.NewUnstartedServer(handler)
	s.Config.ErrorLog = c.keystone.Config.ErrorLog
	s.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}}
	s.StartTLS()
	c.t.Cleanup(s.Close)
	return s
}

func TestKeystoneTLS(t *testing.T) {
	cloud := newFakeCloud(t)
	good, goodCA, _ := collectortest.Certificate(t, "cloud.example", time.Now().Add(time.Hour))
	expired, expiredCA, _ := collectortest.Certificate(t, "cloud.example", time.Now().Add(-time.Hour))
	goodServer, expiredServer := cloud.serveTLS(cloud.serveKeystone, good), cloud.serveTLS(cloud.serveKeystone, expired)
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
			series, err := collect(t, k)
			if got := downReason(t, series, "keystone"); got != test.want {
				t.Errorf("reason = %q (%v), want %q", got, err, test.want)
			}
		})
	}
}

func TestKeystoneLogsInAfterAFailedValidation(t *testing.T) {
	cloud := newFakeCloud(t)
	k := cloud.newKeystone(nil)
	wantUp(t, k, "keystone")
	for _, fixture := range []struct {
		code int
		name string
	}{{404, "keystone_404.json"}, {403, "keystone_403.json"}, {500, "keystone_500.json"}} {
		cloud.set(func(c *fakeCloud) {
			c.atKeystone = func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodGet {
					respond(w, fixture.code, "application/json", readFixture(t, fixture.name))
					return
				}
				c.issueToken(w, r)
			}
		})
		wantUp(t, k, "keystone")
	}
	if issued, _ := cloud.counts(); issued != 4 {
		t.Errorf("%d tokens, want 4: a login decides when a validation fails", issued)
	}
}

func TestKeystoneLogsInOncePerCollectionWithAWrongPassword(t *testing.T) {
	cloud := newFakeCloud(t)
	k := cloud.newKeystone(func(c *KeystoneConfig) { c.Password = "wrong" })
	n := cloud.newNeutron(k, nil)
	var logins atomic.Int64
	cloud.set(func(c *fakeCloud) {
		c.atKeystone = func(w http.ResponseWriter, r *http.Request) {
			logins.Add(1)
			c.issueToken(w, r)
		}
	})
	for range 5 {
		for _, c := range []collectors.Collector{k, n} {
			series, _ := collect(t, c)
			name := map[bool]string{true: "keystone", false: "neutron"}[c == k]
			if got := downReason(t, series, name); got != remote.ReasonAuth {
				t.Errorf("reason of %s = %q, want %q", name, got, remote.ReasonAuth)
			}
		}
		cloud.pass(10 * time.Second)
	}
	if logins.Load() != 5 {
		t.Errorf("%d logins in 5 collections of both collectors, want 5", logins.Load())
	}
}
