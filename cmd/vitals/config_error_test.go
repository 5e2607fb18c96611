package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/internal/sdnotify/sdnotifytest"
)

// TestServeOnConfigError starts with mistakes of several kinds. The liveness of the workload
// passes, ready fails with the mistake, and the corrected file is loaded.
func TestServeOnConfigError(t *testing.T) {
	tests := []struct{ name, config, rules, want string }{
		{"an unknown key", "colectors: []\n", markerRules, `unknown key "colectors", did you mean "collectors"?`},
		{"a rule file that does not exist", "rule_files: [nothing.yml]\n", markerRules, `rule file "nothing.yml" matches no file`},
		{"a rule that is not PromQL", "rule_files: [rules.yml]\n", "groups: [{name: g, rules: [{alert: A, expr: 'x ==', labels: {state: ready}}]}]\n", "rules.yml:1:"},
		{"a collector that cannot be made", "collectors: [{name: api, kubernetes: {kubeconfig: /nowhere, watch: [pods]}}]\n", markerRules, `collector "api": `},
		{"no file", "", markerRules, "vitals.yml: there is no such file"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if tt.config != "" {
				write(t, dir, "vitals.yml", tt.config)
			}
			write(t, dir, "rules.yml", tt.rules)
			p := runVitals(t, filepath.Join(dir, "vitals.yml"), "--on-config-error=serve", "--config.poll-interval=100ms")
			for _, state := range []string{"/alive", "/started"} {
				eventually(t, state+" to pass", func() bool { code, _ := p.get(state); return code == 200 })
			}
			if code, body := p.get("/ready"); code != 503 || !strings.HasPrefix(body, "invalid configuration: ") || !strings.Contains(body, tt.want) {
				t.Errorf("/ready = %d %q, want 503 with %q", code, body, tt.want)
			}
			_, metrics := p.get("/metrics")
			for _, sample := range []string{"vitals_config_last_reload_successful 0", "vitals_config_last_reload_success_timestamp_seconds 0"} {
				if !strings.Contains(metrics, "\n"+sample+"\n") {
					t.Errorf("/metrics has no %q", sample)
				}
			}
			write(t, dir, "vitals.yml", "colectors: []\nanother: mistake\n")
			eventually(t, "ready to fail with the second mistake", func() bool { _, body := p.get("/ready"); return strings.Contains(body, `unknown key "another"`) })
			write(t, dir, "rules.yml", markerRules)
			write(t, dir, "vitals.yml", markers+"server: {failing_status: 500}\n")
			p.waitReady()
			write(t, dir, "bad", "")
			eventually(t, "the configured status", func() bool { code, _ := p.get("/ready"); return code == 500 })
		})
	}
}

// A file that a collector reads when it is made, such as a mounted credential, may come later:
// alive passes, so nothing restarts the process. The mistake is logged once.
func TestServeUntilACollectorCanBeMade(t *testing.T) {
	dir := t.TempDir()
	kubeconfig := filepath.Join(dir, "kubeconfig")
	manager := sdnotifytest.Listen(t, filepath.Join(collectortest.Dir(t), "notify"))
	config := write(t, dir, "vitals.yml", "collectors: [{name: api, kubernetes: {kubeconfig: "+kubeconfig+"}}]\n")
	p := runVitals(t, config, "--on-config-error=serve", "--config.poll-interval=50ms")
	eventually(t, "ready to fail with the mistake", func() bool { _, body := p.get("/ready"); return strings.Contains(body, `collector "api": `) })
	for range 5 {
		manager.Await("READY=1") // the end of an attempt to load it
	}
	if n := strings.Count(p.log.String(), "configuration is"); n != 1 {
		t.Errorf("the mistake was logged %d times, want once", n)
	}
	write(t, dir, "kubeconfig", `{clusters: [{name: c, cluster: {server: "http://127.0.0.1:1"}}], contexts: [{name: c, context: {cluster: c}}], current-context: c}`)
	eventually(t, "the configuration to be loaded", func() bool {
		_, body := p.get("/metrics")
		return strings.Contains(body, "\nvitals_config_last_reload_successful 1\n")
	})
}
