package remote

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"time"

	"github.com/vitals-health/vitals/collectors"
)

// CertificateExpiryMetric is exported by all kinds with TLS.
var CertificateExpiryMetric = collectors.NewGauge("vitals_tls_certificate_expiry_timestamp_seconds", "When the first of the certificates that the server's depends on expires, in seconds since the epoch.", "dependency")

// CertificateExpiry is when a connection's certificates stop being trusted: when the
// first certificate of the chain expires that lasts longest. Where nothing was verified,
// all that the server has sent count. Without any, it is zero.
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

// ExpiryOfUnverified is when the certificates expire with which a handshake has failed;
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
