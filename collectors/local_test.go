package collectors_test

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

// localPatience is how long tests wait for what happens in another goroutine.
const localPatience = 10 * time.Second

// localBrief is the first deadline of what lasts until its deadline.
const localBrief = 150 * time.Millisecond

// localDecode reads a configuration block as the program does: defaults first, then
// strictly.
func localDecode(t testing.TB, text string, into collectors.Kind) {
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

// localNew makes the collector of a configuration block without mistakes.
func localNew(t testing.TB, name, text string, kind collectors.Kind) collectors.Collector {
	t.Helper()
	localDecode(t, text, kind)
	if problems := kind.Problems(); problems != nil {
		t.Fatalf("Problems() = %v, want none", problems)
	}
	c, err := kind.New(collectors.Env{Name: name})
	if err != nil {
		t.Fatalf("New() = %v, want no error", err)
	}
	return c
}

// localProblems renders the mistakes of a configuration block, one a line.
func localProblems(t testing.TB, text string, kind collectors.Kind) string {
	t.Helper()
	localDecode(t, text, kind)
	var lines []string
	for _, p := range kind.Problems() {
		lines = append(lines, p.Path+": "+p.Text)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// localCollect collects once with a deadline.
func localCollect(t testing.TB, c collectors.Collector) ([]collectors.Sample, error) {
	t.Helper()
	return localCollectWithin(t, c, localPatience)
}

func localCollectWithin(t testing.TB, c collectors.Collector, timeout time.Duration) ([]collectors.Sample, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	return c.Collect(ctx)
}

// localOutlast collects from somebody who goes on until the deadline, with ever longer ones
// until the round has come as far as reached says: on a busy machine, that takes its time.
func localOutlast(t testing.TB, c collectors.Collector, reached func([]collectors.Sample, error) bool) ([]collectors.Sample, error) {
	t.Helper()
	for timeout := localBrief; ; timeout *= 2 {
		begin := time.Now()
		samples, err := localCollectWithin(t, c, timeout)
		if took := time.Since(begin); took > timeout+localPatience {
			t.Errorf("Collect() took %s, want it to end at its deadline, %s", took, timeout)
		}
		if reached(samples, err) || timeout > localPatience/2 {
			return samples, err
		}
	}
}

// localErrorSays is true for a round that ended with an error of this text.
func localErrorSays(text string) func([]collectors.Sample, error) bool {
	return func(_ []collectors.Sample, err error) bool { return err != nil && strings.Contains(err.Error(), text) }
}

// localExposition renders samples in the text format, in the order of the metrics'
// descriptions; a metric without one comes last, so that a golden file shows it.
func localExposition(samples []collectors.Sample, descs []collectors.Desc) string {
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
				lines = append(lines, localSample(s))
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
		out.WriteString(localSample(s))
	}
	return out.String()
}

func localSample(s collectors.Sample) string {
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

// localGolden holds an exposition against a file of testdata, and against the
// conventions for metrics.
func localGolden(t *testing.T, file, got string) {
	t.Helper()
	want, err := os.ReadFile(filepath.Join("testdata", file))
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

// localValue returns the value of one series, written as name{label="value"}.
func localValue(samples []collectors.Sample, series string) (float64, bool) {
	for _, s := range samples {
		if line := localSample(s); strings.HasPrefix(line, series+" ") {
			return s.Value, true
		}
	}
	return 0, false
}

// localWait waits until a condition holds.
func localWait(t testing.TB, what string, holds func() bool) {
	t.Helper()
	ticker := time.NewTicker(2 * time.Millisecond)
	defer ticker.Stop()
	patience := time.After(localPatience)
	for !holds() {
		select {
		case <-ticker.C:
		case <-patience:
			t.Fatalf("waited %s in vain for: %s", localPatience, what)
		}
	}
}

// localRun runs a collector until the function it returns is called, which waits
// for Run to return. The channel gets an element whenever a round is asked for.
func localRun(t testing.TB, c collectors.Collector) (stop func(), rounds <-chan struct{}) {
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

// localDir makes a directory whose name is short enough for sockets.
func localDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "v")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func localWrite(t testing.TB, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func localSorted(lines string) string {
	all := strings.Split(lines, "\n")
	slices.Sort(all)
	return strings.Join(all, "\n")
}

// localNote is what a collector says of its last round.
func localNote(c collectors.Collector) string { return c.(collectors.Noter).Note() }

func localRead(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.FromSlash(path))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// localCertificate makes a certificate that is its own authority, and writes it and
// its key.
func localCertificate(t *testing.T, name string, until time.Time) (cert tls.Certificate, certFile, keyFile string) {
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
	localWrite(t, certFile, string(certPEM))
	localWrite(t, keyFile, string(keyPEM))
	if cert, err = tls.X509KeyPair(certPEM, keyPEM); err != nil {
		t.Fatal(err)
	}
	return cert, certFile, keyFile
}

func localServe(t testing.TB, handle http.HandlerFunc) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(handle)
	t.Cleanup(server.Close)
	return server
}
