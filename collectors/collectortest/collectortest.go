// Package collectortest holds what tests of several kinds of collectors share.
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

// Patience is how long tests wait for what happens in another goroutine.
const Patience = 10 * time.Second

// Brief is the first deadline of what lasts until its deadline.
const Brief = 150 * time.Millisecond

// Decode reads a configuration block as the program does: defaults first, then
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

// New makes the collector of a configuration block without mistakes.
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

// Problems renders the mistakes of a configuration block, one a line.
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

// Collect collects once with a deadline.
func Collect(t testing.TB, c collectors.Collector) ([]collectors.Sample, error) {
	t.Helper()
	return CollectWithin(t, c, Patience)
}

// CollectWithin collects once with this timeout.
func CollectWithin(t testing.TB, c collectors.Collector, timeout time.Duration) ([]collectors.Sample, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	return c.Collect(ctx)
}

// Outlast collects from somebody who goes on until the deadline, with ever longer ones
// until the round has come as far as reached says: on a busy machine, that takes its time.
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

// ErrorSays is true for a round that ended with an error of this text.
func ErrorSays(text string) func([]collectors.Sample, error) bool {
	return func(_ []collectors.Sample, err error) bool { return err != nil && strings.Contains(err.Error(), text) }
}

// Exposition renders samples in the text format, in the order of the metrics'
// descriptions; a metric without one comes last, so that a golden file shows it.
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

// Golden compares an exposition with a file of testdata, and checks the conventions for
// metrics. With UPDATE_GOLDEN=1 in the environment it writes the file.
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

// Value returns the value of one series, written as name{label="value"}.
func Value(samples []collectors.Sample, series string) (float64, bool) {
	for _, s := range samples {
		if line := Sample(s); strings.HasPrefix(line, series+" ") {
			return s.Value, true
		}
	}
	return 0, false
}

// Wait waits until a condition holds.
func Wait(t testing.TB, what string, holds func() bool) {
	t.Helper()
	ticker := time.NewTicker(2 * time.Millisecond)
	defer ticker.Stop()
	patience := time.After(Patience)
	for !holds() {
		select {
		case <-ticker.C:
		case <-patience:
			t.Fatalf("waited %s in vain for: %s", Patience, what)
		}
	}
}

// Run runs a collector until the function it returns is called, which waits
// for Run to return. The channel gets an element whenever a round is asked for.
func Run(t testing.TB, c collectors.Collector) (stop func(), rounds <-chan struct{}) {
	t.Helper()
	asked := make(chan struct{}, 1000)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.(collectors.Runner).Run(ctx, func() {
			select {
			case asked <- struct{}{}:
			default:
			}
		})
	}()
	return func() { cancel(); <-done }, asked
}

// Dir makes a directory whose name is short enough for sockets.
func Dir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "v")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// Write writes a file that only its owner can read.
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

// Note is what a collector says of its last round.
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

// Certificate makes a certificate that is its own authority, and writes it and
// its key.
func Certificate(t *testing.T, name string, until time.Time) (cert tls.Certificate, certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name},
		NotBefore: until.Add(-48 * time.Hour), NotAfter: until,
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

// Serve starts an HTTP server, which ends with the test.
func Serve(t testing.TB, handle http.HandlerFunc) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(handle)
	t.Cleanup(server.Close)
	return server
}
