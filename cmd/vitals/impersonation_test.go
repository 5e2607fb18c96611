package main

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
)

// TestATargetThatPosesAsAComponent scrapes a target that exports the failure of a component,
// and a metric of its own that is stamped nine minutes ahead. The first must not fail alive,
// the second must fail ready.
func TestATargetThatPosesAsAComponent(t *testing.T) {
	t.Parallel()
	target := metricsTarget(t, func(w io.Writer) {
		_, _ = fmt.Fprintf(w, "vitals_component_alive{component=\"watcher\"} 0\napp_up{component=\"watcher\"} 0 %d\n", time.Now().Add(9*time.Minute).UnixMilli())
	})
	dir, config := markerConfig(t)
	write(t, dir, "vitals.yml", `
evaluation_interval: 100ms
rule_files: [rules.yml]
collectors:
  - {name: parts, components: {expect: [watcher]}}
  - {name: target, scrape: {url: "`+target+`"}}
`)
	write(t, dir, "rules.yml", `
groups:
  - name: g
    rules:
      - {alert: WatcherDead, expr: 'vitals_component_alive{component="watcher"} == 0', labels: {state: alive}, annotations: {no_data: pass}}
      - {alert: AppDown, expr: 'app_up{component="target",exported_component="watcher"} == 0', labels: {state: ready}}
`)
	p := runVitals(t, config)
	eventually(t, "ready to fail with the metric of the target", func() bool {
		code, body := p.get("/ready")
		return code == 503 && strings.HasPrefix(body, "AppDown failing (value 0, since ")
	})
	if code, body := p.get("/alive"); code != 200 {
		t.Errorf("/alive = %d %q, want 200: the target has no part in it", code, body)
	}
	_, metrics := p.get("/metrics")
	for want, shown := range map[string]bool{
		`vitals_scrape_reserved_samples{component="target"} 1`: true,
		`vitals_component_alive{component="watcher"} 0`:        false,
	} {
		if strings.Contains(metrics, want) != shown {
			t.Errorf("/metrics has %s: %t, want %t", want, !shown, shown)
		}
	}
}
