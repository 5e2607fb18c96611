package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"

	"github.com/vitals-health/vitals/collectors/collectortest"
)

// repeating answers every request with all that it got, and fails it in the way that the
// path names.
func repeating(t *testing.T, away string) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		received := fmt.Sprint(r.URL, r.Header, string(body))
		w.Header().Set("Content-Type", "text/"+received)
		switch r.URL.Path {
		case "/status":
			w.WriteHeader(http.StatusInternalServerError)
		case "/redirect":
			w.Header().Set("Location", away+"/away?"+r.URL.RawQuery)
			w.WriteHeader(http.StatusFound)
		case "/broken":
			w.Header().Set("Location", "http://user:"+canary+"@[?token="+canary)
			w.WriteHeader(http.StatusFound)
		}
		fmt.Fprintf(w, `{"access": {"token": %q}, "received": %q}`, canary+"-other", received)
	}))
	t.Cleanup(s.Close)
	return s
}

// repeatingLines refuses the first line that it gets over TCP, or the password of Redis'
// AUTH, and repeats it.
func repeatingLines(t *testing.T) string {
	return collectortest.Listen(t, func(conn net.Conn) {
		lines := bufio.NewScanner(conn)
		lines.Scan()
		if lines.Text() == "*2" { // Redis' AUTH and the password, each behind its length
			for range 4 {
				lines.Scan()
			}
		}
		fmt.Fprintf(conn, "-ERR unknown or wrong %q\r\n", lines.Text())
	})
}

// secretRules name the collectors, so that the output of the rules contains their notes.
const secretRules = `
groups:
  - name: g
    rules:
      - alert: Down
        expr: vitals_dependency_up == 0
        labels: {state: ready}
      - alert: Script
        expr: vitals_script_status{status="ok"} == 0
        labels: {state: ready}
`

// TestSecretsInAProcess has collectors that fail in all ways against servers that repeat
// what they were sent, and checks all output of the process.
func TestSecretsInAProcess(t *testing.T) {
	untrusted := httptest.NewTLSServer(http.NotFoundHandler())
	defer untrusted.Close()
	closed := httptest.NewServer(http.NotFoundHandler())
	web, lines := repeating(t, closed.URL), repeatingLines(t)
	closed.Close() // last, so that no other server gets its port
	dir, config := markerConfig(t)
	file := write(t, dir, "token", canary+"\n")
	write(t, dir, "rules.yml", secretRules)
	t.Setenv("VITALS_TEST_CANARY", canary)

	const query = "?a=b&api_key=" + canary
	more := fmt.Sprintf(`, headers: {X-Api-Key: %[1]s, X-Subject-Token: "${VITALS_TEST_CANARY}"}, header_files: {X-Auth-Token: %[2]s}, basic_auth: {username: u, password_file: %[2]s}, method: POST, body: "hello %[1]s", note_format: "%%{http_code} %%{url_effective}"}`, canary, file)
	blocks := []string{
		"http: {url: '" + closed.URL + query + "'" + more,
		"http: {url: '" + untrusted.URL + query + "'" + more,
		"http: {url: '" + web.URL + "/status" + query + "'" + more,
		"http: {url: '" + web.URL + "/redirect" + query + "', follow_redirects: true" + more,
		"http: {url: '" + web.URL + "/broken" + query + "', follow_redirects: true" + more,
		"http: {url: '" + web.URL + query + "', expect: {body: 'api_key=" + canary + "$'}" + more,
		"http: {url: '" + web.URL + query + "', expect: {headers: {Content-Type: '^token=" + canary + "', Set-Cookie: " + canary + "}}" + more,
		"http: {url: '" + web.URL + query + "', expect: {json: {access.token: " + canary + "}}" + more,
		"http: {url: '" + web.URL + query + "', expect: {json: {received: x}}" + more,
		"scrape: {url: '" + closed.URL + query + "', bearer_token_file: " + file + "}",
		"scrape: {url: '" + web.URL + query + "', bearer_token_file: " + file + "}",
		"scrape: {url: '" + web.URL + "/broken" + query + "', follow_redirects: true, bearer_token_file: " + file + "}",
		"tcp: {address: '" + lines + "', query_response: [{send: \"AUTH " + canary + "\\r\\n\"}, {expect: OK}]}",
		"tcp: {address: '" + lines + "', query_response: [{send: \"" + canary + "\\r\\n\"}, {expect: unknown}]}",
		"tcp: {address: '" + lines + "', protocol: redis, password: " + canary + "}",
		"script: {command: [/bin/sh, -c, 'echo \"$0 $@ $SOME\"; exit 2', '--db-password=" + canary + "', --token, " + canary + "], environment: {SOME: " + canary + "}}",
		"script: {command: [/bin/sh, -c, 'echo \"OK | ''$SOME''=1\"'], convention: nagios, environment: {SOME: " + canary + "}}",
		"supervisor: {url: '" + web.URL + "', username: u, password: " + canary + "}",
		"keystone: {auth_url: '" + web.URL + "/v3', username: u, password: " + canary + ", project_name: p, user_domain_name: d, project_domain_name: d}",
	}
	text := "rule_files: [rules.yml]\nserver: {component_token: " + canary + "}\ncollectors:\n"
	for i, block := range blocks {
		text += fmt.Sprintf("  - name: c%d\n    %s\n", i, block)
	}
	write(t, dir, "vitals.yml", text)
	p := runVitals(t, config, "--config.poll-interval=0", "--log.level=debug")
	eventually(t, "all collectors to have run", func() bool {
		ran := 0
		for _, c := range p.status().Collectors {
			if c.Ran {
				ran++
			}
		}
		return ran == len(blocks)
	})
	seen := map[string]string{}
	for _, path := range []string{"/config", "/metrics", "/", "/api/v1/status", "/api/v1/explain/ready?all=1", "/ready?verbose", "/ready"} {
		_, seen[path] = p.get(path)
	}
	for _, command := range [][]string{
		{"once", "ready", "--config.file=" + config, "--log.level=debug"},
		{"explain", "ready", "--all", "--config.file=" + config},
		{"check", "config", config},
	} {
		c := launch(t, command...)
		c.exit()
		seen[strings.Join(command[:2], " ")] = c.log.String()
	}
	write(t, dir, "vitals.yml", strings.Replace(text, "  - name: c0\n", "  - name: 'password="+canary+"'\n", 1))
	p.signal(syscall.SIGHUP)
	eventually(t, "the mistake to be refused", func() bool { return !p.status().Reload.OK })
	_, seen["status with a mistake"] = p.get("/api/v1/status")
	seen["log"] = p.log.String()

	for what, text := range seen {
		if at := strings.Index(text, canary); at >= 0 {
			t.Errorf("%s shows the secret: %q", what, text[max(0, at-200):min(len(text), at+100)])
		}
	}
	if n := strings.Count(seen["/config"], "<secret>"); n != 53 {
		t.Errorf("/config has %d secrets hidden, want 53, as many as were given:\n%s", n, seen["/config"])
	}
	for _, want := range []string{"connection refused", "certificate", "status 500", "redirect", "body does not match", "is not as expected"} {
		if !strings.Contains(seen["/api/v1/status"], want) {
			t.Errorf("no collector reports %q: it does not fail as it should", want)
		}
	}
}
