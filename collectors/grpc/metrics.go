package grpc

import (
	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/discovery"
	"github.com/vitals-health/vitals/collectors/remote"
)

// The metrics of the kind grpc.
var (
	servingMetric    = collectors.NewGauge("vitals_grpc_serving_status", "The status that the health service returned: 1 for that status, 0 for all others; absent without one.", "dependency", "status")
	statusCodeMetric = collectors.NewGauge("vitals_grpc_status_code", "The status code of the gRPC call: 0 is OK, 5 NOT_FOUND, 12 UNIMPLEMENTED; absent without one.", "dependency")
)

func defs() []*collectors.Def {
	return append(remote.DependencyDefs(), servingMetric, statusCodeMetric, remote.CertificateExpiryMetric)
}

// Metrics implements collectors.Kind.
func (c *Config) Metrics(name string) []collectors.Metric {
	if t := c.targets(); t != nil && name != "" {
		return t.Metrics(name)
	}
	m := collectors.NewCatalog(defs(), "dependency", name)
	remote.DescribeDependency(m)
	m.Closed("status", collectors.Texts(servings()), servingMetric)
	m.Without(c.TLS == nil, remote.CertificateExpiryMetric)
	m.Bools(servingMetric)
	m.Vanishing(servingMetric, statusCodeMetric, remote.CertificateExpiryMetric)
	return append(m.List(), discovery.AnyMetrics(name)...)
}
