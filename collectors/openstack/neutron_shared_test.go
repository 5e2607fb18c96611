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
	cloud := newFakeCloud(t)
	k := cloud.newKeystone(nil)
	n := cloud.newNeutron(k, nil)
	for range 60 { // ten minutes
		wantUp(t, n, "neutron")
		wantUp(t, k, "keystone")
		cloud.pass(10 * time.Second)
	}
	if issued, _ := cloud.counts(); issued != 2 {
		t.Errorf("%d tokens in ten minutes of both collectors, want 2", issued)
	}
}

func TestNeutronReplacesARejectedTokenOncePerCollection(t *testing.T) {
	cloud := newFakeCloud(t)
	k := cloud.newKeystone(nil)
	n := cloud.newNeutron(k, func(c *NeutronConfig) { c.Extensions = []string{"trunk"} })
	wantUp(t, k, "keystone")
	cloud.revoke()
	wantUp(t, n, "neutron")
	if issued, _ := cloud.counts(); issued != 2 {
		t.Errorf("%d tokens, want 2", issued)
	}
	if diff := cmp.Diff([]string{quotaCall, quotaCall, "GET /v2.0/extensions"}, cloud.neutronCalls()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	wantUp(t, k, "keystone")
	if issued, _ := cloud.counts(); issued != 2 {
		t.Errorf("%d tokens after the collection of keystone, want 2", issued)
	}
}

func TestNeutronThatRejectsEveryToken(t *testing.T) {
	for _, shared := range []bool{true, false} {
		cloud := newFakeCloud(t)
		k := cloud.newKeystone(nil)
		n := cloud.newNeutron(nil, nil)
		if shared {
			n = cloud.newNeutron(k, nil)
		}
		cloud.set(func(c *fakeCloud) {
			c.atNeutron = responder(http.StatusUnauthorized, "application/json", readFixture(t, "neutron_401.json"))
		})
		for range 12 {
			faultCase{want: remote.ReasonAuth, text: "401 Unauthorized"}.check(t, n, "neutron")
			cloud.pass(10 * time.Second)
		}
		if issued, _ := cloud.counts(); issued != 2 {
			t.Errorf("shared %v: %d tokens in 12 collections, want 2: the first and its replacement", shared, issued)
		}
		if calls := cloud.neutronCalls(); len(calls) != 13 {
			t.Errorf("shared %v: %d calls in 12 collections, want 13", shared, len(calls))
		}
		cloud.set(func(c *fakeCloud) { c.atNeutron = nil })
		wantUp(t, n, "neutron")
	}
}

func TestNeutronWithoutATokenHasTheReasonOfKeystone(t *testing.T) {
	cloud := newFakeCloud(t)
	k := cloud.newKeystone(nil)
	n := cloud.newNeutron(k, nil)
	cloud.set(func(c *fakeCloud) {
		c.atKeystone = responder(500, "application/json", readFixture(t, "keystone_500.json"))
	})
	faultCase{want: remote.ReasonServerError, text: "no token for neutron: authenticate at"}.check(t, n, "neutron")
	if calls := cloud.neutronCalls(); len(calls) > 0 {
		t.Errorf("calls without a token = %v, want none", calls)
	}
	cloud.set(func(c *fakeCloud) { c.atKeystone = nil })
	wantUp(t, k, "keystone")
	wantUp(t, n, "neutron")
}

func TestNeutronIsMeasuredWhileKeystoneHangs(t *testing.T) {
	cloud := newFakeCloud(t)
	k := cloud.newKeystone(nil)
	shared, own := cloud.newNeutron(k, nil), cloud.newNeutron(nil, nil)
	wantUp(t, k, "keystone")
	wantUp(t, own, "neutron")
	cloud.set(func(c *fakeCloud) { c.atKeystone = c.hangs })
	cloud.pass(6 * time.Minute) // a new authentication is due
	for range 2 {
		for _, n := range []*neutron{shared, own} {
			series, err := collectWithin(t, n, 2*time.Second) // half of it is for Keystone
			if got := downReason(t, series, "neutron"); got != "" || err != nil {
				t.Errorf("reason %q, error %v, want up with the held token", got, err)
			}
		}
	}
}

func TestNeutronWaitsForKeystoneUntilItsDeadlineOnly(t *testing.T) {
	cloud := newFakeCloud(t)
	k := cloud.newKeystone(nil)
	n := cloud.newNeutron(k, nil)
	entered := make(chan struct{}, 1)
	cloud.set(func(c *fakeCloud) {
		c.atKeystone = func(w http.ResponseWriter, r *http.Request) {
			entered <- struct{}{}
			c.hangs(w, r)
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = k.Collect(ctx) // its login lasts longer than the deadline below
	}()
	<-entered
	faultCase{want: remote.ReasonTimeout, text: "wait for another authentication", within: 200 * time.Millisecond}.check(t, n, "neutron")
	cancel()
	<-done
}

func TestNeutronWithoutItsPeer(t *testing.T) {
	cloud := newFakeCloud(t)
	n := cloud.newNeutron(nil, nil)
	n.own, n.keystone = nil, "ks"
	for _, peer := range []collectors.Collector{nil, cloud.newNeutron(nil, nil)} {
		n.peer = func(string) collectors.Collector { return peer }
		samples, err := n.Collect(t.Context())
		if len(samples) > 0 || err == nil || !strings.Contains(err.Error(), `"ks"`) {
			t.Errorf("Collect() = %v, %v, want nothing and an error with the peer", samples, err)
		}
	}
}
