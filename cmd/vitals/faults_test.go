package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/vitals-health/vitals/internal/fakes"
)

// cloud starts the fakes and returns Keystone's auth_url behind a proxy that
// counts logins.
func cloud(t *testing.T) (c *fakes.Cloud, authURL string, logins *atomic.Int64) {
	t.Helper()
	c, err := fakes.Start(fakes.Options{})
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

// credentials are those of the fake Keystone, for a collector's configuration.
func credentials(c *fakes.Cloud, authURL string) string {
	return fmt.Sprintf("auth_url: %q, username: %s, password: %q, project_name: %s, user_domain_name: %s, project_domain_name: %s",
		authURL, c.Username(), c.Password(), c.Project(), c.Domain(), c.Domain())
}

// TestReloadKeepsTheToken counts the logins at Keystone: only a collector that
// changed logs in again.
func TestReloadKeepsTheToken(t *testing.T) {
	t.Parallel()
	c, authURL, logins := cloud(t)
	dir, config := markerConfig(t)
	text := markers + fmt.Sprintf(`
  - name: keystone
    interval: 5s
    timeout: 5s
    keystone: {%s}
  - name: neutron
    interval: 5s
    timeout: 5s
    neutron: {keystone: keystone}
`, credentials(c, authURL))
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
	// Everything but the kinds of the collectors changes, also their times.
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

// TestFaultsOfCollectors runs one collector with each fault, next to a collector without one.
func TestFaultsOfCollectors(t *testing.T) {
	t.Parallel()
	expired, authority := expiredTarget(t)
	var body []byte
	for i := range 1_000_000 {
		body = append(strconv.AppendInt(append(body, 'm'), int64(i), 10), " 1\n"...)
	}
	million := metricsTarget(t, func(w io.Writer) { _, _ = w.Write(body) })
	c, authURL, _ := cloud(t)
	wrong := strings.Replace(credentials(c, authURL), c.Password(), "s3cr3t-word", 1)
	faults := []struct{ name, config, err, metric string }{
		{"hangs", "scrape: {url: " + hangingTarget(t, time.Hour) + "}", "context deadline exceeded", `vitals_scrape_failure{component="hangs",reason="timeout"} 1`},
		{"late", "scrape: {url: " + hangingTarget(t, 30*time.Second) + "}", "context deadline exceeded", `vitals_scrape_failure{component="late",reason="timeout"} 1`},
		{"refuses", "scrape: {url: http://" + refusedPort(t) + "}", "connection refused", `vitals_scrape_failure{component="refuses",reason="refused"} 1`},
		{"expired", "scrape: {url: " + expired + ", tls: {ca_file: " + authority + "}}", "certificate has expired", `vitals_scrape_failure{component="expired",reason="tls"} 1`},
		{"samples", "scrape: {url: " + million + "}", "sample_limit, 2000", `vitals_scrape_failure{component="samples",reason="too_many_samples"} 1`},
		{"body", "scrape: {url: " + million + ", sample_limit: 2000000, body_size_limit: 1MiB}", "1MiB", `vitals_scrape_failure{component="body",reason="too_large"} 1`},
		{"binary", "scrape: {url: " + metricsTarget(t, func(w io.Writer) { _, _ = io.WriteString(w, "v{l=\"\xff\"} 1\n") }) + "}", "UTF-8", `vitals_scrape_failure{component="binary",reason="protocol"} 1`},
		{"password", "keystone: {" + wrong + "}", "401", `vitals_dependency_failure{dependency="password",reason="auth"} 1`},
	}
	dir, config := markerConfig(t)
	text, names := markers, ""
	for _, f := range faults {
		timeout := "1m" // an answer, or reading it, takes a while on a busy machine
		if strings.Contains(f.err, "deadline") {
			timeout = "10s" // and a second more to report it
		}
		text += fmt.Sprintf("  - name: %s\n    interval: 1m\n    timeout: %s\n    %s\n", f.name, timeout, f.config)
		names += "|" + f.name
	}
	values := metricsTarget(t, func(w io.Writer) { _, _ = io.WriteString(w, "v{l=\"nan\"} NaN\nv{l=\"inf\"} +Inf\n") })
	text += "  - name: values\n    interval: 5s\n    timeout: 5s\n    scrape: {url: " + values + "}\n"
	write(t, dir, "vitals.yml", text)
	write(t, dir, "rules.yml", markerRules+`
      - {alert: Failed, expr: 'vitals_collector_success{collector=~"`+names[1:]+`"} == 0', labels: {severity: warning}}
      - {alert: Zero, expr: v == 0, labels: {state: ready}}
      - {alert: Infinite, expr: v > 100, labels: {severity: warning}}
`)
	p := runVitals(t, config)
	eventually(t, "every fault to show, and ready to pass beside it", func() bool {
		code, _ := p.get("/ready")
		return code == 200 && p.rule("Failed").AlertCount == len(faults)
	})
	for _, f := range faults {
		got := p.collector(f.name)
		if got.Success || !strings.Contains(got.Error, f.err) || len(got.Error) > 512 || strings.Contains(got.Error, "\n") {
			t.Errorf("%s: success %t, error %q, want a failure with %q in one line", f.name, got.Success, got.Error, f.err)
		}
		if !p.metric(f.metric) || !p.metric(`vitals_collector_success{collector="`+f.name+`"} 0`) {
			t.Errorf("%s: /metrics lacks %s, or success 0", f.name, f.metric)
		}
	}
	if got := p.rule("Zero"); got.Status != "ok" {
		t.Errorf("v == 0 over NaN and +Inf is %s, want ok", got.Status)
	}
	if got := p.rule("Infinite").Observed; got != "+Inf" {
		t.Errorf("observed = %v, want +Inf", got)
	}
	if !p.metric(`v{component="values",l="nan"} NaN`) || !p.metric(`v{component="values",l="inf"} +Inf`) {
		t.Error("/metrics lacks NaN or +Inf")
	}
	generation := p.status().Generation
	eventually(t, "the evaluation to go on", func() bool { return p.status().Generation > generation+10 })
	for _, path := range []string{"/", "/metrics", "/api/v1/status", "/config", "/ready?verbose", "/alive?verbose"} {
		if _, body := p.get(path); strings.Contains(body, "s3cr3t-word") {
			t.Errorf("%s shows the password", path)
		}
	}
	if strings.Contains(p.log.String(), "s3cr3t-word") {
		t.Error("the log shows the password")
	}
}

// TestEveryCollectorFails starts with nothing that works, and serves.
func TestEveryCollectorFails(t *testing.T) {
	t.Parallel()
	dir, config := markerConfig(t)
	write(t, dir, "vitals.yml", fmt.Sprintf(`
rule_files: [rules.yml]
collectors:
  - {name: keystone, keystone: {auth_url: "http://%[1]s/v3", username: u, password: p, project_name: p, user_domain_name: d, project_domain_name: d}}
  - {name: neutron, neutron: {keystone: keystone}}
  - {name: kubernetes, kubernetes: {server: "http://%[1]s", watch: [pods]}}
  - {name: target, scrape: {url: "http://%[1]s/metrics"}}
`, refusedPort(t)))
	write(t, dir, "rules.yml", "groups: [{name: g, rules: [{alert: KeystoneDown, expr: 'vitals_dependency_up{dependency=\"keystone\"} == 0', labels: {state: ready}}]}]\n")
	p := runVitals(t, config)
	eventually(t, "started, and every collector to have failed", func() bool {
		code, _ := p.get("/started")
		for _, c := range p.status().Collectors {
			if !c.Ran || c.Success {
				return false
			}
		}
		return code == 200
	})
	if code, body := p.get("/alive"); code != 200 {
		t.Errorf("/alive = %d %q, want 200: no restart cures it", code, body)
	}
	eventually(t, "ready to name Keystone", func() bool {
		code, body := p.get("/ready")
		return code == 503 && strings.HasPrefix(body, "KeystoneDown failing (value 0, since ")
	})
}

// TestOnceWithACollectorThatHangs ends within its time, with a verdict.
func TestOnceWithACollectorThatHangs(t *testing.T) {
	t.Parallel()
	dir, config := markerConfig(t)
	write(t, dir, "vitals.yml", strings.ReplaceAll(markers, "${VITALS_TEST_DIR}", dir)+"  - {name: hangs, interval: 1h, timeout: 1h, scrape: {url: "+hangingTarget(t, time.Hour)+"}}\n")
	write(t, dir, "rules.yml", markerRules+"      - {alert: Hangs, expr: vitals_scrape_up == 0, labels: {state: ready}}\n")
	for state, want := range map[string]struct {
		code int
		line string
	}{
		"ready": {5, "timeout 5 ready: no result of hangs within 3s\nHangs unknown: no data for vitals_scrape_up (since "},
		"alive": {0, "ok 0 alive: "},
	} {
		var out, log strings.Builder
		begin := time.Now()
		code := run([]string{"once", state, "--config.file=" + config, "--timeout=3s"}, &out, &log)
		if code != want.code || !strings.HasPrefix(out.String(), want.line) {
			t.Errorf("once %s = %d %q, want %d %q", state, code, out.String(), want.code, want.line)
		}
		if took := time.Since(begin); took > 30*time.Second {
			t.Errorf("once %s took %s, want about its timeout of 3s", state, took)
		}
	}
}
