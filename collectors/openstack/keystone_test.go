package openstack

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vitals-health/vitals/collectors"
)

func TestKeystoneHoldsItsToken(t *testing.T) {
	cloud := newFakeCloud(t)
	k := cloud.newKeystone(nil)
	for range 30 { // five minutes of collections every 10 s
		if _, err := collect(t, k); err != nil {
			t.Fatal(err)
		}
		cloud.pass(10 * time.Second)
	}
	issued, validated := cloud.counts()
	if issued != 1 || validated != 29 {
		t.Errorf("30 collections: %d tokens and %d validations, want 1 and 29", issued, validated)
	}
	series, err := collect(t, k)
	if err != nil {
		t.Fatal(err)
	}
	if got := series[`vitals_keystone_tokens_issued_total{dependency="keystone"}`]; got != 2 {
		t.Errorf("tokens issued after five minutes = %v, want 2", got)
	}
}

func TestKeystoneTokensOfADay(t *testing.T) {
	cloud := newFakeCloud(t)
	k := cloud.newKeystone(nil)
	for range 8640 / 24 { // an hour of collections every 10 s
		if _, err := collect(t, k); err != nil {
			t.Fatal(err)
		}
		cloud.pass(10 * time.Second)
	}
	if issued, _ := cloud.counts(); issued*24 != 288 {
		t.Errorf("tokens a day = %d, want 288", issued*24)
	}
}

func TestKeystoneRenewsTokensBeforeTheirExpiry(t *testing.T) {
	for _, test := range []struct {
		name       string
		life       time.Duration
		good, late time.Duration
	}{
		{"two minutes before the expiry after an hour", time.Hour, 58 * time.Minute, 58*time.Minute + 2*time.Second},
		{"a tenth of a lifetime of 100 s", 100 * time.Second, 90 * time.Second, 91 * time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			cloud := newFakeCloud(t)
			cloud.life = test.life
			k := cloud.newKeystone(func(c *KeystoneConfig) { c.Reauthenticate = 1e18 })
			for _, at := range []struct {
				pass time.Duration
				want int
			}{{0, 1}, {test.good, 1}, {test.late - test.good, 2}} {
				cloud.pass(at.pass)
				if _, err := collect(t, k); err != nil {
					t.Fatal(err)
				}
				if issued, _ := cloud.counts(); issued != at.want {
					t.Errorf("%d tokens after %s, want %d", issued, at.pass, at.want)
				}
			}
		})
	}
}

func TestKeystoneUsesTheLocalClockForTheExpiry(t *testing.T) {
	cloud := newFakeCloud(t)
	k := cloud.newKeystone(nil)
	k.session.now = func() time.Time { return cloud.now().Add(3 * time.Hour) }
	for range 3 {
		if _, err := collect(t, k); err != nil {
			t.Fatal(err)
		}
	}
	if issued, _ := cloud.counts(); issued != 1 {
		t.Errorf("%d tokens with a clock three hours ahead, want 1", issued)
	}
}

func TestKeystoneReplacesARevokedTokenInTheSameCollection(t *testing.T) {
	cloud := newFakeCloud(t)
	k := cloud.newKeystone(nil)
	if _, err := collect(t, k); err != nil {
		t.Fatal(err)
	}
	cloud.revoke()
	series, err := collect(t, k)
	if err != nil || downReason(t, series, "keystone") != "" {
		t.Errorf("after a revocation: reason %q, error %v, want up", downReason(t, series, "keystone"), err)
	}
	if issued, validated := cloud.counts(); issued != 2 || validated != 1 {
		t.Errorf("%d tokens and %d validations, want 2 and 1", issued, validated)
	}
}

func TestKeystoneExportsItsCatalog(t *testing.T) {
	cloud := newFakeCloud(t)
	present := func(services ...string) map[string]float64 {
		k := cloud.newKeystone(func(c *KeystoneConfig) { c.Endpoints = services })
		series, err := collect(t, k)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]float64{}
		for key, value := range series {
			if strings.HasPrefix(key, "vitals_keystone_endpoint_present") {
				got[key] = value
			}
		}
		return got
	}
	want := map[string]float64{
		`vitals_keystone_endpoint_present{dependency="keystone",service="network"}`:       1,
		`vitals_keystone_endpoint_present{dependency="keystone",service="identity"}`:      1,
		`vitals_keystone_endpoint_present{dependency="keystone",service="load-balancer"}`: 0,
	}
	if diff := cmp.Diff(want, present("network", "identity", "load-balancer")); diff != "" {
		t.Errorf("endpoints (-want +got):\n%s", diff)
	}
}

func TestKeystoneDetectsAMissingEndpointWithoutANewToken(t *testing.T) {
	cloud := newFakeCloud(t)
	k := cloud.newKeystone(func(c *KeystoneConfig) { c.Endpoints = []string{"network"} })
	const key = `vitals_keystone_endpoint_present{dependency="keystone",service="network"}`
	for _, step := range []struct {
		endpoints string
		want      float64
	}{{readFixture(t, "network_endpoints.json"), 1}, {"[]", 0}, {readFixture(t, "network_endpoints.json"), 1}} {
		cloud.set(func(c *fakeCloud) { c.endpoints = step.endpoints })
		series, err := collect(t, k)
		if got, ok := series[key]; err != nil || !ok || got != step.want {
			t.Errorf("%s = %v, %v (error %v), want %v", key, got, ok, err, step.want)
		}
	}
	if issued, _ := cloud.counts(); issued != 1 {
		t.Errorf("%d tokens, want 1", issued)
	}
}

func TestKeystoneExportsNoCatalogWhileItIsDown(t *testing.T) {
	cloud := newFakeCloud(t)
	k := cloud.newKeystone(func(c *KeystoneConfig) { c.Endpoints = []string{"network"} })
	if _, err := collect(t, k); err != nil {
		t.Fatal(err)
	}
	cloud.set(func(c *fakeCloud) { c.atKeystone = hangUp })
	series, err := collect(t, k)
	if err == nil {
		t.Error("Collect() = nil error, want one")
	}
	if got, ok := series[`vitals_keystone_endpoint_present{dependency="keystone",service="network"}`]; ok {
		t.Errorf("vitals_keystone_endpoint_present = %v while Keystone is down, want nothing", got)
	}
	if _, ok := series[`vitals_keystone_token_expiry_timestamp_seconds{dependency="keystone"}`]; !ok {
		t.Error("the expiry of the held token is not exported")
	}
}

func TestKeystoneAddressWithAndWithoutVersion(t *testing.T) {
	cloud := newFakeCloud(t)
	for _, suffix := range []string{"", "/", "/v3", "/v3/", "/v2.0", "/v3.14/"} {
		k := cloud.newKeystone(func(c *KeystoneConfig) { c.AuthURL = cloud.keystone.URL + suffix })
		series, err := collect(t, k)
		if reason := downReason(t, series, "keystone"); reason != "" {
			t.Errorf("auth_url ending in %q: reason %q (%v), want up", suffix, reason, err)
		}
	}
}

func TestKeystoneAcceptsApplicationCredentials(t *testing.T) {
	cloud := newFakeCloud(t)
	k := cloud.newKeystone(func(c *KeystoneConfig) {
		c.Auth = Auth{
			AuthURL: cloud.keystone.URL, ApplicationCredentialID: "21dced0f", ApplicationCredentialSecret: testPassword,
			Reauthenticate: c.Reauthenticate,
		}
	})
	if _, err := collect(t, k); err != nil {
		t.Error(err)
	}
}

func TestKeystoneSessionIsSafeForConcurrentUse(t *testing.T) {
	cloud := newFakeCloud(t)
	k := cloud.newKeystone(nil)
	n := cloud.newNeutron(k, nil)
	var wg sync.WaitGroup
	for _, c := range []collectors.Collector{k, n} {
		wg.Go(func() {
			for range 20 {
				if _, err := collect(t, c); err != nil {
					t.Error(err)
				}
				cloud.pass(time.Minute)
			}
		})
	}
	wg.Wait()
	issued, _ := cloud.counts()
	if got, _ := k.session.count(); int(got) != issued {
		t.Errorf("tokens counted = %d, want the %d that were issued", got, issued)
	}
}

func TestKeystoneReusesConnections(t *testing.T) {
	cloud := newFakeCloud(t)
	k := cloud.newKeystone(nil)
	for range 10 {
		if _, err := collect(t, k); err != nil {
			t.Fatal(err)
		}
		cloud.pass(time.Minute) // two of the collections log in
	}
	cloud.mu.Lock()
	defer cloud.mu.Unlock()
	if cloud.connections != 1 {
		t.Errorf("%d connections in 10 collections, want 1", cloud.connections)
	}
}

func TestKeystoneClosesEachConnection(t *testing.T) {
	cloud := newFakeCloud(t)
	cloud.keystone.Config.SetKeepAlivesEnabled(false)
	k := cloud.newKeystone(nil)
	for range 10 {
		if _, err := collect(t, k); err != nil {
			t.Fatal(err)
		}
		cloud.revoke() // a login follows the validation at once
	}
}
