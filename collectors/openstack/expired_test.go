package openstack

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
)

// A Keystone that issues expired tokens costs one login in the time reauthenticate.
func TestKeystoneThatIssuesExpiredTokens(t *testing.T) {
	cloud := newFakeCloud(t)
	cloud.life = -time.Hour
	k := cloud.newKeystone(nil)
	n := cloud.newNeutron(k, nil)
	own := cloud.newNeutron(nil, nil)
	for range 60 { // ten minutes of collections every 10 s
		for i, c := range []collectors.Collector{k, n} {
			name := []string{"keystone", "neutron"}[i]
			if series, err := collect(t, c); downReason(t, series, name) != remote.ReasonProtocol || !strings.Contains(err.Error(), "tokens that Keystone issues have expired") {
				t.Fatalf("%s: reason %q (%v), want %q", name, downReason(t, series, name), err, remote.ReasonProtocol)
			}
		}
		cloud.pass(10 * time.Second)
	}
	if issued, _ := cloud.counts(); issued != 2 {
		t.Errorf("%d logins in ten minutes of two collectors, want one every five minutes", issued)
	}
	for range 30 {
		if _, err := own.Collect(context.Background()); err == nil {
			t.Fatal("Collect() = nil error with an expired token, want one")
		}
	}
	if issued, _ := cloud.counts(); issued != 3 {
		t.Errorf("%d logins after 30 collections of a neutron collector with its own login, want 3", issued)
	}
	cloud.set(func(c *fakeCloud) { c.life = time.Hour })
	cloud.pass(5 * time.Minute)
	wantUp(t, k, "keystone")
	wantUp(t, n, "neutron")
}

// A clock of Keystone that is behind lets tokens look expired. Keystone and Neutron accept them.
func TestKeystoneWhoseTokensLookExpired(t *testing.T) {
	cloud := newFakeCloud(t)
	k := cloud.newKeystone(nil)
	cloud.set(func(c *fakeCloud) { c.atKeystone = cloud.withoutIssue })
	k.session.now = func() time.Time { return cloud.now().Add(3 * time.Hour) }
	n := cloud.newNeutron(k, nil)
	for range 6 {
		wantUp(t, k, "keystone")
		wantUp(t, n, "neutron")
		cloud.pass(10 * time.Second)
	}
	if issued, _ := cloud.counts(); issued != 1 {
		t.Errorf("%d logins in a minute, want 1", issued)
	}
}
