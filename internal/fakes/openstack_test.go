package fakes_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/vitals-health/vitals/internal/fakes"
)

// tokens sends a request about a token.
func (l *lab) tokens(method, auth, subject string) answer {
	l.t.Helper()
	return l.do(patience, method, l.KeystoneURL()+"/auth/tokens", "", "X-Auth-Token", auth, "X-Subject-Token", subject)
}

func TestKeystoneVersions(t *testing.T) {
	l := start(t, fakes.Options{})
	root := strings.TrimSuffix(l.KeystoneURL(), "/v3")
	if got := l.do(patience, http.MethodGet, root+"/", ""); got.outcome != "300" || !strings.Contains(string(got.body), root+"/v3/") {
		t.Errorf("GET / = %s %s, want 300 with a link to /v3/", got.outcome, got.body)
	}
	for _, path := range []string{"/v3", "/v3/"} {
		got := l.do(patience, http.MethodGet, root+path, "")
		if got.outcome != "200" || field(t, got.body, "version", "id") != `"v3.14"` {
			t.Errorf("GET %s = %s %s, want 200 v3.14", path, got.outcome, got.body)
		}
	}
	if got := l.do(patience, http.MethodPost, root+"/auth/tokens", "{}"); got.outcome != "404" {
		t.Errorf("POST /auth/tokens without /v3 = %s, want 404", got.outcome)
	}
}

func TestAuthentication(t *testing.T) {
	l := start(t, fakes.Options{})
	right := l.login(l.Password())
	token := l.newToken()
	for _, c := range []struct{ name, body, want string }{
		{"right", right, "201"},
		{"wrong password", l.login("nonsense"), "401"},
		{"unknown user", strings.Replace(right, l.Username(), "other", 1), "401"},
		{"unknown project", strings.Replace(right, `"`+l.Project()+`"`, `"other"`, 1), "401"},
		{"unknown domain", strings.ReplaceAll(right, `"Default"`, `"Other"`), "401"},
		{"project by identifier", strings.Replace(right, `"name":"`+l.Project()+`"`, `"id":"`+l.ProjectID()+`"`, 1), "201"},
		{"scope of the system", `{"auth":{"identity":{"methods":["token"],"token":{"id":"` + token + `"}},"scope":{"system":{"all":true}}}}`, "401"},
		{"by a token", `{"auth":{"identity":{"methods":["token"],"token":{"id":"` + token + `"}},"scope":{"project":{"id":"` + l.ProjectID() + `"}}}}`, "201"},
		{"unscoped", `{"auth":{"identity":{"methods":["token"],"token":{"id":"` + token + `"}},"scope":"unscoped"}}`, "201"},
		{"by an unknown token", `{"auth":{"identity":{"methods":["token"],"token":{"id":"x"}}}}`, "401"},
		{"unknown method", `{"auth":{"identity":{"methods":["totp"]}}}`, "401"},
		{"no method", `{"auth":{}}`, "400"},
		{"not JSON", `{`, "400"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := l.do(patience, http.MethodPost, l.KeystoneURL()+"/auth/tokens", c.body)
			if got.outcome != c.want {
				t.Fatalf("POST = %s, want %s: %s", got.outcome, c.want, got.body)
			}
			if issued := got.header.Get("X-Subject-Token") != ""; issued != (c.want == "201") {
				t.Errorf("token issued = %t with %s", issued, got.outcome)
			}
			if c.want != "201" && field(t, got.body, "error", "code") != c.want {
				t.Errorf("body = %s, want an error with the code %s", got.body, c.want)
			}
		})
	}
}

func TestTokenBody(t *testing.T) {
	l := start(t, fakes.Options{TokenLifetime: 10 * time.Minute})
	got := l.do(patience, http.MethodPost, l.KeystoneURL()+"/auth/tokens", l.login(l.Password()))
	expires, err := time.Parse(`"2006-01-02T15:04:05.000000Z"`, field(t, got.body, "token", "expires_at"))
	if left := time.Until(expires); err != nil || left < 9*time.Minute || left > 10*time.Minute {
		t.Errorf("expires_at leaves %s (%v), want 10m", left, err)
	}
	if id := field(t, got.body, "token", "project", "id"); id != `"`+l.ProjectID()+`"` {
		t.Errorf("project = %s, want %s", id, l.ProjectID())
	}
	catalog := field(t, got.body, "token", "catalog")
	for _, want := range []string{`"type":"identity"`, `"type":"network"`, `"region":"RegionOne"`, `"url":"` + l.NeutronURL() + `"`, `"url":"` + l.KeystoneURL() + `"`} {
		if !strings.Contains(catalog, want) {
			t.Errorf("catalog = %s, want %s in it", catalog, want)
		}
	}
	if length := len(got.header.Get("X-Subject-Token")); length != 183 {
		t.Errorf("length of the token = %d, want 183", length)
	}
}

func TestTokenIsValidatedAndRevoked(t *testing.T) {
	l := start(t, fakes.Options{})
	auth, subject := l.newToken(), l.newToken()
	for _, c := range []struct{ name, method, auth, subject, want string }{
		{"own", http.MethodGet, subject, subject, "200"},
		{"another", http.MethodGet, auth, subject, "200"},
		{"without a body", http.MethodHead, auth, subject, "200"},
		{"unknown", http.MethodGet, auth, "x", "404"},
		{"unknown X-Auth-Token", http.MethodGet, "x", subject, "401"},
		{"revoked by another", http.MethodDelete, auth, subject, "204"},
		{"after that", http.MethodGet, auth, subject, "404"},
		{"own, after that", http.MethodGet, subject, subject, "401"},
	} {
		if got := l.tokens(c.method, c.auth, c.subject); got.outcome != c.want {
			t.Errorf("%s: %s = %s, want %s: %s", c.name, c.method, got.outcome, c.want, got.body)
		}
	}
}

func TestTokenExpires(t *testing.T) {
	l := start(t, fakes.Options{TokenLifetime: time.Nanosecond})
	token := l.newToken()
	if got := l.tokens(http.MethodGet, token, token).outcome; got != "401" {
		t.Errorf("validation of an expired token = %s, want 401", got)
	}
	if got := l.network("/v2.0/networks", token).outcome; got != "401" {
		t.Errorf("networks with an expired token = %s, want 401", got)
	}
}

func TestWrongPasswordRevokesTokens(t *testing.T) {
	l := start(t, fakes.Options{})
	token := l.newToken()
	l.set("keystone", "wrong-password")
	if got := l.do(patience, http.MethodPost, l.KeystoneURL()+"/auth/tokens", l.login(l.Password())); got.outcome != "401" {
		t.Errorf("POST = %s, want 401", got.outcome)
	}
	if got := l.tokens(http.MethodGet, token, token).outcome; got != "401" {
		t.Errorf("validation of the old token = %s, want 401", got)
	}
	if got := l.network("/v2.0/networks", token).outcome; got != "401" {
		t.Errorf("networks with the old token = %s, want 401", got)
	}
	l.set("keystone", fakes.None)
	if got := l.network("/v2.0/networks", l.newToken()).outcome; got != "200" {
		t.Errorf("networks with a new token = %s, want 200", got)
	}
}

func TestMissingNetworkEndpoint(t *testing.T) {
	l := start(t, fakes.Options{})
	token := l.newToken()
	for _, c := range []struct {
		fault string
		want  bool
	}{{"no-network-endpoint", false}, {fakes.None, true}} {
		l.set("keystone", c.fault)
		body := string(l.tokens(http.MethodGet, token, token).body)
		if got := strings.Contains(body, l.NeutronURL()); got != c.want {
			t.Errorf("endpoint of Neutron in the catalog under %s = %t, want %t", c.fault, got, c.want)
		}
		if !strings.Contains(body, `"type":"network"`) {
			t.Errorf("catalog under %s has no network service, want it to stay", c.fault)
		}
	}
}

func TestNeutronResponses(t *testing.T) {
	l := start(t, fakes.Options{})
	token := l.newToken()
	for _, c := range []struct {
		name, path, token string
		want              string
		keys              []string
		value             string
	}{
		{"versions without a token", "/", "", "200", []string{"versions"}, `[{"id":"v2.0","links":[{"href":"` + l.NeutronURL() + `/v2.0/","rel":"self"}],"status":"CURRENT"}]`},
		{"api without a token", "/v2.0", "", "401", []string{"error", "code"}, `401`},
		{"api", "/v2.0", token, "200", nil, ""},
		{"networks with a bad token", "/v2.0/networks", "x", "401", []string{"error", "title"}, `"Unauthorized"`},
		{"quota", "/v2.0/quotas/" + l.ProjectID(), token, "200", []string{"quota", "security_group_rule"}, `-1`},
		{"quota details", "/v2.0/quotas/" + l.ProjectID() + "/details.json", token, "200", []string{"quota", "port"}, `{"limit":100,"used":5,"reserved":0}`},
		{"quota details without a suffix", "/v2.0/quotas/" + l.ProjectID() + "/details", token, "200", []string{"quota", "floatingip"}, `{"limit":50,"used":3,"reserved":1}`},
		{"quota of another project", "/v2.0/quotas/0123/details", token, "403", []string{"NeutronError", "type"}, `"PolicyNotAuthorized"`},
		{"extension", "/v2.0/extensions/trunk", token, "200", []string{"extension", "alias"}, `"trunk"`},
		{"extension that is absent", "/v2.0/extensions/dns", token, "404", []string{"NeutronError", "type"}, `"ExtensionNotFound"`},
		{"path that is absent", "/v2.0/v2.0/networks", token, "404", []string{"NeutronError", "type"}, `"HTTPNotFound"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := l.network(c.path, c.token)
			if got.outcome != c.want {
				t.Fatalf("GET %s = %s, want %s: %s", c.path, got.outcome, c.want, got.body)
			}
			if value := field(t, got.body, c.keys...); c.keys != nil && value != c.value {
				t.Errorf("%v = %s, want %s", c.keys, value, c.value)
			}
			if c.path != "/" && !strings.HasPrefix(got.header.Get("X-Openstack-Request-Id"), "req-") {
				t.Error("no X-Openstack-Request-Id, want one")
			}
		})
	}
}

func TestNetworksInPages(t *testing.T) {
	l := start(t, fakes.Options{})
	token := l.newToken()
	first := l.network("/v2.0/networks?limit=1", token)
	if n := strings.Count(string(first.body), `"mtu"`); n != 1 || !strings.Contains(string(first.body), "marker=") {
		t.Errorf("first page has %d networks: %s; want one and a link to the next page", n, first.body)
	}
	if all := l.network("/v2.0/networks", token); strings.Count(string(all.body), `"mtu"`) != 2 || strings.Contains(string(all.body), "networks_links") {
		t.Errorf("without a limit: %s; want two networks and no link", all.body)
	}
}

func TestNeutronErrorsComeFromTwoLayers(t *testing.T) {
	l := start(t, fakes.Options{})
	token := l.newToken()
	for _, c := range []struct {
		fault string
		keys  []string
		value string
	}{
		{"401", []string{"error", "code"}, `401`},
		{"403", []string{"NeutronError", "type"}, `"PolicyNotAuthorized"`},
		{"500", []string{"NeutronError", "type"}, `"HTTPInternalServerError"`},
		{"503", []string{"code"}, `"503 Service Unavailable"`},
	} {
		l.set("neutron", c.fault)
		if got := l.network("/v2.0/networks", token); field(t, got.body, c.keys...) != c.value {
			t.Errorf("body under %s = %s, want %v = %s", c.fault, got.body, c.keys, c.value)
		}
	}
}

func TestFaultsOfPortQuota(t *testing.T) {
	l := start(t, fakes.Options{})
	token := l.newToken()
	for _, c := range []struct{ fault, want string }{
		{"low-ports", `{"limit":10,"used":8,"reserved":0}`},
		{"exhaust-ports", `{"limit":10,"used":10,"reserved":0}`},
		{fakes.None, `{"limit":100,"used":5,"reserved":0}`},
	} {
		l.set("neutron", c.fault)
		got := l.network("/v2.0/quotas/"+l.ProjectID()+"/details.json", token)
		if quota := field(t, got.body, "quota", "port"); quota != c.want {
			t.Errorf("quota of ports under %s = %s, want %s", c.fault, quota, c.want)
		}
	}
}

func TestAgentsAreAlive(t *testing.T) {
	l := start(t, fakes.Options{})
	got := l.network("/v2.0/agents", l.newToken())
	if n := strings.Count(string(got.body), `"alive":true`); got.outcome != "200" || n != 3 {
		t.Errorf("agents = %s with %d alive, want 200 with 3", got.outcome, n)
	}
}

func TestRevokedTokenIsReplaced(t *testing.T) {
	l := start(t, fakes.Options{})
	old := l.newToken()
	l.set("neutron", "revoke-token")
	if got := l.network("/v2.0/networks", old).outcome; got != "401" {
		t.Errorf("networks with the old token = %s, want 401", got)
	}
	if got := l.network("/v2.0/networks", l.newToken()).outcome; got != "200" {
		t.Errorf("networks with a new token = %s, want 200", got)
	}
	if got := l.tokens(http.MethodGet, old, old).outcome; got != "200" {
		t.Errorf("validation of the old token = %s, want 200: only Neutron rejects it", got)
	}
}
