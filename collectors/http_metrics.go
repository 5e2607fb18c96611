package collectors

import (
	"strings"
)

// The metrics of the kind http.
var (
	httpStatusCodeMetric     = newGauge("vitals_http_status_code", "Status of the answer, of the last one where redirects are followed.", "dependency")
	httpVersionMetric        = newGauge("vitals_http_version", "Version of HTTP in which the answer came, such as 1.1 or 2.", "dependency")
	httpTLSMetric            = newGauge("vitals_http_tls", "Whether the answer came over TLS (1) or not (0).", "dependency")
	httpRedirectsMetric      = newGauge("vitals_http_redirects", "How many redirects were followed.", "dependency")
	httpPhaseDurationMetric  = newGauge("vitals_http_phase_duration_seconds", "How long each phase of the last check took, those that came to an end; over all requests where redirects are followed.", "dependency", "phase")
	httpResponseSizeMetric   = newGauge("vitals_http_response_size_bytes", "Size of the body in bytes, decompressed, as far as it was read.", "dependency")
	httpExpectationMetMetric = newGauge("vitals_http_expectation_met", "Whether the answer is as expected (1) or not (0).", "dependency", "expectation")
)

// httpDefs are the metrics of the kind http.
func httpDefs() []*Def {
	return append(dependencyDefs(),
		httpStatusCodeMetric,
		httpVersionMetric,
		httpTLSMetric,
		httpRedirectsMetric,
		httpPhaseDurationMetric,
		httpResponseSizeMetric,
		httpExpectationMetMetric,
		certificateExpiryMetric,
	)
}

// Metrics implements Kind.
func (c *HTTPConfig) Metrics(name string) []Metric {
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
	plain := strings.HasPrefix(strings.ToLower(c.URL), "http:") && !c.FollowRedirects
	m := newCatalog(httpDefs(), "dependency", name)
	describeDependency(m)
	m.closed("phase", httpPhases(), httpPhaseDurationMetric)
	m.chosen("expectation", expectations, []string{expectStatus, expectHeaders, expectBody, expectJSON}, httpExpectationMetMetric)
	m.bools(httpTLSMetric, httpExpectationMetMetric)
	m.vanishing(httpPhaseDurationMetric, certificateExpiryMetric)
	m.without(plain, certificateExpiryMetric)
	return m.list()
}
