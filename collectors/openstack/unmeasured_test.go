package openstack

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vitals-health/vitals/collectors/remote"
)

// A quota that is not in a response leaves no sample of an earlier collection, and counts as not
// measured.
func TestUnmeasuredQuota(t *testing.T) {
	cloud := newFakeCloud(t)
	n := cloud.newNeutron(nil, func(c *NeutronConfig) { c.Resources = []string{"port"} })
	const measured = `vitals_neutron_quota_measured{resource="port"}`
	respondWith := func(body string) http.HandlerFunc { return responder(200, "application/json", body) }
	for _, test := range []struct {
		name    string
		handler http.HandlerFunc
		reason  remote.Reason
		others  int // samples of the quota beside measured
	}{
		{"without port", respondWith(`{"quota": {"network": {"limit": 5, "used": 1, "reserved": 0}}}`), "", 0},
		{"empty", respondWith(`{"quota": {}}`), "", 0},
		{"port is null", respondWith(`{"quota": {"port": null}}`), "", 0},
		{"without the limit", respondWith(`{"quota": {"port": {"used": 1, "reserved": 0}}}`), "", 2},
		{"without the used part", respondWith(`{"quota": {"port": {"limit": 5, "reserved": 0}}}`), "", 3},
		{"cut off", respondWith(`{"quota": {"port": {"limit": 5, "used": 1, "reserved": 0}, "net`), remote.ReasonProtocol, 0},
		{"HTML", responder(200, "text/html", "<html>"), remote.ReasonProtocol, 0},
		{"403", responder(403, "application/json", readFixture(t, "neutron_403.json")), remote.ReasonForbidden, 0},
		{"429", responder(429, "application/json", ""), remote.ReasonClientError, 0},
		{"500", responder(500, "application/json", ""), remote.ReasonServerError, 0},
		{"silence", cloud.hangs, remote.ReasonTimeout, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			cloud.set(func(c *fakeCloud) { c.atNeutron = nil })
			series, err := collect(t, n)
			if got := withPrefix(series, "vitals_neutron_quota"); err != nil || got[measured] != 1 || len(got) != 5 {
				t.Fatalf("quota = %v (error %v), want 5 samples, measured", got, err)
			}
			cloud.set(func(c *fakeCloud) { c.atNeutron = test.handler })
			within := 10 * time.Second
			if test.reason == remote.ReasonTimeout {
				within = 500 * time.Millisecond
			}
			series, _ = collectWithin(t, n, within) // the reason stands for the error
			got := withPrefix(series, "vitals_neutron_quota")
			if value, ok := got[measured]; !ok || value != 0 || len(got) != 1+test.others {
				t.Errorf("quota = %v, want measured 0 and %d others", got, test.others)
			}
			if diff := cmp.Diff(test.reason, downReason(t, series, "neutron")); diff != "" {
				t.Errorf("reason (-want +got):\n%s", diff)
			}
		})
	}
}
