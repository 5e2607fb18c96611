package server_test

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/textparse"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/server"
)

const acceptOpenMetrics = "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5"

// ofSnapshot drops the families that come from the process itself.
func ofSnapshot(exposition string) string {
	var kept []string
	for l := range strings.Lines(exposition) {
		name := strings.TrimPrefix(strings.TrimPrefix(l, "# HELP "), "# TYPE ")
		if !strings.HasPrefix(name, "go_") && !strings.HasPrefix(name, "process_") && !strings.HasPrefix(name, "vitals_build_info") && !strings.HasPrefix(name, "vitals_http_") && !strings.HasPrefix(name, "vitals_log_") {
			kept = append(kept, l)
		}
	}
	return strings.Join(kept, "")
}

func TestMetricsAreTheSnapshot(t *testing.T) {
	h := server.New(fixed(failing())).Handler()
	for accept, want := range map[string]struct{ file, contentType string }{
		"*/*":             {"metrics.prom", "text/plain; version=0.0.4; charset=utf-8; escaping=underscores"},
		acceptOpenMetrics: {"metrics.openmetrics", "application/openmetrics-text; version=1.0.0; charset=utf-8; escaping=underscores"},
	} {
		r := request(t, h, "GET", "/metrics", "", "Accept", accept)
		if r.StatusCode != 200 || r.Header.Get("Content-Type") != want.contentType {
			t.Errorf("GET /metrics = %d, %s, want 200, %s", r.StatusCode, r.Header.Get("Content-Type"), want.contentType)
		}
		golden(t, want.file, ofSnapshot(text(t, r)))
	}
}

// A target that exports the metrics of every program, with another type or without one, does
// not hide those of this process.
func TestMetricsOfTheProcessStay(t *testing.T) {
	sample := func(name string) collectors.Sample {
		return collectors.Sample{Labels: labels.FromStrings("__name__", name, "component", "target"), Value: 7}
	}
	snap := healthy()
	snap.Batches = append(snap.Batches, evaluator.Batch{
		Descs: []collectors.Desc{{Name: "go_threads", Type: model.MetricTypeCounter}, {Name: "go_goroutines", Type: model.MetricTypeHistogram}},
		Samples: []collectors.Sample{
			sample("process_start_time_seconds"), sample("go_threads"), sample("go_goroutines_count"), sample("go_gc_duration_seconds"),
		},
	})
	body := "\n" + text(t, request(t, server.New(fixed(snap)).Handler(), "GET", "/metrics", ""))
	for _, want := range []string{
		"process_start_time_seconds ", `process_start_time_seconds{component="target"} 7`, "go_threads ", `go_threads{component="target"} 7`,
		"# TYPE process_start_time_seconds untyped", "# TYPE go_goroutines gauge", "go_goroutines ", `go_gc_duration_seconds{quantile="1"} `,
	} {
		if !strings.Contains(body, "\n"+want) {
			t.Errorf("/metrics has no line that begins with %s", want)
		}
	}
}

// The series of the states in a snapshot that is too old are outdated. The metrics then
// report the same verdicts as the probes.
func TestMetricsOfASnapshotThatStalled(t *testing.T) {
	snap := healthy()
	snap.AliveMaxAge = time.Minute
	var outdated evaluator.Batch
	for _, state := range []string{"ready", "alive", "started"} {
		outdated.Samples = append(outdated.Samples, collectors.Sample{Labels: labels.FromStrings("__name__", "vitals_state", "state", state), Value: 1})
	}
	snap.Batches = append(snap.Batches, outdated)
	o := fixed(snap)
	now := noon()
	o.Now = func() time.Time { return now }
	h := server.New(o).Handler()
	for age, want := range map[time.Duration][3]string{5 * time.Second: {"1", "1", "1"}, time.Minute: {"0", "1", "1"}, time.Hour: {"0", "0", "1"}} {
		now = noon().Add(age)
		body := text(t, request(t, h, "GET", "/metrics", ""))
		for i, state := range []string{"ready", "alive", "started"} {
			code := text(t, request(t, h, "GET", "/"+state, ""))
			if line := fmt.Sprintf("vitals_state{state=%q} %s\n", state, want[i]); strings.Count(body, line) != 1 || strings.Count(body, fmt.Sprintf("vitals_state{state=%q}", state)) != 1 {
				t.Errorf("/metrics after %s, while /%s is %q, does not have once %s", age, state, code, line)
			}
		}
	}
}

func TestMetricsNegotiation(t *testing.T) {
	h := server.New(fixed(healthy())).Handler()
	prometheus3 := "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,application/openmetrics-text;version=0.0.1;q=0.5," +
		"text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2"
	tests := []struct{ name, accept, want string }{
		{"nothing", "", "text/plain"},
		{"a browser", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "text/plain"},
		{"Prometheus", prometheus3, "application/openmetrics-text"},
		{"Prometheus with protobuf first", "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.7," + prometheus3, "application/openmetrics-text"},
		{"OpenMetrics of any version", "application/openmetrics-text", "application/openmetrics-text"},
		{"OpenMetrics of a later version only", "application/openmetrics-text;version=2.0.0", "text/plain"},
		{"text preferred", "text/plain, application/openmetrics-text;q=0.9", "text/plain"},
		{"OpenMetrics refused", "application/openmetrics-text;q=0", "text/plain"},
	}
	for _, tt := range tests {
		r := request(t, h, "GET", "/metrics", "", "Accept", tt.accept)
		if got, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";"); got != tt.want || r.StatusCode != 200 {
			t.Errorf("%s: %d %s, want 200 %s", tt.name, r.StatusCode, got, tt.want)
		}
	}
}

func TestMetricsParseAndLint(t *testing.T) {
	h := server.New(fixed(failing())).Handler()
	body := text(t, request(t, h, "GET", "/metrics", ""))
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(body))
	if err != nil {
		t.Fatalf("expfmt: %v\n%s", err, body)
	}
	for _, name := range []string{"latency_seconds", "vitals_dependency_up", "vitals_http_requests_total", "vitals_build_info", "go_goroutines", "process_cpu_seconds_total"} {
		if families[name] == nil {
			t.Errorf("/metrics has no family %s", name)
		}
	}
	problems, err := promlint.New(strings.NewReader(body)).Lint()
	if err != nil {
		t.Fatalf("promlint: %v", err)
	}
	for _, p := range problems {
		if strings.HasPrefix(p.Metric, "vitals_") || strings.HasPrefix(p.Metric, "go_") || strings.HasPrefix(p.Metric, "process_") {
			t.Errorf("promlint: %s: %s", p.Metric, p.Text)
		}
	}
	for accept, contentType := range map[string]string{"": "text/plain; version=0.0.4", acceptOpenMetrics: "application/openmetrics-text; version=1.0.0"} {
		parsed := parse(t, text(t, request(t, h, "GET", "/metrics", "", "Accept", accept)), contentType)
		for series, want := range map[string]float64{
			`{__name__="vitals_dependency_up", dependency="keystone"}`:   0,
			`{__name__="vitals_dependency_up", dependency="kubernetes"}`: 0, // The later batch wins.
			`{__name__="handled_total", path="C:\\x \"quoted\"\n"}`:      3,
			`{__name__="latency_seconds_count"}`:                         10,
		} {
			if got, ok := parsed[series]; !ok || got != want {
				t.Errorf("%s: %s = %v (found: %v), want %v", contentType, series, got, ok, want)
			}
		}
	}
}

// parse reads an exposition as Prometheus does.
func parse(t *testing.T, body, contentType string) map[string]float64 {
	t.Helper()
	p, err := textparse.New([]byte(body), contentType, labels.NewSymbolTable(), textparse.ParserOptions{})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for {
		entry, err := p.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatalf("textparse: %v\n%s", err, body)
		}
		if entry == textparse.EntrySeries {
			var ls labels.Labels
			p.Labels(&ls)
			_, _, v := p.Series()
			if _, twice := out[ls.String()]; twice {
				t.Errorf("%s stands twice in\n%s", ls, body)
			}
			out[ls.String()] = v
		}
	}
}

func TestMetricsFamilies(t *testing.T) {
	gauge := func(name string, value float64, pairs ...string) collectors.Sample {
		return collectors.Sample{Labels: labels.FromStrings(append(pairs, model.MetricNameLabel, name)...), Value: value}
	}
	desc := func(name string, kind model.MetricType) collectors.Desc {
		return collectors.Desc{Name: name, Help: "Help.", Type: kind}
	}
	tests := []struct {
		name              string
		batches           []evaluator.Batch
		text, openMetrics string
	}{
		{
			"types that disagree become unknown",
			[]evaluator.Batch{
				{Descs: []collectors.Desc{desc("x", model.MetricTypeHistogram)}, Samples: []collectors.Sample{gauge("x_count", 1)}},
				{Descs: []collectors.Desc{desc("x", model.MetricTypeGauge)}, Samples: []collectors.Sample{gauge("x", 2)}},
			},
			"# HELP x Help.\n# TYPE x untyped\nx 2\n# TYPE x_count untyped\nx_count 1\n",
			"# HELP x Help.\n# TYPE x unknown\nx 2\n# TYPE x_count unknown\nx_count 1\n",
		},
		{
			"a counter whose short name is taken",
			[]evaluator.Batch{{
				Descs:   []collectors.Desc{desc("x_total", model.MetricTypeCounter), desc("x", model.MetricTypeGauge)},
				Samples: []collectors.Sample{gauge("x_total", 1), gauge("x", 2)},
			}},
			"# HELP x Help.\n# TYPE x gauge\nx 2\n# HELP x_total Help.\n# TYPE x_total counter\nx_total 1\n",
			"# HELP x Help.\n# TYPE x gauge\nx 2\n# HELP x_total Help.\n# TYPE x_total unknown\nx_total 1\n",
		},
		{
			"a counter named as OpenMetrics names it",
			[]evaluator.Batch{{
				Descs:   []collectors.Desc{desc("x", model.MetricTypeCounter)},
				Samples: []collectors.Sample{gauge("x_total", 1), gauge("x_created", 2)},
			}},
			"# HELP x_total Help.\n# TYPE x_total counter\nx_total 1\n",
			"# HELP x Help.\n# TYPE x counter\nx_total 1\n",
		},
		{
			"infos and state sets are gauges",
			[]evaluator.Batch{{
				Descs:   []collectors.Desc{desc("x_info", model.MetricTypeInfo), desc("y", model.MetricTypeStateset)},
				Samples: []collectors.Sample{gauge("x_info", 1, "version", "1"), gauge("y", 0, "y", "a")},
			}},
			"# HELP x_info Help.\n# TYPE x_info gauge\nx_info{version=\"1\"} 1\n# HELP y Help.\n# TYPE y gauge\ny{y=\"a\"} 0\n",
			"# HELP x_info Help.\n# TYPE x_info gauge\nx_info{version=\"1\"} 1\n# HELP y Help.\n# TYPE y gauge\ny{y=\"a\"} 0\n",
		},
		{
			"names that collide once they are escaped: the later batch wins",
			[]evaluator.Batch{{Samples: []collectors.Sample{gauge("x.y", 1, "a.b", "v")}}, {Samples: []collectors.Sample{gauge("x_y", 2, "a_b", "v")}}},
			"# TYPE x_y untyped\nx_y{a_b=\"v\"} 2\n",
			"# TYPE x_y unknown\nx_y{a_b=\"v\"} 2\n",
		},
		{
			"invalid UTF-8, a leading digit, no name and a stale marker",
			[]evaluator.Batch{{Samples: []collectors.Sample{
				gauge("0é", 1, "l:m", "a\xffb"), {Labels: labels.FromStrings("a", "b"), Value: 1}, gauge("gone", staleNaN()),
			}}},
			"# TYPE __ untyped\n__{l_m=\"a\uFFFDb\"} 1\n",
			"# TYPE __ unknown\n__{l_m=\"a\uFFFDb\"} 1\n",
		},
		{
			"a family of the process: its series and the snapshot's",
			[]evaluator.Batch{{Descs: []collectors.Desc{desc("vitals_build_info", model.MetricTypeGauge)}, Samples: []collectors.Sample{gauge("vitals_build_info", 1, "component", "x")}}},
			"# HELP vitals_build_info Help.\n# TYPE vitals_build_info gauge\nvitals_build_info{component=\"x\"} 1\n",
			"# HELP vitals_build_info Help.\n# TYPE vitals_build_info gauge\nvitals_build_info{component=\"x\"} 1\n",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			snap := healthy()
			snap.Batches = tt.batches
			h := server.New(fixed(snap)).Handler()
			for accept, want := range map[string]string{"": tt.text, acceptOpenMetrics: tt.openMetrics + "# EOF\n"} {
				body := text(t, request(t, h, "GET", "/metrics", "", "Accept", accept))
				if strings.Contains(want, "vitals_build_info") {
					checkMerged(t, body, want)
				} else if diff := cmp.Diff(want, ofSnapshot(body)); diff != "" {
					t.Errorf("Accept %q (-want +got):\n%s", accept, diff)
				}
			}
		})
	}
}

// checkMerged reports whether body has want's lines and one more series of the family, once.
func checkMerged(t *testing.T, body, want string) {
	t.Helper()
	if n := strings.Count(body, "# TYPE vitals_build_info gauge\n"); n != 1 {
		t.Errorf("TYPE of vitals_build_info stands %d times, want once", n)
	}
	for l := range strings.Lines(strings.TrimSuffix(want, "# EOF\n")) {
		if !strings.Contains(body, l) {
			t.Errorf("line %q is missing in\n%s", l, body)
		}
	}
	if !strings.Contains(body, `vitals_build_info{branch="`) {
		t.Error("the process's own vitals_build_info is missing")
	}
}

func TestMetricsPacked(t *testing.T) {
	h := server.New(fixed(healthy())).Handler()
	for accept, packed := range map[string]bool{
		"gzip": true, "gzip, deflate, br": true, "br;q=1.0, GZIP;q=0.5": true,
		"": false, "gzip;q=0": false, "gzip;q=x": false, "identity": false,
	} {
		r := request(t, h, "GET", "/metrics", "", "Accept-Encoding", accept)
		if got := r.Header.Get("Content-Encoding") == "gzip"; got != packed {
			t.Errorf("Accept-Encoding %q: packed is %v, want %v", accept, got, packed)
		}
		if packed {
			z, err := gzip.NewReader(r.Body)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(z)
			if err != nil || !strings.Contains(string(body), "vitals_dependency_up") {
				t.Errorf("Accept-Encoding %q: %v, %d bytes", accept, err, len(body))
			}
		}
	}
}

func TestRequestsAreCountedByPattern(t *testing.T) {
	o := fixed(failing())
	now := noon()
	o.Now = func() time.Time { return now }
	h := server.New(o).Handler()
	for _, target := range []string{"/ready", "/readyz", "/alive", "/ready?verbose", "/ready/KeystoneDown", "/ready/Nothing", "/x/y/z", "/api/v1/components/a", "/metrics"} {
		request(t, h, "GET", target, "")
	}
	request(t, h, "POST", "/alive", "")
	now = now.Add(time.Second) // until then, scrapes share the first response
	got := parse(t, text(t, request(t, h, "GET", "/metrics", "")), "text/plain; version=0.0.4")
	for labels, want := range map[string]float64{
		`code="503", path="/ready"`:                  3,
		`code="200", path="/alive"`:                  1,
		`code="405", path="/alive"`:                  1,
		`code="503", path="/ready/RULE"`:             1,
		`code="404", path="/ready/RULE"`:             1,
		`code="404", path="other"`:                   1,
		`code="405", path="/api/v1/components/NAME"`: 1,
		`code="200", path="/metrics"`:                1,
	} {
		if n := got[`{__name__="vitals_http_requests_total", `+labels+`}`]; n != want {
			t.Errorf("vitals_http_requests_total{%s} = %v, want %v", labels, n, want)
		}
	}
}

func TestSLIs(t *testing.T) {
	h := server.New(fixed(failing())).Handler()
	r := request(t, h, "GET", "/metrics/slis", "")
	golden(t, "slis.prom", text(t, r))
	if r.StatusCode != http.StatusOK {
		t.Errorf("GET /metrics/slis = %d, want 200", r.StatusCode)
	}
	om := text(t, request(t, h, "GET", "/metrics/slis", "", "Accept", acceptOpenMetrics))
	parsed := parse(t, om, "application/openmetrics-text; version=1.0.0")
	if got := parsed[`{__name__="kubernetes_healthcheck", name="HandlerDead", type="livez"}`]; got != 1 {
		t.Errorf("HandlerDead = %v, want 1 in\n%s", got, om)
	}
}
