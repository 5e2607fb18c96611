//go:build e2e

package e2e_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

const (
	// collectionTime is the longest interval of a collector together with its timeout, as
	// testdata/vitals.yml sets them.
	collectionTime = 6 * time.Second
	// slack is for the second between two evaluations, the poll, and the delays of a busy
	// machine.
	slack = time.Minute
)

// fault is one row of the failure table: the broken part and the expected consequences.
type fault struct {
	// stack and name are the script and the fault of it.
	stack, name string
	// dependency is down, for one of the reasons. Empty: every dependency stays up.
	dependency string
	reasons    []string
	// rule is the one that fails.
	rule string
	// series are further values of the metrics while the fault lasts.
	series map[string]float64
	// settle is how long the broken program itself needs until the fault shows, or until
	// it is gone.
	settle time.Duration
}

var faults = []fault{
	{stack: "openstack", name: "keystone-stopped", dependency: "keystone", reasons: []string{"refused"}, rule: "KeystoneDown"},
	{stack: "openstack", name: "keystone-frozen", dependency: "keystone", reasons: []string{"timeout"}, rule: "KeystoneDown"},
	// The token that is held is refused with 500; a new authentication gets an empty reply.
	{stack: "openstack", name: "keystone-database-gone", dependency: "keystone", reasons: []string{"protocol", "server_error"}, rule: "KeystoneDown"},
	{stack: "openstack", name: "keystone-keys-gone", dependency: "keystone", reasons: []string{"server_error"}, rule: "KeystoneDown"},
	{stack: "openstack", name: "password-changed", dependency: "keystone", reasons: []string{"auth"}, rule: "KeystoneDown"},
	{stack: "openstack", name: "neutron-stopped", dependency: "neutron", reasons: []string{"refused"}, rule: "NeutronDown"},
	{stack: "openstack", name: "neutron-frozen", dependency: "neutron", reasons: []string{"timeout"}, rule: "NeutronDown"},
	{stack: "openstack", name: "neutron-database-gone", dependency: "neutron", reasons: []string{"server_error"}, rule: "NeutronDown"},
	{stack: "openstack", name: "endpoint-missing", dependency: "neutron", reasons: []string{"missing_endpoint"}, rule: "NeutronDown"},
	{stack: "openstack", name: "service-account-broken", dependency: "neutron", reasons: []string{"server_error"}, rule: "NeutronDown"},
	{stack: "openstack", name: "port-quota-exhausted", rule: "QuotaExhausted", series: map[string]float64{
		series("vitals_neutron_quota_limit", "dependency", "neutron", "resource", "port"): 1,
		series("vitals_neutron_quota_used", "dependency", "neutron", "resource", "port"):  1,
	}},

	{stack: "kubernetes", name: "apiserver-killed", dependency: "kubernetes", reasons: []string{"refused"}, rule: "KubernetesDown"},
	{stack: "kubernetes", name: "apiserver-frozen", dependency: "kubernetes", reasons: []string{"timeout"}, rule: "KubernetesDown"},
	{stack: "kubernetes", name: "token-rejected", dependency: "kubernetes", reasons: []string{"auth"}, rule: "KubernetesDown"},
	// The API server answers; it is the account that may not do what the workload needs.
	{stack: "kubernetes", name: "role-removed", rule: "KubernetesAccessDenied", settle: 10 * time.Second, series: map[string]float64{
		series("vitals_kubernetes_access_allowed", "dependency", "kubernetes", "verb", "list", "resource", "pods"):       0,
		series("vitals_kubernetes_access_allowed", "dependency", "kubernetes", "verb", "watch", "resource", "services"):  0,
		series("vitals_kubernetes_watch_connected", "dependency", "kubernetes", "resource", "pods"):                      0,
		series("vitals_kubernetes_watch_failure", "dependency", "kubernetes", "resource", "pods", "reason", "forbidden"): 1,
	}},
	{stack: "kubernetes", name: "crd-removed", rule: "CRDMissing", series: map[string]float64{
		series("vitals_kubernetes_crd_present", "dependency", "kubernetes", "crd", "kuryrports.openstack.org"):    0,
		series("vitals_kubernetes_crd_present", "dependency", "kubernetes", "crd", "kuryrnetworks.openstack.org"): 1,
	}},
	// The API server notices after seconds that its store is silent, and then answers
	// its readiness later than a collector waits.
	{stack: "kubernetes", name: "etcd-stopped", dependency: "kubernetes", reasons: []string{"server_error", "timeout"}, rule: "KubernetesDown", settle: 15 * time.Second},
	{stack: "kubernetes", name: "etcd-frozen", dependency: "kubernetes", reasons: []string{"server_error", "timeout"}, rule: "KubernetesDown", settle: 15 * time.Second},
}

// TestFaults breaks one thing at a time and heals it. Each fault has to show, within a
// collection and the rule's for, in the reason gauge, in the rule and in the verdict; it may
// show in nothing else; and all of it has to pass when the fault is healed.
func TestFaults(t *testing.T) {
	vitals, rules := startVitals(t), shippedRules(t)
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			rule := rules.readiness(t, f.rule)
			vitals.awaitHealthy(t)
			vitals.staysAlive(t)
			heal := broken(t, f.stack, f.name)
			took := await(t, "the fault shows", collectionTime+time.Duration(rule.For)+f.settle+slack, func() error { return f.shows(vitals) })
			t.Logf("not ready %s after the fault (for: %s)", took.Round(100*time.Millisecond), rule.For)
			heal()
			took = await(t, "the fault has passed", collectionTime+time.Duration(rule.KeepFiringFor)+f.settle+slack, func() error { return f.passed(vitals) })
			t.Logf("ready %s after the cure", took.Round(100*time.Millisecond))
		})
	}
}

// shows returns an error for each consequence of the fault that is missing.
func (f fault) shows(d daemon) error {
	m, err := d.metrics()
	if err != nil {
		return err
	}
	var problems []error
	if f.dependency != "" {
		problems = append(problems, m.want(0, "vitals_dependency_up", "dependency", f.dependency), f.reason(m))
	}
	for key, want := range f.series {
		if got, ok := m[key]; !ok || got != want {
			problems = append(problems, fmt.Errorf("%s = %g (present: %t), want %g", key, got, ok, want))
		}
	}
	if got := m.statusOf(f.rule, "ready"); got != "failing" {
		problems = append(problems, fmt.Errorf("rule %s is %q, want failing", f.rule, got))
	}
	problems = append(problems, f.spared(m), f.probe(d))
	return errors.Join(problems...)
}

// reason returns an error unless exactly one of the expected reasons is set.
func (f fault) reason(m metrics) error {
	var got []string
	for key, v := range m {
		if v == 1 && strings.HasPrefix(key, "vitals_dependency_failure{dependency=\""+f.dependency+"\"") {
			_, reason, _ := strings.Cut(key, "reason=\"")
			got = append(got, strings.TrimSuffix(reason, "\"}"))
		}
	}
	if len(got) != 1 || !slices.Contains(f.reasons, got[0]) {
		return fmt.Errorf("reasons of %s = %q, want one of %q", f.dependency, got, f.reasons)
	}
	return nil
}

// spared returns an error if the fault affects a dependency that it must not affect. Only
// Neutron needs another one: it checks every token at Keystone.
func (f fault) spared(m metrics) error {
	var problems []error
	for _, other := range []string{"keystone", "neutron", "kubernetes"} {
		if other != f.dependency && (other != "neutron" || f.dependency != "keystone") {
			problems = append(problems, m.want(1, "vitals_dependency_up", "dependency", other))
		}
	}
	return errors.Join(problems...)
}

// probe returns an error unless the readiness probe fails and names the rule.
func (f fault) probe(d daemon) error {
	status, body, err := d.get("/ready?verbose")
	if err != nil {
		return err
	}
	if status != http.StatusServiceUnavailable && status != http.StatusInternalServerError {
		err = fmt.Errorf("GET /ready?verbose = %d, want 503 or 500", status)
	}
	if !strings.Contains(body, "[-]"+f.rule+" ") {
		err = errors.Join(err, fmt.Errorf("GET /ready?verbose does not name %s:\n%s", f.rule, body))
	}
	return err
}

// passed returns an error for each trace that is left of the fault.
func (f fault) passed(d daemon) error {
	m, err := d.metrics()
	if err != nil {
		return err
	}
	problems := []error{d.want("/ready", http.StatusOK)}
	for _, dependency := range []string{"keystone", "neutron", "kubernetes"} {
		problems = append(problems, m.want(1, "vitals_dependency_up", "dependency", dependency))
	}
	for key, v := range m {
		if v == 1 && strings.HasPrefix(key, "vitals_dependency_failure{") {
			problems = append(problems, fmt.Errorf("%s = 1, want 0", key))
		}
	}
	if got := m.statusOf(f.rule, "ready"); got != "ok" {
		problems = append(problems, fmt.Errorf("rule %s is %q, want ok", f.rule, got))
	}
	return errors.Join(problems...)
}
