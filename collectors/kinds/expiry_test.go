package kinds_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/kinds"
)

// authority is a certificate that signs others, with its key.
type authority struct {
	der []byte
	key *ecdsa.PrivateKey
}

// sign returns a certificate for 127.0.0.1 that expires in some days, signed by the issuer or by
// itself.
func sign(t *testing.T, issuer *authority, name string, days int) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(int64(days) + 1000), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().AddDate(0, 0, -400), NotAfter: time.Now().AddDate(0, 0, days),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	parent, signer := template, key
	if issuer != nil {
		if parent, err = x509.ParseCertificate(issuer.der); err != nil {
			t.Fatal(err)
		}
		signer = issuer.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	return &authority{der, key}
}

// The kinds that export the expiry of certificates mean the same: the earliest expiry of the chain.
func TestKindsAgreeOnTheExpiry(t *testing.T) {
	const root, middle, leaf = 500, 300, 200
	for _, tt := range []struct {
		name               string
		root, middle, leaf int
		trusted            bool
		want               int
	}{
		{"the certificate itself", root, middle, leaf, true, leaf},
		{"an authority of the server", root, 20, leaf, true, 20},
		{"the trusted authority", 10, middle, leaf, true, 10},
		{"an authority that is not trusted", root, 20, leaf, false, 20},
		{"the certificate itself, not trusted", root, middle, leaf, false, leaf},
		{"expired", root, middle, -5, true, -5},
		{"an expired authority of the server", root, -7, leaf, true, -7},
	} {
		t.Run(tt.name, func(t *testing.T) {
			trusted := sign(t, nil, "root", tt.root)
			between := sign(t, trusted, "middle", tt.middle)
			server := sign(t, between, "server", tt.leaf)
			if !tt.trusted {
				trusted = sign(t, nil, "another", root)
			}
			dir := t.TempDir()
			collectortest.Write(t, filepath.Join(dir, "ca.pem"), blocks(trusted.der))
			collectortest.Write(t, filepath.Join(dir, "chain.pem"), blocks(server.der, between.der))
			s := httptest.NewUnstartedServer(http.NotFoundHandler())
			s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
			s.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{server.der, between.der}, PrivateKey: server.key}}}
			s.StartTLS()
			defer s.Close()
			ca := "{ca_file: '" + filepath.Join(dir, "ca.pem") + "'}"
			for kind, block := range map[string]string{
				"http":        "{url: '" + s.URL + "', tls: " + ca + "}",
				"tcp":         "{address: '" + strings.TrimPrefix(s.URL, "https://") + "', tls: " + ca + "}",
				"certificate": "{files: ['" + filepath.Join(dir, "chain.pem") + "'], ca_file: '" + filepath.Join(dir, "ca.pem") + "'}",
			} {
				if got, want := expiryOf(t, kind, block), time.Now().AddDate(0, 0, tt.want).Unix(); got < want-60 || got > want+60 {
					t.Errorf("%s exports the expiry in %.1f days, want %d", kind, float64(got-time.Now().Unix())/86400, tt.want)
				}
			}
		})
	}
}

func blocks(ders ...[]byte) string {
	var text strings.Builder
	for _, der := range ders {
		text.Write(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	}
	return text.String()
}

// expiryOf returns the expiry that a collector exports, zero without one.
func expiryOf(t *testing.T, kind, block string) int64 {
	t.Helper()
	var samples []collectors.Sample
	samples, err := collectortest.Collect(t, collectortest.New(t, "web", block, kinds.New(kind)))
	v, ok := collectortest.Value(samples, `vitals_tls_certificate_expiry_timestamp_seconds{dependency="web"}`)
	if !ok {
		t.Errorf("%s exports no expiry: %s", kind, fmt.Sprint(err))
	}
	return int64(v)
}
