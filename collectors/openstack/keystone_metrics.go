package openstack

import (
	"strings"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
)

// The metrics of the kind keystone.
var (
	keystoneTokensIssuedMetric    = collectors.NewCounter("vitals_keystone_tokens_issued_total", "Tokens that Keystone has issued since the start, to this collector and to those that share its token.", "dependency")
	keystoneTokenExpiryMetric     = collectors.NewGauge("vitals_keystone_token_expiry_timestamp_seconds", "When the held token expires, by Keystone's clock, in seconds since the epoch.", "dependency")
	keystoneTokenIssuedMetric     = collectors.NewGauge("vitals_keystone_token_issued_timestamp_seconds", "When the held token was issued, by Keystone's clock, in seconds since the epoch.", "dependency")
	keystoneEndpointPresentMetric = collectors.NewGauge("vitals_keystone_endpoint_present", "Whether the catalog has an endpoint of the service in the configured region and interface (1) or not (0).", "dependency", "service")
)

// keystoneDefs returns the metrics of the kind keystone.
func keystoneDefs() []*collectors.Def {
	return append(remote.DependencyDefs(),
		keystoneTokensIssuedMetric,
		keystoneTokenExpiryMetric,
		keystoneTokenIssuedMetric,
		keystoneEndpointPresentMetric,
		remote.CertificateExpiryMetric,
	)
}

// Metrics implements collectors.Kind.
func (c *KeystoneConfig) Metrics(name string) []collectors.Metric {
	m := collectors.NewCatalog(keystoneDefs(), "dependency", name)
	remote.DescribeDependency(m)
	m.Vanishing(keystoneTokenExpiryMetric, keystoneTokenIssuedMetric, remote.CertificateExpiryMetric)
	m.Without(strings.HasPrefix(strings.ToLower(c.AuthURL), "http:"), remote.CertificateExpiryMetric)
	m.Configured("service", c.Endpoints, keystoneEndpointPresentMetric)
	m.Bools(keystoneEndpointPresentMetric)
	return m.List()
}
