//go:build e2e

package e2e_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

const (
	// explosionLimit is the memory limit of the shipped manifests, in MiB.
	explosionLimit = 128
	// explosionTime is how long the explosion lasts. Without a bound of the memory, the kernel
	// kills the process in 21 s.
	explosionTime = 75 * time.Second
	// largeTargets is the number of targets whose answers have 8 MiB.
	largeTargets = 20
)

const explosionRules = `
groups:
  - name: g
    rules:
      - {alert: SteadyDown, expr: 'vitals_scrape_up{component="steady"} == 0', labels: {state: alive}, annotations: {summary: The steady target is down.}}
      - {alert: SteadyStops, expr: 'changes(work[30s]) == 0', labels: {state: ready}, annotations: {summary: The steady target stops.}}
      - {alert: Busy, expr: 'sum(rate(requests[1m])) > 1e9', labels: {severity: warning}, annotations: {summary: Many requests.}}
      - {alert: Kept, expr: 'requests == 1', keep_firing_for: 1m, labels: {severity: warning}, annotations: {summary: A request.}}
`

// startExplosion runs Vitals in a cgroup, with targets that explode while the switch is set.
func startExplosion(t *testing.T, explodes *atomic.Bool) daemon {
	t.Helper()
	var n atomic.Int64
	targets := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		switch scrape := n.Add(1); {
		case r.URL.Path == "/steady":
			fmt.Fprintf(w, "work %d\n", scrape)
		case r.URL.Path == "/large":
			line := "# " + strings.Repeat("x", 1022) + "\n"
			for range 8 << 10 {
				_, _ = io.WriteString(w, line)
			}
		case explodes.Load():
			for i := range 10_000 {
				fmt.Fprintf(w, "requests{id=\"%d-%d\",method=\"GET\",path=\"/api/v1/things\"} 1\n", scrape, i)
			}
		default:
			fmt.Fprintln(w, "requests{id=\"none\"} 0")
		}
	}))
	t.Cleanup(targets.Close)
	dir := shortDirectory(t, "")
	config := "rule_files: [rules.yml]\ncollectors:\n"
	add := func(name, times, path, more string) {
		config += fmt.Sprintf("  - {name: %s, %s, scrape: {url: '%s/%s'%s}}\n", name, times, targets.URL, path, more)
	}
	add("raised", "interval: 1s, timeout: 1s", "explosive", ", sample_limit: 1000000")
	add("limited", "interval: 1s, timeout: 1s", "explosive", "")
	add("steady", "interval: 5s, timeout: 5s", "steady", "")
	for i := range largeTargets {
		add(fmt.Sprint("large-", i), "interval: 10s, timeout: 5s", "large", "")
	}
	write(t, filepath.Join(dir, "rules.yml"), explosionRules)
	write(t, filepath.Join(dir, "vitals.yml"), config)
	return runLimited(t, filepath.Join(dir, "vitals.yml"), dir)
}

// runLimited runs Vitals in a cgroup with the memory limit of the shipped manifests.
func runLimited(t *testing.T, config, dir string) daemon {
	t.Helper()
	c := newMemoryCgroup(t)
	c.limit(t, explosionLimit)
	bin := filepath.Join(dir, "vitals")
	script := "#!/bin/sh\nexec '" + strings.Join(append(c.inside(), os.Getenv("VITALS_BIN")), "' '") + "' \"$@\"\n"
	if err := os.WriteFile(bin, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return runVitals(t, bin, config, dir)
}

// spared checks that what is not exploding goes on.
func (m metrics) spared() error {
	return errors.Join(m.want(1, "vitals_collector_success", "collector", "steady"), m.want(1, "vitals_scrape_up", "component", "steady"))
}

// TestLabelExplosion has a target export 10,000 new series in each of its collections, which
// a rule has a range over, for more than a minute, in the memory of the shipped manifests. Its
// collector fails with a reason, and everything else goes on. Beside it, 20 targets send 8 MiB
// each at the same time.
func TestLabelExplosion(t *testing.T) {
	t.Parallel()
	var explodes atomic.Bool
	d := startExplosion(t, &explodes)
	await(t, "ready", time.Minute, func() error { return d.want("/ready", http.StatusOK) })
	d.staysAlive(t)
	explodes.Store(true)
	scrapes, memory, limited := 0, 0, 0
	var most float64
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for began := time.Now(); time.Since(began) < explosionTime; scrapes++ {
		m, err := d.metrics()
		if err = errors.Join(err, m.spared(), d.want("/ready", http.StatusOK)); err != nil {
			t.Fatalf("after %s: %v\n%s", time.Since(began), err, d.tail())
		}
		if m.want(1, "vitals_collector_failure", "collector", "raised", "reason", "memory") == nil ||
			m.want(1, "vitals_scrape_failure", "component", "raised", "reason", "memory") == nil {
			memory++
		}
		if m.want(1, "vitals_scrape_failure", "component", "limited", "reason", "too_many_samples") == nil {
			limited++
		}
		most = max(most, m[series("vitals_series_bytes")])
		if limit := m[series("vitals_series_limit_bytes")]; limit != explosionLimit*mebibyte/4 || most > limit {
			t.Fatalf("series take %g of %g bytes, want at most a quarter of the limit", most, limit)
		}
		<-tick.C
	}
	if memory == 0 || limited == 0 {
		t.Errorf("%d of %d scrapes show a lack of memory and %d a limit, want both", memory, scrapes, limited)
	}
	t.Logf("%d of %d scrapes show a lack of memory; series took %.1f MiB at most; %s", memory, scrapes, most/mebibyte, d.peak(t))
	explodes.Store(false)
	took := await(t, "recovered", 3*time.Minute, func() error {
		m, err := d.metrics()
		return errors.Join(err, m.spared(), m.want(1, "vitals_collector_success", "collector", "raised"), m.want(1, "vitals_collector_success", "collector", "limited"),
			m.want(0, "vitals_collector_failure", "collector", "raised", "reason", "memory"), d.want("/ready", http.StatusOK))
	})
	t.Logf("recovered after %s", took)
	await(t, "large answers", time.Minute, func() error {
		m, err := d.metrics()
		for i := range largeTargets {
			err = errors.Join(err, m.want(1, "vitals_scrape_up", "component", fmt.Sprint("large-", i)))
		}
		return err
	})
}

// peak returns the largest resident memory of the process, as the kernel has it.
func (p *program) peak(t *testing.T) string {
	t.Helper()
	return regexp.MustCompile(`VmHWM:.*`).FindString(read(t, fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid)))
}
