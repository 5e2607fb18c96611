package collectors

// The metrics of the kind keystone.
var (
	keystoneTokensIssuedMetric    = newCounter("vitals_keystone_tokens_issued_total", "Tokens that Keystone has issued to this collector, and to those that share its token, since it started.", "dependency")
	keystoneTokenExpiryMetric     = newGauge("vitals_keystone_token_expiry_timestamp_seconds", "When the held token expires, by Keystone's clock, in seconds since the epoch.", "dependency")
	keystoneTokenIssuedMetric     = newGauge("vitals_keystone_token_issued_timestamp_seconds", "When the held token was issued, by Keystone's clock, in seconds since the epoch.", "dependency")
	keystoneEndpointPresentMetric = newGauge("vitals_keystone_endpoint_present", "Whether the catalog has an endpoint for the service in the region and interface that are used (1) or not (0).", "dependency", "service")
)

// keystoneDefs are the metrics of the kind keystone.
func keystoneDefs() []*Def {
	return append(dependencyDefs(),
		keystoneTokensIssuedMetric,
		keystoneTokenExpiryMetric,
		keystoneTokenIssuedMetric,
		keystoneEndpointPresentMetric,
	)
}

// Metrics implements Kind.
func (c *KeystoneConfig) Metrics(name string) []Metric {
	m := newCatalog(keystoneDefs(), "dependency", name)
	describeDependency(m)
	m.vanishing(keystoneTokenExpiryMetric, keystoneTokenIssuedMetric)
	m.configured("service", c.Endpoints, keystoneEndpointPresentMetric)
	m.bools(keystoneEndpointPresentMetric)
	return m.list()
}
