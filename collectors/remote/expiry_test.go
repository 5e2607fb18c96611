package remote

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"testing"
	"time"
)

func TestCertificateExpiry(t *testing.T) {
	chain := func(days ...int) []*x509.Certificate {
		var certificates []*x509.Certificate
		for _, d := range days {
			certificates = append(certificates, &x509.Certificate{NotAfter: time.Unix(int64(d)*86400, 0)})
		}
		return certificates
	}
	tests := []struct {
		name  string
		given tls.ConnectionState
		want  int // in days; 0 for none
	}{
		{"no certificates", tls.ConnectionState{}, 0},
		{"the server's", tls.ConnectionState{VerifiedChains: [][]*x509.Certificate{chain(10, 30, 90)}}, 10},
		{"an authority's", tls.ConnectionState{VerifiedChains: [][]*x509.Certificate{chain(50, 30, 90)}}, 30},
		{"the chain that lasts longest", tls.ConnectionState{VerifiedChains: [][]*x509.Certificate{chain(50, 5), chain(50, 40), chain(50, 20)}}, 40},
		{"a certificate outside of the chain", tls.ConnectionState{PeerCertificates: chain(50, 5), VerifiedChains: [][]*x509.Certificate{chain(50, 40)}}, 40},
		{"not verified", tls.ConnectionState{PeerCertificates: chain(50, 5)}, 5},
	}
	for _, tt := range tests {
		got := CertificateExpiry(&tt.given)
		if tt.want == 0 && !got.IsZero() || tt.want != 0 && !got.Equal(time.Unix(int64(tt.want)*86400, 0)) {
			t.Errorf("%s: CertificateExpiry() = %s, want day %d", tt.name, got.UTC(), tt.want)
		}
	}
	refused := fmt.Errorf("get: %w", &tls.CertificateVerificationError{UnverifiedCertificates: chain(3, 2), Err: errors.New("expired")})
	if got := ExpiryOfUnverified(refused); !got.Equal(time.Unix(2*86400, 0)) {
		t.Errorf("ExpiryOfUnverified() = %s, want day 2", got.UTC())
	}
	if got := ExpiryOfUnverified(errors.New("refused")); !got.IsZero() {
		t.Errorf("ExpiryOfUnverified() of another error = %s, want none", got)
	}
}
