package openstack

import (
	"encoding/json"
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

	"go.uber.org/goleak"
)

const (
	testPassword = "correct-horse-battery"
	testProject  = "5f0c2d1e9b7a4c33a1d8e6b4f2907c55"
)

// fakeCloud is a fake Keystone and a fake Neutron on loopback. atKeystone and atNeutron replace
// their handlers.
type fakeCloud struct {
	t        *testing.T
	keystone *httptest.Server
	neutron  *httptest.Server
	// release is closed to end the handlers that hang.
	release chan struct{}

	mu sync.Mutex // guards what follows
	// clock is the time of Keystone and of the collectors.
	clock time.Time
	// life is the lifetime of a token.
	life time.Duration
	// password is the accepted password.
	password string
	// tokens has the times of issue of the tokens that are not revoked.
	tokens map[string]time.Time
	// endpoints is the catalog's list for the service network, in JSON.
	endpoints string
	// services are further entries of the catalog, in JSON.
	services string
	// atKeystone and atNeutron replace the default handlers.
	atKeystone, atNeutron http.HandlerFunc
	issued, validated     int
	// calls are the requests at Neutron, as "GET /path?query".
	calls []string
	// connections is the number of connections to both servers.
	connections int
}

func newFakeCloud(t *testing.T) *fakeCloud {
	t.Helper()
	leaks := goleak.IgnoreCurrent()
	c := &fakeCloud{
		t: t, release: make(chan struct{}), clock: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
		life: time.Hour, password: testPassword, tokens: map[string]time.Time{}, endpoints: readFixture(t, "network_endpoints.json"),
	}
	c.keystone = c.serve(c.serveKeystone)
	c.neutron = c.serve(c.serveNeutron)
	t.Cleanup(func() {
		close(c.release)
		c.keystone.Close()
		c.neutron.Close()
		goleak.VerifyNone(t, leaks)
	})
	return c
}

func (c *fakeCloud) serve(h http.HandlerFunc) *httptest.Server {
	s := httptest.NewUnstartedServer(h)
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			c.mu.Lock()
			c.connections++
			c.mu.Unlock()
		}
	}
	s.Start()
	return s
}

func readFixture(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// set changes the cloud under its lock.
func (c *fakeCloud) set(change func(c *fakeCloud)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change(c)
}

// pass advances the clock.
func (c *fakeCloud) pass(d time.Duration) { c.set(func(c *fakeCloud) { c.clock = c.clock.Add(d) }) }

func (c *fakeCloud) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.clock
}

// revoke revokes all tokens.
func (c *fakeCloud) revoke() { c.set(func(c *fakeCloud) { clear(c.tokens) }) }

// counts returns the numbers of issued tokens and of validations.
func (c *fakeCloud) counts() (issued, validated int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.issued, c.validated
}

// neutronCalls returns the requests at Neutron since the previous call.
func (c *fakeCloud) neutronCalls() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	calls := c.calls
	c.calls = nil
	return calls
}

func (c *fakeCloud) serveKeystone(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	other := c.atKeystone
	c.mu.Unlock()
	switch {
	case other != nil:
		other(w, r)
	case r.URL.Path != "/v3/auth/tokens":
		respond(w, http.StatusNotFound, "text/html", readFixture(c.t, "not_found.html"))
	case r.Method == http.MethodPost:
		c.issueToken(w, r)
	default:
		c.validateToken(w, r)
	}
}

func (c *fakeCloud) issueToken(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Auth struct {
			Identity struct {
				Password struct {
					User struct{ Password string }
				}
				Credential struct{ Secret string } `json:"application_credential"`
			}
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		c.t.Errorf("the body of a login is not JSON: %v", err)
	}
	if r.Header.Get("X-Auth-Token") != "" {
		c.t.Errorf("a login has the header X-Auth-Token, want none")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if id := body.Auth.Identity; id.Password.User.Password+id.Credential.Secret != c.password {
		respond(w, http.StatusUnauthorized, "application/json", readFixture(c.t, "keystone_401.json"))
		return
	}
	c.issued++
	id := fmt.Sprintf("gAAAAAB-token-%d", c.issued)
	c.tokens[id] = c.clock
	w.Header().Set("X-Subject-Token", id)
	respond(w, http.StatusCreated, "application/json", c.tokenBodyLocked(id))
}

func (c *fakeCloud) validateToken(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.validated++
	id := r.Header.Get("X-Auth-Token")
	if id != r.Header.Get("X-Subject-Token") {
		c.t.Errorf("X-Auth-Token and X-Subject-Token differ, want the held token in both")
	}
	if !c.goodLocked(id) {
		respond(w, http.StatusUnauthorized, "application/json", readFixture(c.t, "keystone_401.json"))
		return
	}
	w.Header().Set("X-Subject-Token", id)
	respond(w, http.StatusOK, "application/json", c.tokenBodyLocked(id))
}

// withoutIssue is the default handler of Keystone, without the time of issue in its responses.
func (c *fakeCloud) withoutIssue(w http.ResponseWriter, r *http.Request) {
	recorder := httptest.NewRecorder()
	if r.Method == http.MethodPost {
		c.issueToken(recorder, r)
	} else {
		c.validateToken(recorder, r)
	}
	w.Header().Set("X-Subject-Token", recorder.Header().Get("X-Subject-Token"))
	respond(w, recorder.Code, "application/json", strings.ReplaceAll(recorder.Body.String(), "issued_at", "issued_then"))
}

func (c *fakeCloud) goodLocked(id string) bool {
	issued, ok := c.tokens[id]
	return ok && c.clock.Before(issued.Add(c.life))
}

func (c *fakeCloud) tokenBodyLocked(id string) string {
	const layout = "2006-01-02T15:04:05.000000Z"
	return strings.NewReplacer(
		"OTHER_SERVICES", c.services, "NETWORK_ENDPOINTS", strings.ReplaceAll(c.endpoints, "NEUTRON", c.neutron.URL),
		"EXPIRES", c.tokens[id].Add(c.life).Format(layout), "ISSUED", c.tokens[id].Format(layout), "KEYSTONE", c.keystone.URL,
	).Replace(readFixture(c.t, "token.json"))
}

func (c *fakeCloud) serveNeutron(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	c.calls = append(c.calls, r.Method+" "+r.URL.RequestURI())
	other, good := c.atNeutron, c.goodLocked(r.Header.Get("X-Auth-Token"))
	c.mu.Unlock()
	switch {
	case other != nil:
		other(w, r)
	case !good:
		respond(w, http.StatusUnauthorized, "application/json", readFixture(c.t, "neutron_401.json"))
	default:
		c.respondNeutron(w, r)
	}
}

// respondNeutron sends the default response to a valid token.
func (c *fakeCloud) respondNeutron(w http.ResponseWriter, r *http.Request) {
	fixture := map[string]string{
		"/v2.0/quotas/" + testProject + "/details.json": "quota_details.json",
		"/v2.0/networks":   "networks.json",
		"/v2.0/extensions": "extensions.json",
		"/v2.0/agents":     "agents.json",
		"/v2.0/subnets":    "subnets.json",
		"/v2.0/ports":      "ports.json",
	}[strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, "/internal"), "/two")]
	if fixture == "" {
		respond(w, http.StatusNotFound, "application/json", readFixture(c.t, "neutron_404.json"))
		return
	}
	respond(w, http.StatusOK, "application/json", strings.ReplaceAll(readFixture(c.t, fixture), "NEUTRON", c.neutron.URL))
}

func respond(w http.ResponseWriter, code int, contentType, body string) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("X-Openstack-Request-Id", "req-5b1f7a52-6c1d-4a0e-9a55-0d3e2c4b1a00")
	w.WriteHeader(code)
	_, _ = io.WriteString(w, body)
}

// responder returns a handler that always sends this response.
func responder(code int, contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { respond(w, code, contentType, body) }
}

// hangUp closes the connection without a response.
func hangUp(w http.ResponseWriter, _ *http.Request) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err == nil {
		_ = conn.Close()
	}
}

// hangs sends nothing until the end of the test.
func (c *fakeCloud) hangs(_ http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	select {
	case <-c.release:
	case <-r.Context().Done():
	}
}
