// Package collectortest has helpers for the tests of collectors: configuration, collections,
// golden files of metrics, certificates and servers.
package collectortest

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"gopkg.in/yaml.v3"

	"github.com/vitals-health/vitals/collectors"
)

// Patience limits the time that a test waits for another goroutine.
const Patience = 10 * time.Second

// Brief is the first timeout of Outlast.
const Brief = 150 * time.Millisecond

// Decode decodes a configuration block like the program: it sets the defaults, then decodes
// strictly.
func Decode(t testing.TB, text string, into collectors.Kind) {
	t.Helper()
	if k, ok := into.(interface{ SetDefaults() }); ok {
		k.SetDefaults()
	}
	decoder := yaml.NewDecoder(strings.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(into); err != nil {
		t.Fatalf("decode %q: %v", text, err)
	}
}

// New creates the collector of a valid configuration block.
func New(t testing.TB, name, text string, kind collectors.Kind) collectors.Collector {
	t.Helper()
	Decode(t, text, kind)
	if problems := kind.Problems(); problems != nil {
		t.Fatalf("Problems() = %v, want none", problems)
	}
	c, err := kind.New(collectors.Env{Name: name})
	if err != nil {
		t.Fatalf("New() = %v, want no error", err)
	}
	return c
}

// Problems returns the mistakes of a configuration block, one per line, sorted.
func Problems(t testing.TB, text string, kind collectors.Kind) string {
	t.Helper()
	Decode(t, text, kind)
	var lines []string
	for _, p := range kind.Problems() {
		lines = append(lines, p.Path+": "+p.Text)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// Collect runs one collection with the timeout Patience.
func Collect(t testing.TB, c collectors.Collector) ([]collectors.Sample, error) {
	t.Helper()
	return CollectWithin(t, c, Patience)
}

// CollectWithin runs one collection with this timeout.
func CollectWithin(t testing.TB, c collectors.Collector, timeout time.Duration) ([]collectors.Sample, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	return c.Collect(ctx)
}

// Outlast tests a collection that lasts until its deadline. It repeats the collection with longer
// timeouts until reached returns true, because a busy machine may need more time to get there.
func Outlast(t testing.TB, c collectors.Collector, reached func([]collectors.Sample, error) bool) ([]collectors.Sample, error) {
	t.Helper()
	for timeout := Brief; ; timeout *= 2 {
		begin := time.Now()
		samples, err := CollectWithin(t, c, timeout)
		if took := time.Since(begin); took > timeout+Patience {
			t.Errorf("Collect() took %s, want it to end at its deadline, %s", took, timeout)
		}
		if reached(samples, err) || timeout > Patience/2 {
			return samples, err
		}
	}
}

// ErrorContains returns a condition for Outlast: the collection returned an error with this text.
func ErrorContains(text string) func([]collectors.Sample, error) bool {
	return func(_ []collectors.Sample, err error) bool { return err != nil && strings.Contains(err.Error(), text) }
}

// Exposition formats samples in the text format, in the order of the metrics' descriptions.
// Metrics without a description come last, so that a golden file reveals them.
func Exposition(samples []collectors.Sample, descs []collectors.Desc) string {
	var out bytes.Buffer
	left := slices.Clone(samples)
	for _, d := range descs {
		var lines []string
		left = slices.DeleteFunc(left, func(s collectors.Sample) bool {
			name := s.Labels.Get(model.MetricNameLabel)
			base := name
			if d.Type == "histogram" || d.Type == "summary" {
				for _, suffix := range []string{"_bucket", "_sum", "_count"} {
					base = strings.TrimSuffix(base, suffix)
				}
			}
			if base == d.Name {
				lines = append(lines, Sample(s))
			}
			return base == d.Name
		})
		if len(lines) == 0 {
			continue
		}
		if d.Help != "" {
			fmt.Fprintf(&out, "# HELP %s %s\n", d.Name, d.Help)
		}
		fmt.Fprintf(&out, "# TYPE %s %s\n%s", d.Name, d.Type, strings.Join(lines, ""))
	}
	for _, s := range left {
		out.WriteString(Sample(s))
	}
	return out.String()
}

// Sample returns a sample as a line of the text format.
func Sample(s collectors.Sample) string {
	var pairs []string
	s.Labels.Range(func(l labels.Label) {
		if l.Name != model.MetricNameLabel {
			pairs = append(pairs, fmt.Sprintf("%s=%q", l.Name, l.Value))
		}
	})
	line := s.Labels.Get(model.MetricNameLabel)
	if len(pairs) > 0 {
		line += "{" + strings.Join(pairs, ",") + "}"
	}
	line += fmt.Sprintf(" %v", s.Value)
	if s.T != 0 {
		line += fmt.Sprintf(" %d", s.T)
	}
	return line + "\n"
}

// Golden compares an exposition with a file in testdata and runs promlint on it. With
// UPDATE_GOLDEN=1 in the environment, it writes the file first.
func Golden(t *testing.T, file, got string) {
	t.Helper()
	path := filepath.Join("testdata", file)
	if os.Getenv("UPDATE_GOLDEN") != "" {
		Write(t, path, got)
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("exposition differs from testdata/%s (-want +got):\n%s", file, diff)
	}
	findings, err := promlint.New(strings.NewReader(got)).Lint()
	if err != nil || len(findings) > 0 {
		t.Errorf("Lint() = %v, %v, want no findings", findings, err)
	}
}

// Value returns the value of a series in the notation name{label="value"}.
func Value(samples []collectors.Sample, series string) (float64, bool) {
	for _, s := range samples {
		if line := Sample(s); strings.HasPrefix(line, series+" ") {
			return s.Value, true
		}
	}
	return 0, false
}

// Wait waits until a condition holds, at most for Patience.
func Wait(t testing.TB, what string, holds func() bool) {
	t.Helper()
	ticker := time.NewTicker(2 * time.Millisecond)
	defer ticker.Stop()
	patience := time.After(Patience)
	for !holds() {
		select {
		case <-ticker.C:
		case <-patience:
			t.Fatalf("not reached within %s: %s", Patience, what)
		}
	}
}

// Run runs a collector until the caller calls stop, which waits for the collector to return. The
// channel receives an element for each requested collection.
func Run(t testing.TB, c collectors.Collector) (stop func(), requests <-chan struct{}) {
	t.Helper()
	requested := make(chan struct{}, 1000)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.(collectors.Runner).Run(ctx, func() {
			select {
			case requested <- struct{}{}:
			default:
			}
		})
	}()
	return func() { cancel(); <-done }, requested
}

// Dir creates a temporary directory with a path that is short enough for Unix sockets.
func Dir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "v")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// Write writes a file with mode 0600.
func Write(t testing.TB, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Sorted returns the lines in order.
func Sorted(lines string) string {
	all := strings.Split(lines, "\n")
	slices.Sort(all)
	return strings.Join(all, "\n")
}

// Note returns the note of a collector.
func Note(c collectors.Collector) string { return c.(collectors.Noter).Note() }

// Read returns the content of a file.
func Read(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.FromSlash(path))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// Certificate creates a self-signed certificate and writes it and its key to files.
func Certificate(t *testing.T, name string, until time.Time) (cert tls.Certificate, certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Unix(0, 0), NotAfter: until,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{name},
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	certPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	keyPEM := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8})
	dir := t.TempDir()
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	Write(t, certFile, string(certPEM))
	Write(t, keyFile, string(keyPEM))
	if cert, err = tls.X509KeyPair(certPEM, keyPEM); err != nil {
		t.Fatal(err)
	}
	return cert, certFile, keyFile
}

// Serve starts an HTTP server that is closed at the end of the test.
func Serve(t testing.TB, handle http.HandlerFunc) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(handle)
	t.Cleanup(server.Close)
	return server
}
