package prometheus

import (
	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
	"github.com/vitals-health/vitals/collectors/remote/query"
)

// warningsMetric is the metric that only the kind prometheus has.
var warningsMetric = collectors.NewGauge("vitals_prometheus_query_warnings", "How many warnings the server sent with the result of the query, a partial response included; absent if it failed.", "dependency", "query")

// defs are the metrics of the kind prometheus.
func defs() []*collectors.Def {
	return append(append(remote.DependencyDefs(), query.Defs()...), warningsMetric, remote.CertificateExpiryMetric)
}

// Metrics implements Kind.
func (c *Config) Metrics(name string) []collectors.Metric {
	m := collectors.NewCatalog(defs(), "dependency", name)
	remote.DescribeDependency(m)
	rows := c.rows()
	rows.Describe(m)
	m.Configured("query", rows.Names(), warningsMetric)
	m.Without(!remote.MayUseTLS(c.URL), remote.CertificateExpiryMetric)
	m.Vanishing(warningsMetric, remote.CertificateExpiryMetric)
	return m.List()
}
