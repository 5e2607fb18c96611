package http

import (
	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/discovery"
	"github.com/vitals-health/vitals/collectors/remote"
)

// The metrics of the kind http.
var (
	statusCodeMetric     = collectors.NewGauge("vitals_http_status_code", "Status of the answer, or of the last one if redirects are followed.", "dependency")
	versionMetric        = collectors.NewGauge("vitals_http_version", "Version of HTTP of the answer, such as 1.1 or 2.", "dependency")
	tlsMetric            = collectors.NewGauge("vitals_http_tls", "Whether the answer came over TLS (1) or not (0).", "dependency")
	redirectsMetric      = collectors.NewGauge("vitals_http_redirects", "How many redirects were followed.", "dependency")
	phaseDurationMetric  = collectors.NewGauge("vitals_http_phase_duration_seconds", "How long each completed phase of the last check took, the sum over all requests if redirects are followed.", "dependency", "phase")
	responseSizeMetric   = collectors.NewGauge("vitals_http_response_size_bytes", "Size of the body in bytes, decompressed, as far as it was read.", "dependency")
	expectationMetMetric = collectors.NewGauge("vitals_http_expectation_met", "Whether the answer is as expected (1) or not (0).", "dependency", "expectation")
)

// defs are the metrics of the kind http.
func defs() []*collectors.Def {
	return append(remote.DependencyDefs(),
		statusCodeMetric,
		versionMetric,
		tlsMetric,
		redirectsMetric,
		phaseDurationMetric,
		responseSizeMetric,
		expectationMetMetric,
		remote.CertificateExpiryMetric,
	)
}

// Metrics implements Kind.
func (c *Config) Metrics(name string) []collectors.Metric {
	if t := c.targets(); t != nil && name != "" {
		return t.Metrics(name)
	}
	expectations := []string{expectStatus}
	if e := c.Expect; e != nil {
		for _, of := range []struct {
			expectation string
			set         bool
		}{
			{expectHeaders, len(e.Headers)+len(e.HeadersNot) > 0},
			{expectBody, e.Body != "" || e.BodyNot != ""},
			{expectJSON, len(e.JSON) > 0},
		} {
			if of.set {
				expectations = append(expectations, of.expectation)
			}
		}
	}
	plain := !c.FollowRedirects && !remote.MayUseTLS(c.URL)
	m := collectors.NewCatalog(defs(), "dependency", name)
	remote.DescribeDependency(m)
	m.Closed("phase", phases(), phaseDurationMetric)
	m.Chosen("expectation", expectations, []string{expectStatus, expectHeaders, expectBody, expectJSON}, expectationMetMetric)
	m.Bools(tlsMetric, expectationMetMetric)
	m.Vanishing(phaseDurationMetric, remote.CertificateExpiryMetric)
	m.Without(plain, remote.CertificateExpiryMetric)
	return append(m.List(), discovery.AnyMetrics(name)...)
}
