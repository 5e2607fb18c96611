package remote

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"time"

	"github.com/vitals-health/vitals/collectors"
)

// CertificateExpiryMetric is the metric for the result of CertificateExpiry.
var CertificateExpiryMetric = collectors.NewGauge("vitals_tls_certificate_expiry_timestamp_seconds", "Earliest expiry of the certificates on which trust in the server depends, in seconds since the epoch.", "dependency")

// CertificateExpiry returns the time until which the server's certificate remains trusted. A
// chain lasts until the first of its certificates expires; the chain that lasts longest counts.
// Without verification, it is the earliest expiry of the certificates that the server sent.
// Without certificates, it is zero.
func CertificateExpiry(state *tls.ConnectionState) time.Time {
	var last time.Time
	for _, chain := range state.VerifiedChains {
		if until := earliestExpiry(chain); until.After(last) {
			last = until
		}
	}
	if !last.IsZero() {
		return last
	}
	return earliestExpiry(state.PeerCertificates)
}

// ExpiryOfUnverified returns the earliest expiry of the certificates that failed verification;
// zero for any other error.
func ExpiryOfUnverified(err error) time.Time {
	if e, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return earliestExpiry(e.UnverifiedCertificates)
	}
	return time.Time{}
}

func earliestExpiry(certificates []*x509.Certificate) time.Time {
	var first time.Time
	for _, c := range certificates {
		if first.IsZero() || c.NotAfter.Before(first) {
			first = c.NotAfter
		}
	}
	return first
}
