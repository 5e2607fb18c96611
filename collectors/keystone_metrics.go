package collectors

import "github.com/prometheus/common/model"

// keystoneDescs are the metrics of the kind keystone.
func keystoneDescs() []Desc {
	return append(dependencyDescs(),
		Desc{"vitals_keystone_tokens_issued_total", "Tokens that Keystone has issued to this collector, and to those that share its token, since it started.", model.MetricTypeCounter},
		Desc{"vitals_keystone_token_expiry_timestamp_seconds", "When the held token expires, by Keystone's clock, in seconds since the epoch.", model.MetricTypeGauge},
		Desc{"vitals_keystone_token_issued_timestamp_seconds", "When the held token was issued, by Keystone's clock, in seconds since the epoch.", model.MetricTypeGauge},
		Desc{"vitals_keystone_endpoint_present", "Whether the catalog has an endpoint for the service in the region and interface that are used (1) or not (0).", model.MetricTypeGauge},
	)
}

// Metrics implements Kind.
func (c *KeystoneConfig) Metrics(name string) []Metric {
	m := newCatalog(keystoneDescs(), "dependency", name)
	m.dependency()
	m.vanishing("vitals_keystone_token_expiry_timestamp_seconds", "vitals_keystone_token_issued_timestamp_seconds")
	m.configured("service", c.Endpoints, "vitals_keystone_endpoint_present")
	m.bools("vitals_keystone_endpoint_present")
	return m.list()
}
