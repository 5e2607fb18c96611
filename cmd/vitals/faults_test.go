package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/vitals-health/vitals/internal/standin"
)

// cloud starts the stand-ins and returns Keystone's auth_url behind a proxy that
// counts logins.
func cloud(t *testing.T) (c *standin.Cloud, authURL string, logins *atomic.Int64) {
	t.Helper()
	c, err := standin.Start(standin.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	target, err := url.Parse(strings.TrimSuffix(c.KeystoneURL(), "/v3"))
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	logins = &atomic.Int64{}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && r.URL.Path == "/v3/auth/tokens" {
			logins.Add(1)
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	return c, front.URL + "/v3", logins
}

// credentials are those of the stand-in, for a collector's configuration.
func credentials(c *standin.Cloud, authURL string) string {
	return fmt.Sprintf("auth_url: %q, username: %s, password: %q, project_name: %s, user_domain_name: %s, project_domain_name: %s",
		authURL, c.Username(), c.Password(), c.Project(), c.Domain(), c.Domain())
}

// TestReloadKeepsTheToken counts the logins at Keystone: only a collector that
// changed logs in again.
func TestReloadKeepsTheToken(t *testing.T) {
	c, authURL, logins := cloud(t)
	dir, config := markerConfig(t)
	text := markers + fmt.Sprintf(`
  - name: keystone
    interval: 100ms
    timeout: 100ms
    keystone: {%s}
  - name: neutron
    interval: 100ms
    timeout: 100ms
    neutron: {keystone: keystone}
`, credentials(c, authURL))
	// On a busy machine an answer may take longer than 100 ms.
	text = strings.ReplaceAll(text, "    interval: 100ms\n    timeout: 100ms\n    k", "    interval: 5s\n    timeout: 5s\n    k")
	write(t, dir, "vitals.yml", text)
	p := runVitals(t, config, "--config.poll-interval=0")
	up := func(what string) {
		t.Helper()
		last := p.collector("keystone").LastRun
		eventually(t, what, func() bool {
			return p.collector("keystone").LastRun.After(last) && p.metric(`vitals_dependency_up{dependency="keystone"} 1`) && p.metric(`vitals_dependency_up{dependency="neutron"} 1`)
		})
	}
	eventually(t, "keystone and neutron to be up", func() bool {
		return p.metric(`vitals_dependency_up{dependency="keystone"} 1`) && p.metric(`vitals_dependency_up{dependency="neutron"} 1`)
	})
	if n := logins.Load(); n != 1 {
		t.Errorf("%d logins, want 1", n)
	}
	// Everything changes but what the collectors are: their times as well.
	write(t, dir, "vitals.yml", "states: {gold: {}}\n"+strings.ReplaceAll(text, "interval: 5s", "interval: 6s")+"  - name: more\n    file: {path: /}\n")
	write(t, dir, "rules.yml", strings.Replace(markerRules, "Dead", "Other", 1))
	p.signal(syscall.SIGHUP)
	up("another round with the same token")
	if n := logins.Load(); n != 1 {
		t.Errorf("%d logins after a reload that leaves keystone as it was, want 1", n)
	}
	write(t, dir, "vitals.yml", strings.ReplaceAll(text, "keystone: {auth_url", "keystone: {endpoints: [network], auth_url"))
	p.signal(syscall.SIGHUP)
	up("a round of the collector that changed")
	if n := logins.Load(); n != 2 {
		t.Errorf("%d logins after a reload that changes keystone, want 2", n)
	}
}
