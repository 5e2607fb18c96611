package openstack

import (
	"strings"
	"testing"
	"time"

	"github.com/vitals-health/vitals/collectors/collectortest"
)

// The expiry of a certificate is exported, also after the certificate was rejected.
func TestCertificateExpiry(t *testing.T) {
	day := time.Now().Truncate(time.Second).Add(24 * time.Hour)
	cloud := newFakeCloud(t)
	atKeystone, ca, _ := collectortest.Certificate(t, "cloud.example", day)
	atNeutron, _, _ := collectortest.Certificate(t, "network.example", day.Add(time.Hour))
	past, pastCA, _ := collectortest.Certificate(t, "cloud.example", day.Add(-48*time.Hour))
	keystone, neutron, old := cloud.serveTLS(cloud.serveKeystone, atKeystone), cloud.serveTLS(cloud.serveNeutron, atNeutron), cloud.serveTLS(cloud.serveKeystone, past)
	cloud.set(func(c *fakeCloud) { c.endpoints = strings.ReplaceAll(c.endpoints, "NEUTRON", neutron.URL) })
	for _, test := range []struct {
		name, url, ca     string
		insecure          bool
		keystone, neutron time.Time // zero without the metric
	}{
		{"without TLS at Keystone", cloud.keystone.URL, "", true, time.Time{}, day.Add(time.Hour)},
		{"not verified", keystone.URL, "", true, day, day.Add(time.Hour)},
		{"Neutron's is rejected", keystone.URL, ca, false, day, day.Add(time.Hour)},
		{"Keystone's has expired", old.URL, pastCA, false, day.Add(-48 * time.Hour), time.Time{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			k := cloud.newKeystone(func(c *KeystoneConfig) { c.AuthURL, c.CAFile, c.Insecure = test.url, test.ca, test.insecure })
			n := cloud.newNeutron(k, nil)
			for range 2 { // the second collection uses the connections of the first
				got, _ := collect(t, k)
				checkExpiry(t, got, "keystone", test.keystone)
				got, _ = collect(t, n)
				checkExpiry(t, got, "neutron", test.neutron)
			}
		})
	}
}

func checkExpiry(t *testing.T, series map[string]float64, name string, want time.Time) {
	t.Helper()
	got, ok := series[`vitals_tls_certificate_expiry_timestamp_seconds{dependency="`+name+`"}`]
	if ok == want.IsZero() || ok && got != float64(want.Unix()) {
		t.Errorf("expiry at %s = %v (exported: %t), want %v", name, got, ok, want)
	}
}
