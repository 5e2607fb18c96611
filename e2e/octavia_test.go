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

const catalogServiceConfig = `
evaluation_interval: 200ms
rule_files: [rules.yml]
collectors:
  - name: %s
    interval: 3s
    timeout: 3s
    openstack: {%s, cloud: health, clouds_file: %s, reauthenticate: 3s}
`

// openstackService is a service beside Keystone, and a Vitals that checks it.
type openstackService struct {
	tcpAsking
	name string
}

// watchService starts both, the service by its verb of openstack.sh.
func watchService(t *testing.T, name, keys string) openstackService {
	t.Helper()
	stack(t, "openstack", "start")
	stack(t, "openstack", name)
	t.Cleanup(func() { stack(t, "openstack", "fault", name+"-stopped") })
	dir := shortDirectory(t, "")
	for file, text := range map[string]string{
		"vitals.yml": fmt.Sprintf(catalogServiceConfig, name, keys, filepath.Join(os.Getenv(stateVariable), "openstack", "clouds.yaml")),
		"rules.yml":  `groups: [{name: g, rules: [{alert: ServiceDown, expr: vitals_dependency_up == 0, labels: {state: ready}}]}]`,
	} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := openstackService{tcpAsking{runVitals(t, os.Getenv("VITALS_BIN"), filepath.Join(dir, "vitals.yml"), dir)}, name}
	s.staysAlive(t)
	s.state(t, "", http.StatusOK)
	return s
}

// state waits for a reason, "" for none, and for the status of ready. It returns how long that took.
func (s openstackService) state(t *testing.T, want string, status int) time.Duration {
	t.Helper()
	return await(t, s.name+" has the reason "+want, 6*time.Second+slack, func() error {
		reason, note, err := s.outcome(s.name)
		if err == nil && reason != want {
			err = fmt.Errorf("reason = %q (%s), want %q", reason, note, want)
		}
		if err != nil {
			return err
		}
		return s.want("/ready", status)
	})
}

// faults makes the faults of a service. Each has its reason, fails ready and not alive, and passes
// with the next collection after its cure.
func (s openstackService) faults(t *testing.T) {
	for _, f := range []struct{ fault, reason string }{
		{s.name + "-stopped", "refused"},
		{s.name + "-frozen", "timeout"},
		{s.name + "-database-gone", "server_error"},
		{"password-changed", "auth"},
	} {
		t.Run(f.fault, func(t *testing.T) {
			heal := broken(t, "openstack", f.fault)
			s.state(t, f.reason, http.StatusServiceUnavailable)
			heal()
			t.Logf("ready %s after the cure", s.state(t, "", http.StatusOK).Round(100*time.Millisecond))
		})
	}
}

// TestOctavia breaks a real Octavia.
func TestOctavia(t *testing.T) {
	s := watchService(t, "octavia", "service: load-balancer, load_balancers: [default/kubernetes], amphorae: true")
	s.exports(t, `vitals_openstack_api_responding{dependency="octavia"} 1`, `vitals_openstack_load_balancer_present{dependency="octavia",load_balancer="default/kubernetes"} 0`)
	s.faults(t)
}

// TestCinder breaks a real Cinder.
func TestCinder(t *testing.T) {
	s := watchService(t, "cinder", "service: block-storage")
	s.exports(t, `vitals_openstack_api_responding{dependency="cinder"} 1`)
	s.faults(t)
}
