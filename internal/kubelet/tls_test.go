package kubelet_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/kubernetes/pkg/probe"
)

// webConfig writes a file for --web.config.file and returns its path.
func webConfig(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	of := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"vitals"}}
	certificate, err := x509.CreateCertificate(rand.Reader, of, of, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		"tls.crt": pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate}),
		"tls.key": pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}),
		"web.yml": []byte(text),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "web.yml")
}

// Over HTTPS the kubelet checks no certificate. Over gRPC it uses no TLS: such a probe needs
// the port of the probes.
func TestTLS(t *testing.T) {
	t.Parallel()
	web := webConfig(t, "tls_server_config: {cert_file: tls.crt, key_file: tls.key}\n")
	d := start(t, config, rules, "--web.config.file="+web, "--probe.listen-address=127.0.0.1:0")
	port := d.port(everything)
	if got, text := get(t, "https", port, "/alive", answers); got != probe.Success {
		t.Errorf("HTTPS: %s, %q, want success", got, text)
	}
	if got, text := get(t, "http", port, "/alive", answers); got != probe.Failure {
		t.Errorf("HTTP: %s, %q, want a failure", got, text)
	}
	if got, text := serving(t, port, "alive", hangs); got != probe.Failure {
		t.Errorf("gRPC: %s, %q, want a failure", got, text)
	}
	if got, text := serving(t, d.port(probesOnly), "alive", answers); got != probe.Success {
		t.Errorf("gRPC at the port of the probes: %s, %q, want success", got, text)
	}
}

// Without HTTP/2 there is no gRPC.
func TestWithoutHTTP2(t *testing.T) {
	t.Parallel()
	d := start(t, config, rules, "--web.config.file="+webConfig(t, "http_server_config: {http2: false}\n"))
	if got, text := serving(t, d.port(everything), "alive", answers); got != probe.Failure {
		t.Errorf("gRPC: %s, %q, want a failure", got, text)
	}
	if got, text := get(t, "http", d.port(everything), "/alive", answers); got != probe.Success {
		t.Errorf("HTTP: %s, %q, want success", got, text)
	}
}
