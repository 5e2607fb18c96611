package collectors

import (
	"strings"

	"github.com/prometheus/common/model"
)

// httpDescs are the metrics of the kind http.
func httpDescs() []Desc {
	return append(dependencyDescs(),
		Desc{"vitals_http_status_code", "Status of the answer, of the last one where redirects are followed.", model.MetricTypeGauge},
		Desc{"vitals_http_version", "Version of HTTP in which the answer came, such as 1.1 or 2.", model.MetricTypeGauge},
		Desc{"vitals_http_tls", "Whether the answer came over TLS (1) or not (0).", model.MetricTypeGauge},
		Desc{"vitals_http_redirects", "How many redirects were followed.", model.MetricTypeGauge},
		Desc{"vitals_http_phase_duration_seconds", "How long each phase of the last check took, those that came to an end; over all requests where redirects are followed.", model.MetricTypeGauge},
		Desc{"vitals_http_response_size_bytes", "Size of the body in bytes, decompressed, as far as it was read.", model.MetricTypeGauge},
		Desc{"vitals_http_expectation_met", "Whether the answer is as expected (1) or not (0).", model.MetricTypeGauge},
		certificateExpiryDesc(),
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
	m := newCatalog(httpDescs(), "dependency", name)
	m.dependency()
	m.closed("phase", httpPhases(), "vitals_http_phase_duration_seconds")
	m.chosen("expectation", expectations, []string{expectStatus, expectHeaders, expectBody, expectJSON}, "vitals_http_expectation_met")
	m.bools("vitals_http_tls", "vitals_http_expectation_met")
	m.vanishing("vitals_http_phase_duration_seconds", "vitals_tls_certificate_expiry_timestamp_seconds")
	m.without(plain, "vitals_tls_certificate_expiry_timestamp_seconds")
	return m.list()
}
