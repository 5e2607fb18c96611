package certificate_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/certificate"
	"github.com/vitals-health/vitals/collectors/collectortest"
)

// far is a time that no test reaches.
func far() time.Time { return time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC) }

// pair is a certificate and its private key.
type pair struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// issue returns a certificate for www.example and 192.0.2.1 that the issuer signed, or one that
// signed itself.
func issue(t testing.TB, issuer *pair, name string, from, until time.Time) *pair {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: from, NotAfter: until,
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		DNSNames: []string{"www.example"}, IPAddresses: []net.IP{net.IPv4(192, 0, 2, 1)},
	}
	parent, signer := template, key
	if issuer != nil {
		parent, signer = issuer.cert, issuer.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &pair{cert, key}
}

func (p *pair) pem() string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.cert.Raw}))
}

// keys returns the private key in the forms in which programs write it.
func (p *pair) keys(t testing.TB) (pkcs8, ec string) {
	t.Helper()
	form := func(kind string, der []byte, err error) string {
		if err != nil {
			t.Fatal(err)
		}
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
	}
	der, err := x509.MarshalPKCS8PrivateKey(p.key)
	pkcs8 = form("PRIVATE KEY", der, err)
	der, err = x509.MarshalECPrivateKey(p.key)
	return pkcs8, form("EC PRIVATE KEY", der, err)
}

// lab is a directory with a chain: root.pem, and chain.pem of leaf and middle with key.pem.
type lab struct {
	dir                string
	root, middle, leaf *pair
}

func newLab(t testing.TB) *lab {
	t.Helper()
	l := &lab{dir: t.TempDir()}
	begin := time.Unix(0, 0)
	l.root = issue(t, nil, "root", begin, far())
	l.middle = issue(t, l.root, "middle", begin, far().AddDate(-20, 0, 0))
	l.leaf = issue(t, l.middle, "leaf", begin.AddDate(40, 0, 0), far().AddDate(-10, 0, 0))
	pkcs8, _ := l.leaf.keys(t)
	l.write(t, "root.pem", l.root.pem())
	l.write(t, "chain.pem", l.leaf.pem()+l.middle.pem())
	l.write(t, "key.pem", pkcs8)
	return l
}

func (l *lab) write(t testing.TB, name, content string) {
	t.Helper()
	collectortest.Write(t, filepath.Join(l.dir, name), content)
}

// collector returns a collector with this block, in which DIR is the directory.
func (l *lab) collector(t testing.TB, block string) collectors.Collector {
	t.Helper()
	return collectortest.New(t, "web", strings.ReplaceAll(block, "DIR", l.dir), &certificate.Config{})
}

// value returns the value of a metric, -1 without one. labels may follow the name.
func (l *lab) value(samples []collectors.Sample, metric, file string) float64 {
	labels := `{dependency="web"}`
	switch {
	case strings.Contains(file, "{"): // further labels
		name, more, _ := strings.Cut(file, "{")
		labels = `{certificate="` + filepath.Join(l.dir, name) + `",dependency="web",` + more
	case file != "":
		labels = `{certificate="` + filepath.Join(l.dir, file) + `",dependency="web"}`
	}
	v, ok := collectortest.Value(samples, "vitals_"+metric+labels)
	if !ok {
		return -1
	}
	return v
}
