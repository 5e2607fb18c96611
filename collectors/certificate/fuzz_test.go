package certificate

import (
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vitals-health/vitals/collectors/remote"
)

// check checks that an error has a reason of the closed set.
func check(t *testing.T, err error) {
	t.Helper()
	if err != nil && !slices.Contains(remote.Reasons(), remote.ReasonOf(err)) {
		t.Fatalf("%v has the reason %q, want one of the closed set", err, remote.ReasonOf(err))
	}
}

// FuzzChain parses and verifies the certificates of a file.
func FuzzChain(f *testing.F) {
	chain, err := os.ReadFile("testdata/chain.pem")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(chain)
	f.Add(append(chain, chain...))
	f.Add([]byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"))
	f.Add([]byte("SSH-2.0-OpenSSH_9.2\r\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		chain, err := parseChain(text)
		check(t, err)
		if (err == nil) != (len(chain) > 0) {
			t.Fatalf("parseChain() has %d certificates and the error %v", len(chain), err)
		}
		if err != nil {
			return
		}
		until, _ := verify(chain, nil, time.Unix(1_800_000_000, 0))
		if until.After(chain[0].NotAfter) {
			t.Fatalf("verify() = %s, which is after the certificate itself, %s", until, chain[0].NotAfter)
		}
		if chain[0].PublicKey != nil && chain[0].PublicKeyAlgorithm != x509.DSA && !matches(chain[0], chain[0].PublicKey) {
			t.Fatalf("matches() of the certificate's own key = false")
		}
		_ = chain[0].VerifyHostname("www.example")
	})
}

// FuzzKey parses a private key, of which no error contains anything.
func FuzzKey(f *testing.F) {
	for _, kind := range []string{"PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY", "ENCRYPTED PRIVATE KEY", "CERTIFICATE"} {
		f.Add([]byte(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: []byte("hunter2")})))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		key, err := parseKey(text)
		check(t, err)
		if (err == nil) != (key != nil) {
			t.Fatalf("parseKey() = %v, %v", key, err)
		}
		known := []string{
			"the private key is encrypted: expected one without a password", "the private key is malformed, or of an unknown type", "expected a private key in PEM",
		}
		if err != nil && !slices.Contains(known, err.Error()) {
			t.Fatalf("parseKey() = %v, want a fixed text", err)
		}
	})
}

// FuzzSecret parses the response of an API server. An error has a fixed text.
func FuzzSecret(f *testing.F) {
	object, err := json.Marshal(map[string]any{"kind": "Secret", "data": map[string][]byte{"tls.crt": []byte("a"), "tls.key": []byte("b")}})
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{string(object), "", "null", `{"kind":"Secret"}`, `{"kind":"Secret","data":{"tls.crt":"?"}}`, strings.Repeat("[", 1000)} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		certificate, _, err := parseSecret(body)
		check(t, err)
		if (err == nil) != (len(certificate) > 0) || err != nil && err.Error() != "unexpected response: it is no secret" && err.Error() != "the secret has no tls.crt" {
			t.Fatalf("parseSecret() = %q, %v", certificate, err)
		}
	})
}
