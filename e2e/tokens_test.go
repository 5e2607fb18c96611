//go:build e2e

package e2e_test

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"
)

// dependenciesUp returns an error for each dependency that is down.
func dependenciesUp(m metrics, names ...string) error {
	var problems []error
	for _, name := range names {
		problems = append(problems, m.want(1, "vitals_dependency_up", "dependency", name))
	}
	return errors.Join(problems...)
}

// expiry returns when the Keystone token ends, in seconds since the epoch; zero where
// none is held.
func (m metrics) expiry() float64 {
	return m[series("vitals_keystone_token_expiry_timestamp_seconds", "dependency", "keystone")]
}

// TestRevokedToken takes the token away from the daemon, which gets itself another.
func TestRevokedToken(t *testing.T) {
	vitals := startVitals(t)
	vitals.awaitHealthy(t)
	vitals.staysAlive(t)
	before, err := vitals.metrics()
	if err != nil {
		t.Fatal(err)
	}
	if before.expiry() == 0 {
		t.Fatal("no token is held before the fault")
	}
	broken(t, "openstack", "tokens-revoked")
	await(t, "a new token works", 2*collectionTime+slack, func() error {
		now, err := vitals.metrics()
		if err != nil {
			return err
		}
		if now.expiry() <= before.expiry() {
			return fmt.Errorf("token ends at %.0f, want later than the revoked one, %.0f", now.expiry(), before.expiry())
		}
		return errors.Join(dependenciesUp(now, "keystone", "neutron"), vitals.want("/ready", http.StatusOK))
	})
}

// TestShortLivedTokens lets tokens end after 15 seconds: each has to be replaced before
// that, so that no request has an expired token.
func TestShortLivedTokens(t *testing.T) {
	broken(t, "openstack", "tokens-short-lived")
	vitals := startVitals(t)
	vitals.awaitHealthy(t)
	vitals.staysAlive(t)
	var first float64
	await(t, "two tokens are replaced", time.Minute, func() error {
		now, err := vitals.metrics()
		if err != nil {
			return err
		}
		for _, name := range []string{"keystone", "neutron"} {
			if err := now.want(0, "vitals_dependency_failure", "dependency", name, "reason", "auth"); err != nil {
				t.Errorf("a token ended before it was replaced: %v", err)
			}
		}
		if first == 0 {
			first = now.expiry()
		}
		if later := now.expiry() - first; later < 20 {
			return fmt.Errorf("the token ends %gs later than the first one, want at least 20s", later)
		}
		return errors.Join(dependenciesUp(now, "keystone", "neutron"), vitals.want("/ready", http.StatusOK))
	})
}

// TestRotatedToken replaces the Kubernetes token in its file; the old one is refused
// from then on.
func TestRotatedToken(t *testing.T) {
	vitals := startVitals(t)
	vitals.awaitHealthy(t)
	vitals.staysAlive(t)
	heal := broken(t, "kubernetes", "token-rotated")
	accepted := func() error {
		now, err := vitals.metrics()
		if err != nil {
			return err
		}
		return errors.Join(dependenciesUp(now, "kubernetes"), vitals.want("/ready", http.StatusOK),
			now.want(1, "vitals_kubernetes_watch_connected", "dependency", "kubernetes", "resource", "pods"),
			now.want(1, "vitals_kubernetes_watch_connected", "dependency", "kubernetes", "resource", "services"))
	}
	await(t, "the new token works", time.Minute, accepted)
	heal()
	await(t, "the first token works again", time.Minute, accepted)
}
