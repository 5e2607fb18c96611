package scrape_test

import (
	"compress/gzip"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/scrape"
)

const (
	textFormat        = "text/plain; version=0.0.4; charset=utf-8"
	openMetricsFormat = "application/openmetrics-text; version=1.0.0; charset=utf-8"
)

// newTarget serves one answer.
func newTarget(t testing.TB, contentType, body string) *httptest.Server {
	t.Helper()
	return collectortest.Serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Type"] = []string{contentType}
		_, _ = io.WriteString(w, body)
	})
}

func newScraper(t testing.TB, url, more string) collectors.Collector {
	t.Helper()
	return collectortest.New(t, "target", "{url: '"+url+"'"+more+"}", &scrape.Config{})
}

// split splits the samples into those of the target and those of the collector.
func split(samples []collectors.Sample) (target, own []collectors.Sample) {
	for _, s := range samples {
		if strings.HasPrefix(collectortest.Sample(s), "vitals_scrape_") {
			own = append(own, s)
		} else {
			target = append(target, s)
		}
	}
	return target, own
}

// reason returns the reason of a failed scrape, and empty for a success.
func reason(t testing.TB, samples []collectors.Sample) string {
	t.Helper()
	var reasons []string
	for _, s := range samples {
		if m := regexp.MustCompile(`^vitals_scrape_failure\{component="target",reason="(.*)"\} 1`).FindStringSubmatch(collectortest.Sample(s)); m != nil {
			reasons = append(reasons, m[1])
		}
	}
	if up, ok := collectortest.Value(samples, `vitals_scrape_up{component="target"}`); !ok || (up == 1) != (reasons == nil) || len(reasons) > 1 {
		t.Errorf("vitals_scrape_up, reasons = %v, %v, want one reason if it is down", up, reasons)
	}
	return strings.Join(reasons, ",")
}

func TestExposition(t *testing.T) {
	for _, tt := range []struct{ given, contentType, want string }{
		{"target.txt", textFormat, "metrics.prom"},
		{"target.om.txt", openMetricsFormat, "metrics.om.prom"},
	} {
		t.Run(tt.given, func(t *testing.T) {
			target := newTarget(t, tt.contentType, collectortest.Read(t, "testdata/"+tt.given))
			c := newScraper(t, target.URL, "")
			for range 2 { // the second time with a warm cache
				samples, err := collectortest.Collect(t, c)
				if err != nil {
					t.Fatalf("Collect() = %v, want no error", err)
				}
				for i, s := range samples {
					if strings.HasPrefix(collectortest.Sample(s), "vitals_scrape_duration_seconds") {
						if s.Value <= 0 {
							t.Errorf("duration = %v, want more than 0", s.Value)
						}
						samples[i].Value = 0.25
					}
				}
				got := collectortest.Exposition(samples, c.Describe())
				if want := collectortest.Read(t, "testdata/"+tt.want); got != want {
					t.Errorf("exposition =\n%s\nwant\n%s", got, want)
				}
			}
		})
	}
}

func TestFailures(t *testing.T) {
	many := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	tests := []struct {
		name, contentType, body string
		limits, want            string
	}{
		{"empty answer is a success", textFormat, "", "", ""},
		{"no content type", "", "a 1\n", "", "protocol"},
		{"a page", "text/html", "<html>", "", "protocol"},
		{"protobuf, which was not requested", "application/vnd.google.protobuf", "\x05", "", "protocol"},
		{"not an exposition", textFormat, "<html>\n", "", "protocol"},
		{"a line without a value", textFormat, "a 1\nb\n", "", "protocol"},
		{"cut in the middle of a line", textFormat, "a 1\nb{c=\"d", "", "protocol"},
		{"OpenMetrics without its end", openMetricsFormat, "# TYPE a gauge\na 1\n", "", "protocol"},
		{"a value that is no number", textFormat, "a one\n", "", "protocol"},
		{"a label value that is not UTF-8", textFormat, "a{b=\"\xff\"} 1\n", "", "protocol"},
		{"a name that is not UTF-8", textFormat, "\xff 1\n", "", "protocol"},
		{"a quoted name that is not UTF-8", textFormat, "{\"\xff\"} 1\n", "", "protocol"},
		{"binary", textFormat, "\x00\x01\x02", "", "protocol"},
		{"a label twice", textFormat, "a{b=\"1\",b=\"2\"} 1\n", "", "protocol"},
		{"no name", textFormat, "{b=\"1\"} 1\n", "", "protocol"},
		{"a million samples in 9 MB", textFormat, many(1_000_000, "a%06d 1\n"), ", sample_limit: 10000", "too_many_samples"},
		{"a million samples in 17 MB", textFormat, many(1_000_000, "a{b=\"%06d\"} 1\n"), "", "too_large"},
		{"as many samples as may be", textFormat, many(10, "a%d 1\n"), ", sample_limit: 10", ""},
		{"one sample more", textFormat, many(11, "a%d 1\n"), ", sample_limit: 10", "too_many_samples"},
		{"as many samples as may be by default", textFormat, many(2000, "a%d 1\n"), "", ""},
		{"one sample more than by default", textFormat, many(2001, "a%d 1\n"), "", "too_many_samples"},
		{"as large as may be", textFormat, "a 1\n", ", body_size_limit: 4B", ""},
		{"one byte more", textFormat, "a 10\n", ", body_size_limit: 4B", "too_large"},
		{"too many labels", textFormat, "a{" + many(100, "l%d=\"x\",") + "} 1\n", "", "label_limit"},
		{"as many labels as may be", textFormat, "a{b=\"c\"} 1\n", ", label_limit: 3", ""},
		{"one label more", textFormat, "a{b=\"c\",d=\"e\"} 1\n", ", label_limit: 3", "label_limit"},
		{"a label value that is too long", textFormat, "a{b=\"" + strings.Repeat("x", 2049) + "\"} 1\n", "", "label_limit"},
		{"a label name that is too long", textFormat, "a{" + strings.Repeat("x", 2049) + "=\"b\"} 1\n", "", "label_limit"},
		{"a metric name that is too long", textFormat, strings.Repeat("x", 2049) + " 1\n", "", "label_limit"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newScraper(t, newTarget(t, tt.contentType, tt.body).URL, tt.limits)
			samples, err := collectortest.Collect(t, c)
			if got := reason(t, samples); got != tt.want || (err != nil) != (tt.want != "") {
				t.Errorf("reason = %q, error %v, want %q", got, err, tt.want)
			}
			if target, _ := split(samples); tt.want != "" && len(target) > 0 {
				t.Errorf("%d of the target's samples after a failure, want none", len(target))
			}
			if err != nil && (len(err.Error()) > 512 || strings.Contains(err.Error(), "\n")) {
				t.Errorf("error = %q (%d bytes), want one line of at most 512", err, len(err.Error()))
			}
		})
	}
}

func TestAnswers(t *testing.T) {
	gzipped := func(w http.ResponseWriter, write func(io.Writer)) {
		w.Header().Set("Content-Type", textFormat)
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		write(z)
		_ = z.Close()
	}
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
	}
	tests := []struct {
		name   string
		answer http.HandlerFunc
		want   string
	}{
		{"compressed", func(w http.ResponseWriter, _ *http.Request) {
			gzipped(w, func(z io.Writer) { _, _ = io.WriteString(z, "a 1\n") })
		}, ""},
		{"small until it is decompressed", func(w http.ResponseWriter, _ *http.Request) {
			gzipped(w, func(z io.Writer) { _, _ = io.WriteString(z, strings.Repeat("#", 1<<20)) })
		}, "too_large"},
		{"not compressed despite its header", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = io.WriteString(w, "a 1\n")
		}, "protocol"},
		{"compressed in another way", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "br")
		}, "protocol"},
		{"endless", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", textFormat)
			comments := strings.Repeat("# x\n", 1000)
			for {
				if _, err := io.WriteString(w, comments); err != nil {
					return
				}
			}
		}, "too_large"},
		{"shorter than its Content-Length", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "a 1\n")
		}, "protocol"},
		{"connection closed", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "protocol"},
		{"401", status(401), "auth"},
		{"403", status(403), "forbidden"},
		{"404", status(404), "not_found"},
		{"429", status(429), "client_error"},
		{"500", status(500), "server_error"},
		{"204, an answer without metrics", status(204), "protocol"},
		{"redirect", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) }, "protocol"},
		{"huge header", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X", strings.Repeat("x", 1<<20))
		}, "protocol"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newScraper(t, collectortest.Serve(t, tt.answer).URL, ", body_size_limit: 64KiB") // few bytes, at any load
			samples, err := collectortest.Collect(t, c)
			if got := reason(t, samples); got != tt.want || (err != nil) != (tt.want != "") {
				t.Errorf("reason = %q, error %v, want %q", got, err, tt.want)
			}
		})
	}
}

func TestHangs(t *testing.T) {
	for _, when := range []string{"before the header", "in the body"} {
		t.Run(when, func(t *testing.T) {
			defer goleak.VerifyNone(t)
			free := make(chan struct{})
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if when == "in the body" {
					w.Header().Set("Content-Type", textFormat)
					_, _ = io.WriteString(w, "a 1\n")
					_ = http.NewResponseController(w).Flush()
				}
				<-free
			}))
			defer server.Close()
			defer close(free)
			c := newScraper(t, server.URL+"/?token=secret", "")
			samples, err := collectortest.CollectWithin(t, c, 50*time.Millisecond)
			if got := reason(t, samples); got != "timeout" || err == nil || strings.Contains(err.Error(), "secret") {
				t.Errorf("reason = %q, error %v, want timeout and an error without the query", got, err)
			}
		})
	}
}

func TestRefused(t *testing.T) {
	tests := map[string]collectors.Collector{
		"port":   newScraper(t, "http://"+collectortest.Refusing(t), ""),
		"socket": newScraper(t, "http://x/", ", unix_socket: "+filepath.Join(collectortest.Dir(t), "none.sock")),
	}
	for name, c := range tests {
		samples, err := collectortest.Collect(t, c)
		if got := reason(t, samples); got != "refused" || err == nil {
			t.Errorf("%s: reason = %q, error %v, want refused", name, got, err)
		}
	}
}

func TestRecovers(t *testing.T) {
	answers := []string{"a 1\n", "broken\n", "a 2\n"}
	target := collectortest.Serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", textFormat)
		_, _ = io.WriteString(w, answers[0])
		answers = answers[1:]
	})
	c := newScraper(t, target.URL, "")
	var got []string
	for range 3 {
		samples, err := collectortest.Collect(t, c)
		value, ok := collectortest.Value(samples, `a{component="target"}`)
		got = append(got, fmt.Sprint(value, ok, err == nil, len(c.Describe())))
	}
	if want := "[1 true true 10 0 false false 10 2 true true 10]"; fmt.Sprint(got) != want {
		t.Errorf("values = %v, want %s", got, want)
	}
}

func TestValues(t *testing.T) {
	c := newScraper(t, newTarget(t, textFormat, "a NaN\nb +Inf\nc -Inf\n").URL, "")
	samples, err := collectortest.Collect(t, c)
	if err != nil {
		t.Fatalf("Collect() = %v, want no error", err)
	}
	for name, want := range map[string]float64{"a": math.NaN(), "b": math.Inf(1), "c": math.Inf(-1)} {
		got, ok := collectortest.Value(samples, name+`{component="target"}`)
		if !ok || got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Errorf("%s = %v, %v, want %v", name, got, ok, want)
		}
	}
}

func TestSeries(t *testing.T) {
	tests := []struct {
		name, body, more string
		want             []string
		dropped          float64
	}{
		{"a series twice: the first counts", "a 1\na 2\n", "", []string{`a{component="target"} 1`}, 1},
		{"labels in another order", "a{b=\"1\",c=\"2\"} 1\na{c=\"2\",b=\"1\"} 2\n", "", []string{`a{b="1",c="2",component="target"} 1`}, 1},
		{"an empty label is none", "a{b=\"\"} 1\na 2\n", "", []string{`a{component="target"} 1`}, 1},
		{"twice with later timestamps", "a 1 1000\na 2 2000\na 3 2000\na 4 500\n", "", []string{`a{component="target"} 1 1000`, `a{component="target"} 2 2000`}, 2},
		{"timestamps not honoured", "a 1 1000\n", ", honor_timestamps: false", []string{`a{component="target"} 1`}, 0},
		{"a component of its own", "a{component=\"x\"} 1\na{component=\"\"} 2\n", "", []string{`a{component="target",exported_component="x"} 1`, `a{component="target"} 2`}, 0},
		{"a component that was renamed before", "a{component=\"x\",exported_component=\"y\"} 1\n", "",
			[]string{`a{component="target",exported_component="y",exported_exported_component="x"} 1`}, 0},
		{"a component of its own, honoured", "a{component=\"x\"} 1\na{component=\"\"} 2\n", ", honor_labels: true",
			[]string{`a{component="x"} 1`, `a{component="target"} 2`}, 0},
		{"with a name of the collector's metrics", "vitals_scrape_up 7\nvitals_scrape_up{component=\"x\"} 7\n", ", honor_vitals_metrics: true, honor_labels: true",
			[]string{`vitals_scrape_up{component="x"} 7`}, 1},
		{"with a name of the collector's metrics, renamed", "vitals_scrape_up{component=\"x\"} 7\n", ", honor_vitals_metrics: true", nil, 1},
		{"only those to keep", "ab 1\na 2\nb{a=\"x\"} 3\nba 4\n{\"a\"} 5\n{\"b\",a=\"y\"} 6\n", ", keep: [a, 'b+']",
			[]string{`a{component="target"} 2`, `b{a="x",component="target"} 3`, `b{a="y",component="target"} 6`}, 1},
		{"the limit counts what is kept", "x1 1\nx2 1\na 1\nx3 1\n", ", keep: [a], sample_limit: 1", []string{`a{component="target"} 1`}, 0},
		{"names in UTF-8", "{\"größe\",\"länge\"=\"ü\"} 1\n", "", []string{`größe{component="target",länge="ü"} 1`}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newScraper(t, newTarget(t, textFormat, tt.body).URL, tt.more)
			for range 2 { // the second time with a warm cache
				samples, err := collectortest.Collect(t, c)
				if err != nil {
					t.Fatalf("Collect() = %v, want no error", err)
				}
				n, _ := collectortest.Value(samples, `vitals_scrape_samples{component="target"}`)
				var got []string
				for _, s := range samples[:int(n)] {
					got = append(got, strings.TrimSpace(collectortest.Sample(s)))
				}
				if fmt.Sprint(got) != fmt.Sprint(tt.want) {
					t.Errorf("samples = %v, want %v", got, tt.want)
				}
				if v, _ := collectortest.Value(samples, `vitals_scrape_dropped_samples{component="target"}`); v != tt.dropped {
					t.Errorf("dropped = %v, want %v", v, tt.dropped)
				}
			}
		})
	}
}

func TestHelpIsBounded(t *testing.T) {
	body := "# HELP a " + strings.Repeat("é", 1000) + "\na 1\n"
	for i := range 1000 {
		body += fmt.Sprintf("# TYPE unused%d gauge\n", i)
	}
	c := newScraper(t, newTarget(t, textFormat, body).URL, "")
	if _, err := collectortest.Collect(t, c); err != nil {
		t.Fatalf("Collect() = %v, want no error", err)
	}
	descs := c.Describe()
	if last := descs[len(descs)-1]; len(descs) != 11 || last.Name != "a" || last.Help != strings.Repeat("é", 256) {
		t.Errorf("Describe() = %d descriptions, the last of %q with %d bytes of help, want 11, a, 512", len(descs), last.Name, len(last.Help))
	}
}

func TestNewRejectsAnExpression(t *testing.T) {
	var kind collectors.Kind = &scrape.Config{Keep: []string{"("}}
	if _, err := kind.New(collectors.Env{}); err == nil {
		t.Errorf("New() = %v, want the error of the expression", err)
	}
}
