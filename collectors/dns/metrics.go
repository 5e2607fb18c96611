package dns

import (
	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/discovery"
	"github.com/vitals-health/vitals/collectors/remote"
)

// The metrics of the kind dns.
var (
	rcodeMetric         = collectors.NewGauge("vitals_dns_rcode", "The response code: 1 for that code, 0 for all others; absent without a response.", "dependency", "rcode")
	answersMetric       = collectors.NewGauge("vitals_dns_answers", "How many records of the requested type the response has.", "dependency")
	presentMetric       = collectors.NewGauge("vitals_dns_answer_present", "Whether the response has the expected record (1) or not (0).", "dependency", "answer")
	unexpectedMetric    = collectors.NewGauge("vitals_dns_unexpected_answers", "How many records of the requested type are not among the expected ones.", "dependency")
	matchingMetric      = collectors.NewGauge("vitals_dns_matching_answers", "How many records of the requested type match the regular expression.", "dependency")
	ttlMetric           = collectors.NewGauge("vitals_dns_ttl_seconds", "The shortest time to live of the records; absent without a record.", "dependency")
	serialMetric        = collectors.NewGauge("vitals_dns_soa_serial", "The serial number of the zone; absent without a SOA record.", "dependency")
	authenticatedMetric = collectors.NewGauge("vitals_dns_authenticated", "Whether the server has verified the response by DNSSEC, the AD bit (1), or not (0).", "dependency")
	authoritativeMetric = collectors.NewGauge("vitals_dns_authoritative", "Whether the server is an authority for the name, the AA bit (1), or not (0).", "dependency")
)

// ownDefs are the metrics of a response.
func ownDefs() []*collectors.Def {
	return []*collectors.Def{
		rcodeMetric, answersMetric, presentMetric, unexpectedMetric, matchingMetric,
		ttlMetric, serialMetric, authenticatedMetric, authoritativeMetric,
	}
}

func defs() []*collectors.Def { return append(remote.DependencyDefs(), ownDefs()...) }

// Metrics implements collectors.Kind.
func (c *Config) Metrics(name string) []collectors.Metric {
	if t := c.targets(); t != nil && name != "" {
		return t.Metrics(name)
	}
	m := collectors.NewCatalog(defs(), "dependency", name)
	remote.DescribeDependency(m)
	m.Closed("rcode", collectors.Texts(rcodes()), rcodeMetric)
	m.Configured("answer", c.Answers, presentMetric)
	m.Without(len(c.Answers) == 0, unexpectedMetric)
	m.Without(c.Match == "", matchingMetric)
	m.Without(c.Type != "SOA", serialMetric)
	m.Bools(rcodeMetric, presentMetric, authenticatedMetric, authoritativeMetric)
	m.Vanishing(ownDefs()...) // without a response
	return append(m.List(), discovery.AnyMetrics(name)...)
}
