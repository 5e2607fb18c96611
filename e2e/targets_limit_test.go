//go:build e2e

package e2e_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const (
	// targetsThatFit is how many targets check config and the start accept with explosionLimit.
	targetsThatFit = 2048
	// targetsTime is how long probes are measured after half of them are replaced, which is done twice.
	targetsTime = 20 * time.Second
)

// TestTargetsThatFit checks as many HTTP servers as a memory limit of 128 MiB allows, each with a
// series of its own name. The kernel does not kill the process, and its probes are in time.
func TestTargetsThatFit(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(server.Close)
	dir := shortDirectory(t, "")
	targets := func(name string) {
		var b strings.Builder
		for i := range targetsThatFit {
			kind := "old"
			if i%2 == 0 {
				kind = name
			}
			fmt.Fprintf(&b, "- {targets: ['%s/health/of/the/workload/%d'], labels: {name: a-workload-with-a-long-name-%s-%d}}\n", server.URL, i, kind, i)
		}
		write(t, filepath.Join(dir, "targets.yml"), b.String())
	}
	targets("first")
	write(t, filepath.Join(dir, "rules.yml"), "groups: [{name: g, rules: [{alert: Down, expr: 'sum(vitals_dependency_up == bool 0) > 5', labels: {state: ready}}]}]\n")
	write(t, filepath.Join(dir, "vitals.yml"), fmt.Sprintf("rule_files: [rules.yml]\ncollectors:\n  - name: workloads\n    interval: 15s\n    timeout: 15s\n    http: {concurrency: 50, discovery: {files: [%s/targets.yml], limit: %d}}\n", dir, targetsThatFit))
	d := runLimited(t, filepath.Join(dir, "vitals.yml"), dir)
	measured := func(name string) func() error {
		return func() error {
			m, err := d.metrics()
			return errors.Join(err, m.want(targetsThatFit, "vitals_discovery_targets", "collector", "workloads"),
				m.want(1, "vitals_dependency_up", "dependency", fmt.Sprintf("a-workload-with-a-long-name-%s-%d", name, targetsThatFit-2)), d.want("/ready", http.StatusOK))
		}
	}
	await(t, "all targets are measured", time.Minute, measured("first"))
	d.staysAlive(t)
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for _, name := range []string{"second", "third"} {
		targets(name)
		await(t, "other targets are measured", time.Minute, measured(name))
		for began := time.Now(); time.Since(began) < targetsTime; <-tick.C {
			start := time.Now()
			if err := d.want("/ready", http.StatusOK); err != nil {
				t.Fatalf("%v\n%s", err, d.tail())
			}
			if took := time.Since(start); took > time.Second {
				t.Errorf("a probe took %s, want at most a second, the time-out of a kubelet", took)
			}
		}
	}
	t.Log(d.peak(t))
}
