package certificate

import (
	"slices"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
)

// The metrics of the kind certificate.
var (
	readableMetric   = collectors.NewGauge("vitals_certificate_readable", "Whether the file or secret was read and has certificates (1) or not (0).", "dependency", "certificate")
	expiryMetric     = collectors.NewGauge("vitals_certificate_expiry_timestamp_seconds", "Earliest expiry in the chain of the certificate, in seconds since the epoch.", "dependency", "certificate")
	notBeforeMetric  = collectors.NewGauge("vitals_certificate_not_before_timestamp_seconds", "When the certificate becomes valid, in seconds since the epoch.", "dependency", "certificate")
	verifiedMetric   = collectors.NewGauge("vitals_certificate_verified", "Whether the chain of the certificate leads to a trusted one and is valid now (1) or not (0).", "dependency", "certificate")
	keyMatchesMetric = collectors.NewGauge("vitals_certificate_key_matches", "Whether the private key belongs to the certificate (1) or not (0).", "dependency", "certificate")
	coveredMetric    = collectors.NewGauge("vitals_certificate_name_covered", "Whether the certificate is for the configured name (1) or not (0).", "dependency", "certificate", "name")
)

// ownDefs are the metrics of one certificate.
func ownDefs() []*collectors.Def {
	return []*collectors.Def{readableMetric, expiryMetric, notBeforeMetric, verifiedMetric, keyMatchesMetric, coveredMetric}
}

func defs() []*collectors.Def {
	return append(append(remote.DependencyDefs(), remote.CertificateExpiryMetric), ownDefs()...)
}

// Metrics implements collectors.Kind.
func (c *Config) Metrics(name string) []collectors.Metric {
	m := collectors.NewCatalog(defs(), "dependency", name)
	remote.DescribeDependency(m)
	m.Configured("certificate", c.certificates(), ownDefs()...)
	m.Without(c.Secret == nil && c.KeyFile == "", keyMatchesMetric)
	m.Configured("name", c.Names, coveredMetric)
	m.Bools(readableMetric, verifiedMetric, keyMatchesMetric, coveredMetric)
	m.Vanishing(remote.CertificateExpiryMetric, expiryMetric, notBeforeMetric, verifiedMetric, keyMatchesMetric, coveredMetric) // without a readable file
	if m.Any || slices.ContainsFunc(c.Files, pattern) {
		m.Open("certificate", nil, ownDefs()...)
		m.Vanishing(readableMetric) // a pattern may match nothing
	}
	return m.List()
}

// certificates returns the values of the label certificate. A pattern stands for any.
func (c *Config) certificates() []string {
	if c.Secret != nil {
		return []string{c.Secret.id()}
	}
	return c.Files
}
