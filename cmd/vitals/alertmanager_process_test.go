package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// The daemon sends an alert to a path below the address, with its labels, and does not end it
// when it stops.
func TestAlertsToAlertmanager(t *testing.T) {
	type alert struct {
		Labels       map[string]string
		EndsAt       time.Time
		GeneratorURL string
	}
	var mu sync.Mutex
	var got []alert
	alertmanager := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var all []alert
		if err := json.NewDecoder(r.Body).Decode(&all); err != nil || r.URL.Path != "/am/api/v2/alerts" {
			t.Errorf("%s %s: %v, want alerts", r.Method, r.URL, err)
		}
		mu.Lock()
		defer mu.Unlock()
		got = append(got, all...)
	}))
	defer alertmanager.Close()
	last := func() alert {
		mu.Lock()
		defer mu.Unlock()
		if len(got) == 0 {
			return alert{}
		}
		return got[len(got)-1]
	}
	dir, config := markerConfig(t)
	p := runVitals(t, config, "--web.shutdown-delay=0s", "--alertmanager.url="+alertmanager.URL+"/am/", "--web.external-url=https://vitals.example",
		"--alertmanager.target-label=instance=a:8080", "--alertmanager.external-label=cluster=c", "--alertmanager.external-label=severity=none")
	p.waitReady()
	write(t, dir, "bad", "")
	eventually(t, "the alert to be sent", func() bool { return last().Labels != nil })
	a := last()
	if a.Labels["alertname"] != "Bad" || a.Labels["instance"] != "a:8080" || a.Labels["cluster"] != "c" || a.Labels["state"] != "ready" ||
		!strings.HasPrefix(a.GeneratorURL, "https://vitals.example/#q=") || !a.EndsAt.After(time.Now()) {
		t.Errorf("alert = %+v, want its own labels, the added ones and the link", a)
	}
	eventually(t, "the answer to be counted", func() bool {
		return p.metric(`vitals_notifications_success{alertmanager="` + alertmanager.URL + `/am"} 1`)
	})
	p.signal(syscall.SIGTERM)
	if code := p.exit(); code != 0 {
		t.Errorf("exit code = %d, want 0", code)
	}
	if a := last(); !a.EndsAt.After(time.Now()) {
		t.Errorf("the last alert ends at %s, want that the end of the process ends none", a.EndsAt)
	}
}

// A mistake is reported before anything is started, without the secrets in it.
func TestMistakesOfAlertmanagerFlags(t *testing.T) {
	_, config := markerConfig(t)
	for flag, want := range map[string]string{
		"--alertmanager.url=http://u:hunter2@am:9093/api/v2/alerts": "--alertmanager.url=http://am:9093/api/v2/alerts: expected the address of an Alertmanager, such as http://alertmanager:9093, without the path of its API\n",
		"--alertmanager.external-label=cluster=c":                   "--alertmanager.external-label: expected an Alertmanager with it: --alertmanager.url=http://alertmanager:9093\n",
		"--alertmanager.external-label=cluster":                     "expected KEY=VALUE",
	} {
		var out, errs bytes.Buffer
		if code := run([]string{"run", "--config.file=" + config, flag}, &out, &errs); code != exitConfig || !strings.Contains(errs.String(), want) || strings.Contains(errs.String(), "hunter2") {
			t.Errorf("run %s = %d, %s, want %d and %q", flag, code, errs.String(), exitConfig, want)
		}
	}
}
