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
	osPassword = "correct-horse-battery"
	osProject  = "5f0c2d1e9b7a4c33a1d8e6b4f2907c55"
)

// osCloud is a Keystone and a Neutron on loopback. Either can be given another
// behaviour by setting its handler.
type osCloud struct {
	t        *testing.T
	keystone *httptest.Server
	neutron  *httptest.Server
	// release ends the handlers that hang.
	release chan struct{}

	mu sync.Mutex // guards what follows
	// clock is the time at Keystone and in the collectors.
	clock time.Time
	// life is how long a token lives.
	life time.Duration
	// password is the one that Keystone accepts.
	password string
	// tokens are the tokens that are not revoked, and when they were issued.
	tokens map[string]time.Time
	// endpoints is the catalog's list for the service network, in JSON.
	endpoints string
	// atKeystone and atNeutron replace the behaviour of a healthy server.
	atKeystone, atNeutron http.HandlerFunc
	issued, validated     int
	// calls are the requests at Neutron, as "GET /path?query".
	calls []string
	// connections counts what was opened to both servers.
	connections int
}

func osNewCloud(t *testing.T) *osCloud {
	t.Helper()
	leaks := goleak.IgnoreCurrent()
	c := &osCloud{
		t: t, release: make(chan struct{}), clock: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
		life: time.Hour, password: osPassword, tokens: map[string]time.Time{}, endpoints: osFixture(t, "network_endpoints.json"),
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

func (c *osCloud) serve(h http.HandlerFunc) *httptest.Server {
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

func osFixture(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// set changes the cloud under its lock.
func (c *osCloud) set(change func(c *osCloud)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change(c)
}

// pass lets time go by.
func (c *osCloud) pass(d time.Duration) { c.set(func(c *osCloud) { c.clock = c.clock.Add(d) }) }

func (c *osCloud) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.clock
}

// revoke makes every token bad.
func (c *osCloud) revoke() { c.set(func(c *osCloud) { clear(c.tokens) }) }

// counts returns how many tokens were issued and how many validations asked for.
func (c *osCloud) counts() (issued, validated int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.issued, c.validated
}

// neutronCalls returns the requests at Neutron and forgets them.
func (c *osCloud) neutronCalls() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	calls := c.calls
	c.calls = nil
	return calls
}

func (c *osCloud) serveKeystone(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	other := c.atKeystone
	c.mu.Unlock()
	switch {
	case other != nil:
		other(w, r)
	case r.URL.Path != "/v3/auth/tokens":
		osAnswer(w, http.StatusNotFound, "text/html", osFixture(c.t, "not_found.html"))
	case r.Method == http.MethodPost:
		c.issueToken(w, r)
	default:
		c.validateToken(w, r)
	}
}

func (c *osCloud) issueToken(w http.ResponseWriter, r *http.Request) {
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
		c.t.Errorf("keystone got a body that is no JSON: %v", err)
	}
	if r.Header.Get("X-Auth-Token") != "" {
		c.t.Errorf("a login carries the header X-Auth-Token, want none")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if id := body.Auth.Identity; id.Password.User.Password+id.Credential.Secret != c.password {
		osAnswer(w, http.StatusUnauthorized, "application/json", osFixture(c.t, "keystone_401.json"))
		return
	}
	c.issued++
	id := fmt.Sprintf("gAAAAAB-token-%d", c.issued)
	c.tokens[id] = c.clock
	w.Header().Set("X-Subject-Token", id)
	osAnswer(w, http.StatusCreated, "application/json", c.tokenBodyLocked(id))
}

func (c *osCloud) validateToken(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.validated++
	id := r.Header.Get("X-Auth-Token")
	if id != r.Header.Get("X-Subject-Token") {
		c.t.Errorf("X-Auth-Token and X-Subject-Token differ, want the held token in both")
	}
	if !c.goodLocked(id) {
		osAnswer(w, http.StatusUnauthorized, "application/json", osFixture(c.t, "keystone_401.json"))
		return
	}
	w.Header().Set("X-Subject-Token", id)
	osAnswer(w, http.StatusOK, "application/json", c.tokenBodyLocked(id))
}

func (c *osCloud) goodLocked(id string) bool {
	issued, ok := c.tokens[id]
	return ok && c.clock.Before(issued.Add(c.life))
}

func (c *osCloud) tokenBodyLocked(id string) string {
	const layout = "2006-01-02T15:04:05.000000Z"
	return strings.NewReplacer(
		"NETWORK_ENDPOINTS", strings.ReplaceAll(c.endpoints, "NEUTRON", c.neutron.URL),
		"EXPIRES", c.tokens[id].Add(c.life).Format(layout), "ISSUED", c.tokens[id].Format(layout), "KEYSTONE", c.keystone.URL,
	).Replace(osFixture(c.t, "token.json"))
}

func (c *osCloud) serveNeutron(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	c.calls = append(c.calls, r.Method+" "+r.URL.RequestURI())
	other, good := c.atNeutron, c.goodLocked(r.Header.Get("X-Auth-Token"))
	c.mu.Unlock()
	switch {
	case other != nil:
		other(w, r)
	case !good:
		osAnswer(w, http.StatusUnauthorized, "application/json", osFixture(c.t, "neutron_401.json"))
	default:
		c.answerNeutron(w, r)
	}
}

// answerNeutron is what a healthy Neutron answers to a good token.
func (c *osCloud) answerNeutron(w http.ResponseWriter, r *http.Request) {
	fixture := map[string]string{
		"/v2.0/quotas/" + osProject + "/details.json": "quota_details.json",
		"/v2.0/networks":   "networks.json",
		"/v2.0/extensions": "extensions.json",
		"/v2.0/agents":     "agents.json",
	}[strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, "/internal"), "/two")]
	if fixture == "" {
		osAnswer(w, http.StatusNotFound, "application/json", osFixture(c.t, "neutron_404.json"))
		return
	}
	osAnswer(w, http.StatusOK, "application/json", strings.ReplaceAll(osFixture(c.t, fixture), "NEUTRON", c.neutron.URL))
}

func osAnswer(w http.ResponseWriter, code int, contentType, body string) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("X-Openstack-Request-Id", "req-5b1f7a52-6c1d-4a0e-9a55-0d3e2c4b1a00")
	w.WriteHeader(code)
	_, _ = io.WriteString(w, body)
}

// osAnswers returns a handler that always gives one answer.
func osAnswers(code int, contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { osAnswer(w, code, contentType, body) }
}

// osHangsUp closes the connection without an answer.
func osHangsUp(w http.ResponseWriter, _ *http.Request) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err == nil {
		_ = conn.Close()
	}
}

// hangs answers nothing until the test ends.
func (c *osCloud) hangs(_ http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	select {
	case <-c.release:
	case <-r.Context().Done():
	}
}
