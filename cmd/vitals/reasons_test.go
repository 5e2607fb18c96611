package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vitals-health/vitals/collectors/kinds"
	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/config"
	"github.com/vitals-health/vitals/internal/execprobe"
	"github.com/vitals-health/vitals/internal/server"
	"github.com/vitals-health/vitals/internal/server/verdicts"
)

// failingKind is a collector that fails without its server or subject.
type failingKind struct {
	block string
	// expr is a rule as users write it, without the collector's name.
	expr string
	// want is a part of its reason.
	want string
}

// failingKinds has an entry for every kind.
func failingKinds() map[string]failingKind {
	const login = "{auth_url: 'http://127.0.0.1:1/v3', username: u, password: hunter2, project_name: p, user_domain_name: d, project_domain_name: d}"
	return map[string]failingKind{
		"kubernetes":  {"{server: 'http://127.0.0.1:1'}", "vitals_dependency_up == 0", "collector c fails: get /readyz: dial tcp 127.0.0.1:1: connect: connection refused"},
		"keystone":    {login, "vitals_dependency_up == 0", "collector c fails: authenticate at http://127.0.0.1:1/v3/: dial tcp 127.0.0.1:1: connect: connection refused"},
		"neutron":     {login, "vitals_dependency_up == 0", "collector c fails: no token for neutron: authenticate at http://127.0.0.1:1/v3/: dial tcp 127.0.0.1:1: connect: connection refused"},
		"openstack":   {strings.Replace(login, "{", "{service: image, ", 1), "vitals_dependency_up == 0", "collector c fails: no token for image: authenticate at http://127.0.0.1:1/v3/: dial tcp 127.0.0.1:1: connect: connection refused"},
		"http":        {"{url: 'http://127.0.0.1:1'}", "vitals_dependency_up == 0", "000 127.0.0.1:1"},
		"tcp":         {"{address: '127.0.0.1:1'}", "vitals_dependency_up == 0", "tcp 127.0.0.1:1 refused"},
		"postgres":    {"{address: '127.0.0.1:1'}", "vitals_dependency_up == 0", "postgres 127.0.0.1:1 refused"},
		"redis":       {"{address: '127.0.0.1:1'}", "vitals_dependency_up == 0", "redis 127.0.0.1:1 refused"},
		"memcached":   {"{address: '127.0.0.1:1'}", "vitals_dependency_up == 0", "memcached 127.0.0.1:1 refused"},
		"dns":         {"{name: a.example, server: '127.0.0.1:1'}", "vitals_dependency_up == 0", "dns A a.example at 127.0.0.1:1 refused"},
		"grpc":        {"{address: '127.0.0.1:1'}", "vitals_dependency_up == 0", "grpc 127.0.0.1:1 refused"},
		"ntp":         {"{server: '127.0.0.1:1'}", "vitals_dependency_up == 0", "ntp 127.0.0.1:1 refused"},
		"prometheus":  {"{url: 'http://127.0.0.1:1', queries: {q: up}}", "vitals_query_value > 1", "prometheus http://127.0.0.1:1 refused"},
		"icmp":        {"{address: 'no..such'}", "vitals_dependency_up == 0", "icmp no..such dns"},
		"certificate": {"{files: [/nonexistent]}", "vitals_dependency_up == 0", "certificate not_found: open /nonexistent: no such file or directory"},
		"components":  {"{expect: [watcher], notify_directory: /dev/null/notify}", "vitals_component_alive == 0", "collector c fails: listen for notifications of "},
		"scrape":      {"{url: 'http://127.0.0.1:1'}", "app_up == 0", "collector c fails: scrape: dial tcp 127.0.0.1:1: connect: connection refused"},
		"textfile":    {"{path: /nonexistent/*.prom}", "app_up == 0", "collector c fails: open /nonexistent: no such file or directory"},
		"file":        {"{path: WORK/bad.json, format: json}", "vitals_file_valid == 0", "collector c fails: read file WORK/bad.json"},
		"disk":        {"{paths: [/nonexistent]}", "vitals_disk_writable == 0", "collector c fails: stat file system of /nonexistent: no such file or directory"},
		"systemd":     {"{units: [a.service], bus: /nonexistent}", "vitals_systemd_up == 0", "collector c fails: query systemd at /nonexistent: "},
		"netlink":     {"{netns: /nonexistent}", "vitals_netlink_up == 0", "collector c fails: "},
		"cgroup":      {"{path: /nonexistent}", "vitals_cgroup_memory_usage_bytes > 1", "collector c fails: find cgroup: "},
		"process":     {"{name: nonexistent}", "vitals_process_up == 0", "nonexistent"},
		"capability":  {"{capabilities: [NET_ADMIN], process: {name: nonexistent}}", "vitals_process_capability == 0", "collector c fails: no process of name nonexistent"},
		"supervisor":  {"{socket: /nonexistent}", "vitals_supervisor_up == 0", "/nonexistent"},
		"script":      {"{command: [/nonexistent]}", "vitals_script_status == 0", "/nonexistent"},
	}
}

// TestEveryKindGivesItsReason has a collector of every kind fail, and searches for the reason
// in all answers about the state.
func TestEveryKindGivesItsReason(t *testing.T) {
	failing := failingKinds()
	for _, kind := range kinds.Names() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			tt, ok := failing[kind]
			if !ok {
				t.Fatalf("the kind %s has no entry in failingKinds", kind)
			}
			dir := t.TempDir()
			writeFile(t, filepath.Join(dir, "bad.json"), "{")
			writeFile(t, filepath.Join(dir, "rules.yml"), fmt.Sprintf(reasonRules, tt.expr))
			path := filepath.Join(dir, "vitals.yml")
			writeFile(t, path, strings.ReplaceAll("rule_files: [rules.yml]\ncollectors:\n  - name: c\n    "+kind+": "+tt.block+"\n", "WORK", dir))
			checkReasons(t, path, strings.ReplaceAll(tt.want, "WORK", dir))
		})
	}
}

// reasonRules are a rule without the collector's name, and one with it.
const reasonRules = `
groups:
  - name: g
    rules:
      - {alert: Specific, expr: %s, labels: {state: ready}}
      - {alert: Collector, expr: 'vitals_collector_success{collector="c"} == 0', labels: {state: ready}}
`

// checkReasons runs a configuration until its collector has failed, and searches the text.
func checkReasons(t *testing.T, path, want string) {
	t.Helper()
	for _, command := range []string{"once", "explain"} {
		_, got, _ := vitals(command, "ready", "--config.file="+path)
		if !strings.Contains(got, want) && !strings.Contains(want, "listen for") { // the sockets may come later
			t.Errorf("%s ready = %q, want the reason %q", command, got, want)
		}
	}
	e := failedEvaluator(t, path)
	h := server.New(server.Options{Snapshot: e.Snapshot}).Handler()
	for _, target := range []string{"/ready", "/ready?verbose", "/ready/Specific", "/ready/Collector", "/api/v1/status", "/api/v1/verdict/ready"} {
		if got := answerOf(h, target, "*/*"); !strings.Contains(got, want) {
			t.Errorf("GET %s = %s, want the reason %q", target, got, want)
		}
	}
	if got := answerOf(h, "/ready", "application/json"); !strings.Contains(got, want) {
		t.Errorf("GET /ready as JSON = %s, want the reason %q", got, want)
	}
	v, _ := verdicts.Of(e.Snapshot(), evaluator.Ready, time.Now())
	if got := execprobe.Plain.Render(execprobe.ResultOf(&v)); !strings.Contains(got, want) || strings.Contains(got, "hunter2") {
		t.Errorf("exec probe = %s, want the reason %q", got, want)
	}
}

// failedEvaluator returns an evaluator with the failure of its only collector.
func failedEvaluator(t *testing.T, path string) *evaluator.Evaluator {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	l, errs := config.Load(config.NewSources(), path, data, nil)
	if len(errs) > 0 {
		t.Fatalf("Load() = %v, want no error", errs)
	}
	b := config.Builder{Logger: discard()}
	cfg, _, err := b.Build(l)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Sources[0].Interval = 100 * time.Millisecond
	e, err := evaluator.New(cfg, evaluator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		e.Run(ctx)
	}()
	t.Cleanup(func() { cancel(); <-ended })
	for changed := e.Changed(); !failed(e.Snapshot()) && ctx.Err() == nil; changed = e.Changed() {
		<-changed
	}
	return e
}

// failed reports whether a collection has failed and the rules about it decide ready.
func failed(s *evaluator.Snapshot) bool {
	return s.Collectors[0].Error != "" && s.Rules[0].Decides && s.Rules[1].Decides
}

func answerOf(h http.Handler, target, accept string) string {
	r := httptest.NewRequest(http.MethodGet, "http://localhost"+target, nil)
	r.Header.Set("Accept", accept)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Body.String()
}
