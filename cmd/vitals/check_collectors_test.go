package main

import (
	"bytes"
	"strings"
	"testing"
)

// A plain connection has no exchange: the check names the rule that waits for one, and what there is.
func TestCheckCollectorsFindsARuleOfAnotherPhase(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "vitals.yml", "rule_files: [rules.yml]\ncollectors:\n  - name: web\n    tcp: {address: '"+silent(t)+"'}\n")
	writeFile(t, "rules.yml", `groups: [{name: g, rules: [{alert: WebSlow, expr: 'vitals_tcp_phase_duration_seconds{dependency="web", phase="exchange"} > 1', labels: {state: ready}}]}]`)
	var out, errs bytes.Buffer
	const want = `rule WebSlow: nothing was measured for vitals_tcp_phase_duration_seconds{dependency="web",phase="exchange"}; measured phase: connect`
	if code := run([]string{"check", "collectors", "--config.file=vitals.yml"}, &out, &errs); code != exitOK || !strings.Contains(out.String(), "\n"+want+"\n") {
		t.Errorf("vitals check collectors = %d, want 0 and the line %q:\n%s%s", code, want, out.String(), errs.String())
	}
}
