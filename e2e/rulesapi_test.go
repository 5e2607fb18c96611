//go:build e2e

package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// apiMetrics are what both scrape, in addition to app_kept.
const apiMetrics = "app_up{shard=\"a\"} 0\napp_up{shard=\"b\"} 1\napp_queue 12.5\n"

// comparedTarget serves the metrics and returns a function that sets app_kept to 0.
func comparedTarget(t *testing.T) (url string, end func()) {
	t.Helper()
	var ended atomic.Bool
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		text := apiMetrics + "app_kept 1\n"
		if ended.Load() {
			text = apiMetrics + "app_kept 0\n"
		}
		_, _ = w.Write([]byte(text))
	}))
	t.Cleanup(s.Close)
	return s.URL, func() { ended.Store(true) }
}

// startCompared runs Vitals and Prometheus on the same rule file and the same target.
func startCompared(t *testing.T, target string) (d daemon, prometheus *program) {
	t.Helper()
	dir := t.TempDir()
	rules, err := filepath.Abs("testdata/rulesapi.yml")
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	d = runVitals(t, os.Getenv("VITALS_BIN"), write("vitals.yml", fmt.Sprintf(`
evaluation_interval: 1s
rule_files: [%q]
collectors:
  - {name: app, interval: 1s, timeout: 1s, scrape: {url: %q}}
`, rules, target+"/metrics")), shortDirectory(t, ""))
	listen := address(t)
	config := write("prometheus.yml", fmt.Sprintf(`
global: {scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}
rule_files: [%q]
scrape_configs:
  - job_name: app
    static_configs: [{targets: [%q], labels: {component: app}}]
    metric_relabel_configs: [{regex: job|instance, action: labeldrop}]
`, rules, strings.TrimPrefix(target, "http://")))
	tool(t, "promtool", "check", "config", config)
	prometheus = launch(t, listen, prometheusTool(t, "prometheus"), "--config.file="+config,
		"--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+listen)
	await(t, "prometheus listens", time.Minute, func() error { return prometheus.ready() })
	return d, prometheus
}

// withoutTimes returns what an API responds, with the same text for each time and error. Vitals
// follows Prometheus 3, so three parts are removed: Debian's Prometheus 2.42 leaves out since when
// an alert is kept, and labels without an element, and lists groups without a chosen rule.
func withoutTimes(t *testing.T, p *program, path string) any {
	t.Helper()
	status, body, err := p.get(path)
	if err != nil || status != http.StatusOK {
		t.Fatalf("GET %s = %d, %v, want 200", path, status, err)
	}
	var value any
	if err := json.Unmarshal([]byte(body), &value); err != nil {
		t.Fatal(err)
	}
	hideTimes(value)
	return value
}

func hideTimes(value any) {
	switch value := value.(type) {
	case map[string]any:
		delete(value, "keepFiringSince")
		if groups, ok := value["groups"].([]any); ok {
			value["groups"] = slices.DeleteFunc(groups, func(g any) bool { return len(g.(map[string]any)["rules"].([]any)) == 0 })
		}
		if labels, ok := value["labels"].(map[string]any); ok && len(labels) == 0 {
			delete(value, "labels")
		}
		for _, key := range []string{"activeAt", "evaluationTime", "lastEvaluation", "lastError"} {
			if value[key] != nil {
				value[key] = fmt.Sprintf("a %T", value[key])
			}
		}
		for _, child := range value {
			hideTimes(child)
		}
	case []any:
		for _, child := range value {
			hideTimes(child)
		}
	}
}

// TestRulesAPIIsThatOfPrometheus compares /api/v1/rules and /api/v1/alerts with those of a
// Prometheus that has the same rule file and the same samples: only times differ.
func TestRulesAPIIsThatOfPrometheus(t *testing.T) {
	t.Parallel()
	target, end := comparedTarget(t)
	d, prometheus := startCompared(t, target)
	agree := func(what string, states ...string) {
		t.Helper()
		await(t, what, time.Minute, func() error {
			for _, path := range []string{"/api/v1/rules", "/api/v1/rules?type=alert", "/api/v1/rules?type=record", "/api/v1/alerts"} {
				if diff := cmp.Diff(withoutTimes(t, prometheus, path), withoutTimes(t, d.program, path)); diff != "" {
					return fmt.Errorf("GET %s (-Prometheus +Vitals):\n%s", path, diff)
				}
			}
			_, body, err := d.get("/api/v1/rules")
			for _, state := range states {
				if !strings.Contains(body, state) {
					return fmt.Errorf("no rule is %s: %s, %v", state, body, err)
				}
			}
			return nil
		})
	}
	agree("the same while rules fire", `"state": "firing"`, `"state": "pending"`, `"state": "inactive"`, `"health": "err"`)
	end()
	agree("the same while keep_firing_for keeps an alert", `"keepFiringSince": "`)
}
