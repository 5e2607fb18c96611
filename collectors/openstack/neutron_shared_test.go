package openstack

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
)

func TestNeutronSharesTheTokenOfKeystone(t *testing.T) {
	cloud := osNewCloud(t)
	k := cloud.newKeystone(nil)
	n := cloud.newNeutron(k, nil)
	for range 60 { // Ten minutes.
		osRecovers(t, n, "neutron")
		osRecovers(t, k, "keystone")
		cloud.pass(10 * time.Second)
	}
	if issued, _ := cloud.counts(); issued != 2 {
		t.Errorf("%d tokens in ten minutes of both collectors, want 2", issued)
	}
}

func TestNeutronReplacesARefusedTokenOnceInARound(t *testing.T) {
	cloud := osNewCloud(t)
	k := cloud.newKeystone(nil)
	n := cloud.newNeutron(k, func(c *NeutronConfig) { c.Extensions = []string{"trunk"} })
	osRecovers(t, k, "keystone")
	cloud.revoke()
	osRecovers(t, n, "neutron")
	if issued, _ := cloud.counts(); issued != 2 {
		t.Errorf("%d tokens, want 2", issued)
	}
	if diff := cmp.Diff([]string{osQuotaCall, osQuotaCall, "GET /v2.0/extensions"}, cloud.neutronCalls()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	osRecovers(t, k, "keystone")
	if issued, _ := cloud.counts(); issued != 2 {
		t.Errorf("%d tokens after the round of keystone, want 2", issued)
	}
}

func TestNeutronThatRefusesEveryToken(t *testing.T) {
	for _, shared := range []bool{true, false} {
		cloud := osNewCloud(t)
		k := cloud.newKeystone(nil)
		n := cloud.newNeutron(nil, nil)
		if shared {
			n = cloud.newNeutron(k, nil)
		}
		cloud.set(func(c *osCloud) {
			c.atNeutron = osAnswers(http.StatusUnauthorized, "application/json", osFixture(t, "neutron_401.json"))
		})
		for range 12 {
			osFault{want: remote.ReasonAuth, says: "401 Unauthorized"}.check(t, n, "neutron")
			cloud.pass(10 * time.Second)
		}
		if issued, _ := cloud.counts(); issued != 2 {
			t.Errorf("shared %v: %d tokens in 12 rounds, want 2: the first, and one more", shared, issued)
		}
		if calls := cloud.neutronCalls(); len(calls) != 13 {
			t.Errorf("shared %v: %d calls in 12 rounds, want 13", shared, len(calls))
		}
		cloud.set(func(c *osCloud) { c.atNeutron = nil })
		osRecovers(t, n, "neutron")
	}
}

func TestNeutronWithoutATokenNamesTheReasonOfKeystone(t *testing.T) {
	cloud := osNewCloud(t)
	k := cloud.newKeystone(nil)
	n := cloud.newNeutron(k, nil)
	cloud.set(func(c *osCloud) {
		c.atKeystone = osAnswers(500, "application/json", osFixture(t, "keystone_500.json"))
	})
	osFault{want: remote.ReasonServerError, says: "no token for neutron: authenticate at"}.check(t, n, "neutron")
	if calls := cloud.neutronCalls(); len(calls) > 0 {
		t.Errorf("calls without a token = %v, want none", calls)
	}
	cloud.set(func(c *osCloud) { c.atKeystone = nil })
	osRecovers(t, k, "keystone")
	osRecovers(t, n, "neutron")
}

func TestNeutronOutlivesAFrozenKeystone(t *testing.T) {
	cloud := osNewCloud(t)
	k := cloud.newKeystone(nil)
	shared, own := cloud.newNeutron(k, nil), cloud.newNeutron(nil, nil)
	osRecovers(t, k, "keystone")
	osRecovers(t, own, "neutron")
	cloud.set(func(c *osCloud) { c.atKeystone = c.hangs })
	cloud.pass(6 * time.Minute) // A new authentication is due.
	for range 2 {
		for _, n := range []*neutron{shared, own} {
			series, err := osCollectWithin(t, n, 2*time.Second) // half of it is spent on Keystone
			if got := osReason(t, series, "neutron"); got != "" || err != nil {
				t.Errorf("reason %q, error %v, want up with the token still held", got, err)
			}
		}
	}
}

func TestNeutronDoesNotWaitLongerThanItsDeadlineForAFrozenKeystone(t *testing.T) {
	cloud := osNewCloud(t)
	k := cloud.newKeystone(nil)
	n := cloud.newNeutron(k, nil)
	entered := make(chan struct{}, 1)
	cloud.set(func(c *osCloud) {
		c.atKeystone = func(w http.ResponseWriter, r *http.Request) {
			entered <- struct{}{}
			c.hangs(w, r)
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = k.Collect(ctx) // Holds the turn to log in, far beyond the deadline below.
	}()
	<-entered
	osFault{want: remote.ReasonTimeout, says: "wait for another authentication", within: 200 * time.Millisecond}.check(t, n, "neutron")
	cancel()
	<-done
}

func TestNeutronWithoutItsPeer(t *testing.T) {
	cloud := osNewCloud(t)
	n := cloud.newNeutron(nil, nil)
	n.own, n.keystone = nil, "ks"
	for _, peer := range []collectors.Collector{nil, cloud.newNeutron(nil, nil)} {
		n.peer = func(string) collectors.Collector { return peer }
		samples, err := n.Collect(t.Context())
		if len(samples) > 0 || err == nil || !strings.Contains(err.Error(), `"ks"`) {
			t.Errorf("Collect() = %v, %v, want nothing and an error that names the peer", samples, err)
		}
	}
}
