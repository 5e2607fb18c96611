package main

import (
	"bytes"
	"fmt"
	"net"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// silent is the address of a server that accepts and sends nothing.
func silent(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() }) // the kernel accepts until its queue is full
	return ln.Addr().String()
}

// One evaluation without evidence never passes, whatever the rules define for missing data.
func TestOnceIsNeverVacuous(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rule := func(state, expr string) string {
		return fmt.Sprintf("{alert: R, expr: '%s', labels: {state: %s}}", expr, state)
	}
	const file = "{name: here, file: {path: /}}"
	hangs := "{name: hangs, interval: 1m, timeout: 1m, scrape: {url: 'http://" + silent(t) + "/metrics'}}"
	tests := []struct {
		name, state, collectors, rule string
		codes                         [4]int
		want                          string
	}{
		{"E88 no rules", "ready", file, "", [4]int{8, 1, 121, 3}, "no rules 8 ready: no rules: nothing was judged\n"},
		{"E88 no rules for alive, which no daemon proves", "alive", file, "", [4]int{8, 1, 121, 3}, "no rules 8 alive: no rules: nothing was judged\n"},
		{"E88 a rule that is only observed", "alive", file, "{alert: R, expr: vitals_file_exists == 0, labels: {state: alive}, annotations: {mode: observe}}", [4]int{8, 1, 121, 3}, "no rules 8 alive: no rules"},
		{"E89 a dependency that does not answer", "ready", hangs, rule("ready", "up == 0"), [4]int{5, 1, 124, 2}, "timeout 5 ready: no result of hangs within 2s\nR unknown: no data for up ("},
		{"E89 and a rule that has evidence nevertheless", "ready", hangs + ", " + file, rule("ready", "absent(vitals_file_exists)"), [4]int{5, 1, 124, 2}, "timeout 5 ready: no result of hangs within 2s\n"},
		{"E89 and a state that passes without data", "alive", hangs, rule("alive", "up == 0"), [4]int{5, 1, 124, 2}, "timeout 5 alive: no result of hangs within 2s\n"},
		{"E89 and a liveness that it does not concern", "alive", hangs + ", " + file, rule("alive", "vitals_file_exists == 0"), [4]int{0, 0, 0, 0}, "ok 0 alive: 1 rule, since "},
		{"E89 and a rule that fails already", "ready", hangs + ", " + file, rule("ready", "vitals_file_exists == 1"), [4]int{1, 1, 120, 2}, "failing 1 R failing (value 1, since "},
		{"nothing is wrong", "ready", file, rule("ready", "vitals_file_exists == 0"), [4]int{0, 0, 0, 0}, "ok 0 ready: 1 rule, since "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			write(t, dir, "rules.yml", "groups: [{name: g, rules: ["+tt.rule+"]}]\n")
			config := write(t, dir, "vitals.yml", "rule_files: [rules.yml]\ncollectors: ["+tt.collectors+"]\n")
			timeout := "--timeout=1m"
			if strings.Contains(tt.collectors, hangs) {
				timeout = "--timeout=2s" // within which a busy machine gets the other results
			}
			var all sync.WaitGroup
			for i, style := range styles() {
				all.Go(func() {
					var out, errs bytes.Buffer
					code := run([]string{"once", tt.state, "--config.file=" + config, timeout, "--style=" + style}, &out, &errs)
					if code != tt.codes[i] {
						t.Errorf("vitals once --style=%s = %d, want %d:\n%s%s", style, code, tt.codes[i], out.String(), errs.String())
					}
					if style == "plain" && !strings.HasPrefix(out.String(), tt.want) {
						t.Errorf("vitals once printed %q, want %q", out.String(), tt.want)
					}
				})
			}
			all.Wait()
		})
	}
}

// A collector that may take longer than the command has its share of the command's time, and
// reports what it waited for.
func TestOnceReportsWhatHangs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "rules.yml", `groups: [{name: g, rules: [{alert: ScriptHangs, expr: 'vitals_script_failure{reason="timeout"} == 1', labels: {state: ready}, annotations: {summary: "{{ $labels.script }} did not end"}}]}]`)
	config := write(t, dir, "vitals.yml", `{rule_files: [rules.yml], collectors: [{name: hangs, interval: 10s, timeout: 5s, script: {command: [/bin/sleep, "1000"]}}]}`)
	const want = `^failing 1 ScriptHangs failing: hangs did not end \(value 1, since .*\): run /bin/sleep: killed after [\d.]+m?s`
	var code int
	var out string
	for range 5 {
		p := launch(t, "once", "ready", "--config.file="+config, "--timeout=2500ms")
		// The share ends 250 ms before the time of the command: a busy machine may be late.
		if code, out = p.exit(), p.log.String(); code != 5 {
			break
		}
	}
	if code != 1 || !regexp.MustCompile(want).MatchString(out) {
		t.Errorf("vitals once = %d, %s, want 1, %s", code, out, want)
	}
}
