package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
)

// webConfig checks one page, and ready wants it to be as expected.
const webConfig = `
evaluation_interval: 100ms
rule_files: [rules.yml]
collectors:
  - name: web
    interval: 30s
    timeout: 30s
    http: {url: %q, expect: {body: %s}}
`

const webRules = `
groups:
  - name: g
    rules:
      - alert: WebDown
        expr: vitals_dependency_up{dependency="web"} == 0
        labels: {state: ready}
        annotations: {summary: the page is not as expected}
`

// TestReloadOfAChangedCollector changes what is expected of a page whose server takes its
// time: ready does not fail between the last collection of the old collector and the first of the new one.
// Then it changes the address to one where nothing listens, which fails as soon as that is
// known.
func TestReloadOfAChangedCollector(t *testing.T) {
	queried, answers := make(chan struct{}), make(chan string)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for range 2 {
			select {
			case queried <- struct{}{}:
			case body := <-answers:
				fmt.Fprint(w, body)
			case <-r.Context().Done():
			}
		}
	}))
	t.Cleanup(web.Close)
	dir, config := markerConfig(t)
	write(t, dir, "rules.yml", webRules)
	write(t, dir, "vitals.yml", fmt.Sprintf(webConfig, web.URL, "one"))
	p := runVitals(t, config, "--config.poll-interval=0")
	<-queried
	answers <- "one"
	p.waitReady()
	first := p.collector("web")
	changes := p.line("vitals_state_transitions_total{state=\"ready\"}")

	write(t, dir, "vitals.yml", fmt.Sprintf(webConfig, web.URL, "two"))
	p.signal(syscall.SIGHUP)
	<-queried // by the new collector, which waits
	generation := p.status().Generation
	eventually(t, "some passes over the rules", func() bool {
		if code, body := p.get("/ready"); code != 200 {
			t.Fatalf("/ready before the first round = %d %q, want 200", code, body)
		}
		return p.status().Generation > generation+3
	})
	if now := p.collector("web"); now != first {
		t.Errorf("collector before its first round = %+v, want %+v: the last round of the old one", now, first)
	}
	if !p.metric(`vitals_dependency_up{dependency="web"} 1`) || !p.metric(`vitals_collector_success{collector="web"} 1`) {
		t.Error("/metrics does not have the old collector's last round")
	}
	answers <- "two"
	eventually(t, "the first round", func() bool { return p.collector("web").LastRun.After(first.LastRun) })
	if code, body := p.get("/ready"); code != 200 {
		t.Errorf("/ready after the first round = %d %q, want 200", code, body)
	}
	if now := p.line("vitals_state_transitions_total{state=\"ready\"}"); now != changes || now == "" {
		t.Errorf("ready has changed: %q, and before the reload %q", now, changes)
	}

	web.Close()
	write(t, dir, "vitals.yml", fmt.Sprintf(webConfig, web.URL+"/moved", "two"))
	p.signal(syscall.SIGHUP)
	eventually(t, "the new address to fail", func() bool { return p.rule("WebDown").Status == "failing" })
	if code, body := p.get("/ready"); code != 503 || !strings.Contains(body, "the page is not as expected") {
		t.Errorf("/ready = %d %q, want the rule to fail", code, body)
	}
}

// line is the line of /metrics that begins like this; empty without one.
func (p *runningVitals) line(begin string) string {
	p.t.Helper()
	_, body := p.get("/metrics")
	for line := range strings.Lines(body) {
		if strings.HasPrefix(line, begin) {
			return line
		}
	}
	return ""
}
