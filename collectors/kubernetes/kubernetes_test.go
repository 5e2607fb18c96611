package kubernetes_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/kubernetes"
)

var update = flag.Bool("update.kubernetes", false, "rewrite testdata/kubernetes.prom")

const (
	reviews = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
	crds    = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"
)

// api is a small API server with faults. It is healthy until a handler is
// replaced.
type api struct {
	*httptest.Server
	ca   string // a file with the certificate authority
	done chan struct{}

	mu       sync.Mutex // guards what follows
	token    string     // what an authenticated request must bring; empty accepts all
	faults   map[string]http.HandlerFunc
	requests []string
}

// newKubeAPI starts an API server on loopback that speaks TLS and HTTP/2.
func newKubeAPI(t *testing.T) *api {
	t.Helper()
	return newKubeAPIWith(t, nil)
}

// newKubeAPIWith starts one that shows another certificate, if one is given.
func newKubeAPIWith(t *testing.T, cert *tls.Certificate) *api {
	t.Helper()
	a := &api{faults: map[string]http.HandlerFunc{}, done: make(chan struct{})}
	a.Server = httptest.NewUnstartedServer(a)
	a.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	a.EnableHTTP2 = true
	a.TLS = &tls.Config{ClientAuth: tls.RequestClientCert}
	if cert != nil {
		a.TLS.Certificates = []tls.Certificate{*cert}
	}
	a.StartTLS()
	a.ca = file(t, "ca.crt", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.Certificate().Raw})))
	t.Cleanup(a.stop)
	return a
}

func (a *api) stop() {
	select {
	case <-a.done:
	default:
		close(a.done)
		a.CloseClientConnections()
		a.Close()
	}
}

// fault replaces the answer to a path; nil heals it.
func (a *api) fault(path string, h http.HandlerFunc) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.faults[path] = h
	if h == nil {
		delete(a.faults, path)
	}
}

func (a *api) accept(token string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.token = token
}

// asked returns the requests so far, "METHOD path?query" each.
func (a *api) asked() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.requests)
}

// ServeHTTP implements http.Handler.
func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	a.requests = append(a.requests, r.Method+" "+r.URL.String())
	fault, token := a.faults[r.URL.Path], a.token
	a.mu.Unlock()
	switch {
	case fault != nil:
		fault(w, r)
	case r.URL.Path == "/readyz":
		_, _ = io.WriteString(w, "ok")
	case token != "" && r.Header.Get("Authorization") != "Bearer "+token:
		status(401)(w, r)
	case r.URL.Query().Has("watch"):
		a.watch(w, r)
	default:
		a.object(w, r)
	}
}

func (a *api) object(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case reviews:
		var review struct {
			Spec struct {
				ResourceAttributes struct{ Verb, Group, Resource string }
			}
		}
		_ = json.NewDecoder(r.Body).Decode(&review)
		w.WriteHeader(http.StatusCreated)
		fmt.Fprintf(w, `{"kind":"SelfSubjectAccessReview","status":{"allowed":%t}}`, review.Spec.ResourceAttributes.Verb != "delete")
	case crds + "kuryrports.openstack.org":
		definition("True")(w, r)
	case "/api/v1/pods", "/api/v1/services", "/apis/apps/v1/deployments":
		_, _ = io.WriteString(w, `{"kind":"PartialObjectMetadataList","metadata":{"resourceVersion":"100"},"items":[]}`)
	case "/apis/apps":
		_, _ = io.WriteString(w, `{"kind":"APIGroup","preferredVersion":{"groupVersion":"apps/v1","version":"v1"}}`)
	default:
		status(404)(w, r)
	}
}

// watch sends one bookmark and then nothing until one side goes away.
func (a *api) watch(w http.ResponseWriter, r *http.Request) {
	_, _ = io.WriteString(w, `{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"101"}}}`+"\n")
	a.hold(w, r)
}

// hold sends the headers, if that has not been done, and stays silent.
func (a *api) hold(w http.ResponseWriter, r *http.Request) {
	w.(http.Flusher).Flush()
	a.silent(w, r)
}

// silent answers nothing at all.
func (a *api) silent(_ http.ResponseWriter, r *http.Request) {
	select {
	case <-r.Context().Done():
	case <-a.done:
	}
}

// status answers with a Status object, as an API server does.
func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		fmt.Fprintf(w, `{"kind":"Status","status":"Failure","message":"%s by the test","code":%d}`, http.StatusText(code), code)
	}
}

func text(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) }
}

// definition answers with a custom resource definition, or with its metadata
// for those who ask for no more.
func definition(established string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadata;") {
			_, _ = io.WriteString(w, `{"kind":"PartialObjectMetadata","metadata":{"resourceVersion":"`+established+`"}}`)
			return
		}
		fmt.Fprintf(w, `{"kind":"CustomResourceDefinition","metadata":{"resourceVersion":%q},"status":{"conditions":[
			{"type":"NamesAccepted","status":"True"},{"type":"Established","status":%q}]}}`, established, established)
	}
}

// file writes a file for one test and returns its path.
func file(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// certificate makes a self-signed certificate for 127.0.0.1, and the files of
// it and of its key.
func certificate(t *testing.T, notAfter time.Time) (cert tls.Certificate, certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"},
		NotBefore: time.Unix(0, 0), NotAfter: notAfter,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	certPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	keyPEM := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})
	cert, err = tls.X509KeyPair(certPEM, keyPEM)
	if err != nil {
		t.Fatal(err)
	}
	return cert, file(t, "tls.crt", string(certPEM)), file(t, "tls.key", string(keyPEM))
}

// config returns the configuration of a collector for this server.
func (a *api) config() *kubernetes.Config {
	c := &kubernetes.Config{}
	c.SetDefaults()
	c.Server, c.CAFile = a.URL, a.ca
	return c
}

func kubeNew(t *testing.T, c *kubernetes.Config) collectors.Collector {
	t.Helper()
	if problems := c.Problems(); len(problems) > 0 {
		t.Fatalf("Problems() = %v, want none", problems)
	}
	k, err := c.New(collectors.Env{Name: "kubernetes", Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatalf("New() = %v, want a collector", err)
	}
	return k
}

// kubeSamples are the samples of one round by their series in the text format.
type kubeSamples map[string]float64

// collect runs one round that may take as long as timeout.
func collect(t *testing.T, k collectors.Collector, timeout time.Duration) (kubeSamples, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	samples, err := k.Collect(ctx)
	found := kubeSamples{}
	for _, s := range samples {
		found[series(s.Labels)] = s.Value
	}
	return found, err
}

func series(l labels.Labels) string {
	var pairs []string
	l.Range(func(l labels.Label) {
		if l.Name != model.MetricNameLabel {
			pairs = append(pairs, fmt.Sprintf("%s=%q", l.Name, l.Value))
		}
	})
	return l.Get(model.MetricNameLabel) + "{" + strings.Join(pairs, ",") + "}"
}

// reason returns the reason whose series of the state set is 1, and "" without one.
// extra narrows the set down, as in `,resource="pods"`.
func (s kubeSamples) reason(t *testing.T, metric, labels string) string {
	t.Helper()
	var reasons []string
	prefix := metric + "{" + labels + `reason="`
	for series, value := range s {
		if rest, ok := strings.CutPrefix(series, prefix); ok && value == 1 {
			reason, _, _ := strings.Cut(rest, `"`)
			reasons = append(reasons, reason)
		}
	}
	if len(reasons) > 1 {
		t.Errorf("%s has the reasons %v, want one at most", metric, reasons)
	}
	return strings.Join(reasons, " ")
}

func (s kubeSamples) down(t *testing.T) string {
	t.Helper()
	reason := s.reason(t, "vitals_dependency_failure", `dependency="kubernetes",`)
	up, found := s[`vitals_dependency_up{dependency="kubernetes"}`]
	if !found || (up == 1) != (reason == "") {
		t.Errorf("vitals_dependency_up = %v (exported: %t) with the reason %q, want them to agree", up, found, reason)
	}
	return reason
}

// render writes samples in the text format, sorted, with their descriptions.
func render(t *testing.T, descs []collectors.Desc, samples []collectors.Sample) string {
	t.Helper()
	lines := map[string][]string{}
	for _, s := range samples {
		name := s.Labels.Get(model.MetricNameLabel)
		lines[name] = append(lines[name], fmt.Sprintf("%s %v\n", series(s.Labels), s.Value))
	}
	slices.SortFunc(descs, func(a, b collectors.Desc) int { return strings.Compare(a.Name, b.Name) })
	var out bytes.Buffer
	for _, d := range descs {
		fmt.Fprintf(&out, "# HELP %s %s\n# TYPE %s %s\n", d.Name, d.Help, d.Name, d.Type)
		slices.Sort(lines[d.Name])
		out.WriteString(strings.Join(lines[d.Name], ""))
		delete(lines, d.Name)
	}
	for name := range lines {
		t.Errorf("metric %s is exported and not described", name)
	}
	return out.String()
}

func TestExposition(t *testing.T) {
	serving, _, _ := certificate(t, time.Date(2070, 1, 2, 3, 4, 5, 0, time.UTC))
	_, certFile, keyFile := certificate(t, time.Date(2080, 2, 3, 4, 5, 6, 0, time.UTC))
	api := newKubeAPIWith(t, &serving)
	c := api.config()
	c.CertFile, c.KeyFile = certFile, keyFile
	c.Watch = []string{"pods", "apps/deployments"}
	c.Access = []kubernetes.Access{
		{Verb: "list", Resource: "pods"}, {Verb: "delete", Resource: "pods", Namespace: "lab"}, {Verb: "patch", Resource: "apps/deployments"},
	}
	c.CRDs = []string{"kuryrports.openstack.org", "kuryrnetworks.openstack.org"}
	k := kubeNew(t, c)
	changed, _ := run(t, k)
	await(t, k, changed, "both watches open", func(s kubeSamples) bool {
		return s[kubeConnected] == 1 && s[strings.Replace(kubeConnected, "pods", "apps/deployments", 1)] == 1
	})
	samples, err := k.Collect(t.Context())
	if err != nil {
		t.Errorf("Collect() = %v, want no error", err)
	}
	for i, s := range samples {
		switch s.Labels.Get(model.MetricNameLabel) {
		case "vitals_dependency_latency_seconds":
			if s.Value <= 0 || s.Value > 5 {
				t.Errorf("latency = %v s, want a plausible one", s.Value)
			}
			samples[i].Value = 0.25
		case "vitals_kubernetes_watch_last_contact_timestamp_seconds":
			if age := time.Since(time.UnixMilli(int64(s.Value * 1000))); age < -time.Second || age > time.Minute {
				t.Errorf("last contact was %s ago, want just now", age)
			}
			samples[i].Value = 1
		}
	}
	got := render(t, k.Describe(), samples)
	const golden = "testdata/kubernetes.prom"
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("exposition differs from %s (-want +got):\n%s", golden, diff)
	}
	for _, d := range k.Describe() {
		if !model.LegacyValidation.IsValidMetricName(d.Name) || !strings.HasSuffix(d.Help, ".") {
			t.Errorf("Describe() has %q with help %q, want a valid name and a sentence", d.Name, d.Help)
		}
	}
}
