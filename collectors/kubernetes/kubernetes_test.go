package kubernetes_test

import (
	"crypto/tls"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/kubernetes"
)

const (
	reviews = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
	crds    = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"
)

// api is a fake API server. It responds without errors until a handler is replaced.
type api struct {
	*httptest.Server
	ca   string // a file with the certificate authority
	done chan struct{}

	mu       sync.Mutex // guards what follows
	token    string     // the accepted token; empty accepts every request
	faults   map[string]http.HandlerFunc
	requests []string
}

// newAPI starts an API server with TLS and HTTP/2 on loopback.
func newAPI(t *testing.T) *api {
	t.Helper()
	return newAPIWith(t, nil)
}

// newAPIWith is newAPI with another certificate, unless it is nil.
func newAPIWith(t *testing.T, cert *tls.Certificate) *api {
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

// fault replaces the handler of a path; nil restores it.
func (a *api) fault(path string, h http.HandlerFunc) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.faults[path] = h
	if h == nil {
		delete(a.faults, path)
	}
}

// accept sets the accepted token.
func (a *api) accept(token string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.token = token
}

// requested returns the requests so far, each as "METHOD path?query".
func (a *api) requested() []string {
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
	case "/api/v1/pods", "/api/v1/services", "/apis/apps/v1/deployments", "/api/v1/namespaces/shop/pods", "/api/v1/namespaces/web/pods":
		_, _ = io.WriteString(w, `{"kind":"PartialObjectMetadataList","metadata":{"resourceVersion":"100"},"items":[]}`)
	case "/apis/apps":
		_, _ = io.WriteString(w, `{"kind":"APIGroup","preferredVersion":{"groupVersion":"apps/v1","version":"v1"}}`)
	default:
		status(404)(w, r)
	}
}

// watch sends one bookmark and then nothing until one side closes the connection.
func (a *api) watch(w http.ResponseWriter, r *http.Request) {
	_, _ = io.WriteString(w, `{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"101"}}}`+"\n")
	a.hold(w, r)
}

// hold sends the headers, unless they are sent, and nothing more.
func (a *api) hold(w http.ResponseWriter, r *http.Request) {
	w.(http.Flusher).Flush()
	a.silent(w, r)
}

// silent sends nothing.
func (a *api) silent(_ http.ResponseWriter, r *http.Request) {
	select {
	case <-r.Context().Done():
	case <-a.done:
	}
}

// status returns a handler that sends a Status object.
func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		fmt.Fprintf(w, `{"kind":"Status","status":"Failure","message":"%s by the test","code":%d}`, http.StatusText(code), code)
	}
}

func text(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) }
}

// definition returns a handler that sends a custom resource definition, or its metadata if the
// request accepts them.
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
	collectortest.Write(t, path, content)
	return path
}

// config returns the configuration of a collector for this server.
func (a *api) config() *kubernetes.Config {
	c := &kubernetes.Config{}
	c.SetDefaults()
	c.Server, c.CAFile = a.URL, a.ca
	return c
}

func newCollector(t *testing.T, c *kubernetes.Config) collectors.Collector {
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

// samplesBySeries has the values of one collection, by series in the text format.
type samplesBySeries map[string]float64

// collect runs one collection with this timeout.
func collect(t *testing.T, k collectors.Collector, timeout time.Duration) (samplesBySeries, error) {
	t.Helper()
	samples, err := collectortest.CollectWithin(t, k, timeout)
	found := samplesBySeries{}
	for _, s := range samples {
		series, _, _ := strings.Cut(collectortest.Sample(s), " ")
		found[series] = s.Value
	}
	return found, err
}

// reason returns the reason whose series is 1, or "". labels is the start of the label set.
func (s samplesBySeries) reason(t *testing.T, metric, labels string) string {
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

// down returns the reason why the dependency is down, or "".
func (s samplesBySeries) down(t *testing.T) string {
	t.Helper()
	reason := s.reason(t, "vitals_dependency_failure", `dependency="kubernetes",`)
	up, found := s[`vitals_dependency_up{dependency="kubernetes"}`]
	if !found || (up == 1) != (reason == "") {
		t.Errorf("vitals_dependency_up = %v (exported: %t) with the reason %q, want them to agree", up, found, reason)
	}
	return reason
}

func TestExposition(t *testing.T) {
	exposes(t, "metrics.prom", func(c *kubernetes.Config) {
		c.Watch = []string{"pods", "apps/deployments"}
		c.Access = []kubernetes.Access{
			{Verb: "list", Resource: "pods"}, {Verb: "delete", Resource: "pods", Namespace: "lab"}, {Verb: "patch", Resource: "apps/deployments"},
		}
		c.CRDs = []string{"kuryrports.openstack.org", "kuryrnetworks.openstack.org"}
	}, connectedSeries, strings.Replace(connectedSeries, "pods", "apps/deployments", 1))
}

func TestExpositionOfNamespaces(t *testing.T) {
	exposes(t, "namespaces.prom", func(c *kubernetes.Config) {
		c.Watch, c.Namespaces = []string{"pods"}, []string{"shop", "web"}
	}, connectedIn("shop"), connectedIn("web"))
}

// exposes compares the exposition of a collector with a golden file, once the watches are open.
func exposes(t *testing.T, golden string, configure func(*kubernetes.Config), watches ...string) {
	t.Helper()
	serving, _, _ := collectortest.Certificate(t, "server", time.Date(2070, 1, 2, 3, 4, 5, 0, time.UTC))
	_, certFile, keyFile := collectortest.Certificate(t, "client", time.Date(2080, 2, 3, 4, 5, 6, 0, time.UTC))
	api := newAPIWith(t, &serving)
	c := api.config()
	c.CertFile, c.KeyFile = certFile, keyFile
	configure(c)
	k := newCollector(t, c)
	changed, _ := run(t, k)
	await(t, k, changed, "all watches open", func(s samplesBySeries) bool {
		return !slices.ContainsFunc(watches, func(series string) bool { return s[series] != 1 })
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
				t.Errorf("last contact was %s ago, want less than a minute", age)
			}
			samples[i].Value = 1
		}
	}
	collectortest.Golden(t, golden, collectortest.Exposition(samples, k.Describe()))
	for _, d := range k.Describe() {
		if !model.LegacyValidation.IsValidMetricName(d.Name) || !strings.HasSuffix(d.Help, ".") {
			t.Errorf("Describe() has %q with help %q, want a valid name and a sentence", d.Name, d.Help)
		}
	}
}
