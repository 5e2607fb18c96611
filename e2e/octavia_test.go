//go:build e2e

package e2e_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"
)

const octaviaConfig = `
evaluation_interval: 200ms
rule_files: [rules.yml]
collectors:
  - name: octavia
    interval: 3s
    timeout: 3s
    openstack: {service: load-balancer, cloud: health, clouds_file: %s, reauthenticate: 3s, load_balancers: [default/kubernetes], amphorae: true}
`

// TestOctavia breaks a real Octavia. Each fault has its reason, fails ready and not alive, and passes
// with the next collection after its cure.
func TestOctavia(t *testing.T) {
	stack(t, "openstack", "start")
	stack(t, "openstack", "octavia")
	t.Cleanup(func() { stack(t, "openstack", "fault", "octavia-stopped") })
	dir := shortDirectory(t, "")
	for file, text := range map[string]string{
		"vitals.yml": fmt.Sprintf(octaviaConfig, filepath.Join(os.Getenv(stateVariable), "openstack", "clouds.yaml")),
		"rules.yml":  `groups: [{name: g, rules: [{alert: OctaviaDown, expr: vitals_dependency_up == 0, labels: {state: ready}}]}]`,
	} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	a := tcpAsking{runVitals(t, os.Getenv("VITALS_BIN"), filepath.Join(dir, "vitals.yml"), dir)}
	a.staysAlive(t)
	within := 6*time.Second + slack
	state := func(t *testing.T, want string, status int) time.Duration {
		t.Helper()
		return await(t, "octavia has the reason "+want, within, func() error {
			reason, note, err := a.outcome("octavia")
			if err == nil && reason != want {
				err = fmt.Errorf("reason = %q (%s), want %q", reason, note, want)
			}
			if err != nil {
				return err
			}
			return a.want("/ready", status)
		})
	}
	state(t, "", http.StatusOK)
	a.exports(t, `vitals_openstack_api_responding{dependency="octavia"} 1`, `vitals_openstack_load_balancer_present{dependency="octavia",load_balancer="default/kubernetes"} 0`)
	for _, f := range []struct{ fault, reason string }{
		{"octavia-stopped", "refused"},
		{"octavia-frozen", "timeout"},
		{"octavia-database-gone", "server_error"},
		{"password-changed", "auth"},
	} {
		t.Run(f.fault, func(t *testing.T) {
			heal := broken(t, "openstack", f.fault)
			state(t, f.reason, http.StatusServiceUnavailable)
			heal()
			t.Logf("ready %s after the cure", state(t, "", http.StatusOK).Round(100*time.Millisecond))
		})
	}
}
