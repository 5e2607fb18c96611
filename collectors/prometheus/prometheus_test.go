package prometheus_test

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/prometheus"
)

// check is the answer to the check.
const check = `{"status":"success","data":{"resultType":"scalar","result":[1700000000.1,"1"]}}`

// vector returns the answer with a vector of these series.
func vector(series ...string) string {
	return `{"status":"success","data":{"resultType":"vector","result":[` + strings.Join(series, ",") + `]}}`
}

// one returns a series with a value.
func one(value string, labels map[string]string) string {
	metric, _ := json.Marshal(labels)
	return fmt.Sprintf(`{"metric":%s,"value":[1700000000.1,%q]}`, metric, value)
}

// server answers the check, and every other expression as answers has it: with the status 200 and
// this body.
func server(t testing.TB, answers map[string]string) *httptest.Server {
	t.Helper()
	return collectortest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, ok := answers[r.FormValue("query")]
		switch {
		case r.FormValue("query") == "1":
			body = check
		case !ok:
			http.Error(w, "no answer to "+r.FormValue("query"), http.StatusTeapot)
			return
		}
		_, _ = io.WriteString(w, body)
	})
}

func newCollector(t testing.TB, url, more string) collectors.Collector {
	t.Helper()
	return collectortest.New(t, "monitoring", "{url: '"+url+"'"+more+"}", &prometheus.Config{})
}

var failure = regexp.MustCompile(`^vitals_(dependency|query)_failure\{dependency="monitoring",(?:query="(.*)",)?reason="(.*)"\} 1\n`)

// reasons returns the reason of the dependency or of a query, "" for none.
func reasonOf(samples []collectors.Sample, query string) string {
	for _, s := range samples {
		if m := failure.FindStringSubmatch(collectortest.Sample(s)); m != nil && m[2] == query {
			return m[3]
		}
	}
	return ""
}

// queryValues returns the lines of the values.
func queryValues(samples []collectors.Sample) string {
	var lines strings.Builder
	for _, s := range samples {
		if line := collectortest.Sample(s); strings.HasPrefix(line, "vitals_query_value{") {
			lines.WriteString(line)
		}
	}
	return lines.String()
}

func TestExposition(t *testing.T) {
	s := server(t, map[string]string{
		"sum(lag)":      vector(one("+Inf", map[string]string{"job": "kafka"})),
		"absent_metric": vector(),
		"time()":        `{"status":"success","warnings":["store 10.0.0.7 is not available","x"],"data":{"resultType":"scalar","result":[1,"1.7e9"]}}`,
	})
	c := newCollector(t, s.URL+"/prom/", `, queries: {lag: sum(lag), none: absent_metric, now: time(), wrong: up}`)
	samples, err := collectortest.Collect(t, c)
	want := "query prometheus " + s.URL + "/prom/: query wrong: answer has status 418: expected 200"
	if err == nil || err.Error() != want {
		t.Errorf("Collect() = %v, want %s", err, want)
	}
	if want := "prometheus " + s.URL + "/prom/ up: query wrong: answer has status 418: expected 200: warning of now: store 10.0.0.7 is not available: warning of now: x"; collectortest.Note(c) != want {
		t.Errorf("Note() = %q, want %q", collectortest.Note(c), want)
	}
	for i, s := range samples {
		if line := collectortest.Sample(s); strings.Contains(line, "latency_seconds") || strings.Contains(line, "duration_seconds") {
			if s.Value <= 0 {
				t.Errorf("%s, want more than 0", line)
			}
			samples[i].Value = 0.25
		}
	}
	collectortest.Golden(t, "metrics.prom", collectortest.Exposition(samples, c.Describe()))
}

// Of the labels of a result, those of the configuration are kept.
func TestLabels(t *testing.T) {
	s := server(t, map[string]string{"lag": vector(
		one("17", map[string]string{"__name__": "lag", "topic": "a", "partition": "1"}), one("NaN", map[string]string{"topic": "b"}), one("-Inf", nil))})
	samples, err := collectortest.Collect(t, newCollector(t, s.URL, ", queries: {lag: {expr: lag, labels: [topic]}}"))
	want := "vitals_query_value{dependency=\"monitoring\",query=\"lag\",topic=\"a\"} 17\n" +
		"vitals_query_value{dependency=\"monitoring\",query=\"lag\",topic=\"b\"} NaN\n" +
		"vitals_query_value{dependency=\"monitoring\",query=\"lag\"} -Inf\n"
	if got := queryValues(samples); err != nil || got != want {
		t.Errorf("Collect() = %v with the values\n%s\nwant\n%s", err, got, want)
	}
}

// The requests are those of the API, with the configured credentials, headers and parameters.
func TestRequests(t *testing.T) {
	dir := t.TempDir()
	collectortest.Write(t, dir+"/password", "hunter2\n")
	collectortest.Write(t, dir+"/header", " secret-tenant\n")
	var requests []string
	s := collectortest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && r.FormValue("query") == "up" {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		user, password, _ := r.BasicAuth()
		requests = append(requests, fmt.Sprintf("%s %s %s dedup=%s limit=%s %s:%s %s %s %s", r.Method, r.URL.Path, r.FormValue("query"), r.FormValue("dedup"), r.FormValue("limit"), user, password, r.Header.Get("X-Scope-Orgid"), r.Header.Get("X-Other"), r.UserAgent()))
		if timeout, err := time.ParseDuration(r.FormValue("timeout") + "s"); err != nil || timeout <= 0 || timeout > collectortest.Patience {
			t.Errorf("timeout=%s, want more than 0 and at most %s", r.FormValue("timeout"), collectortest.Patience)
		}
		_, _ = io.WriteString(w, check)
	})
	c := newCollector(t, s.URL+"/select/0?dedup=false", `, headers: {X-Other: y}, header_files: {X-Scope-OrgID: `+dir+`/header}, basic_auth: {username: u, password_file: `+dir+`/password}, queries: {a: up}`)
	samples, err := collectortest.Collect(t, c)
	if err != nil {
		t.Fatal(err)
	}
	want := "POST /select/0/api/v1/query 1 dedup=false limit=101 u:hunter2 secret-tenant y vitals\n" +
		"GET /select/0/api/v1/query up dedup=false limit=101 u:hunter2 secret-tenant y vitals"
	if got := strings.Join(requests, "\n"); got != want {
		t.Errorf("requests:\n%s\nwant\n%s", got, want)
	}
	if got, want := queryValues(samples), "vitals_query_value{dependency=\"monitoring\",query=\"a\"} 1\n"; got != want {
		t.Errorf("values = %q, want %q", got, want)
	}
}

// One query that fails does not hide the others, and has its reason. The server is up.
func TestQueries(t *testing.T) {
	message := func(kind, text string) string {
		return fmt.Sprintf(`{"status":"error","errorType":%q,"error":%q}`, kind, text)
	}
	var many []string
	for i := range 101 {
		many = append(many, one("1", map[string]string{"a": fmt.Sprint(i)}))
	}
	for _, tt := range []struct {
		name, body   string
		status       int
		reason, text string
	}{
		{"no series", vector(), 200, "", ""},
		{"a label of no series", vector(one("1", map[string]string{"b": "x"})), 200, "", ""},
		{"matrix", `{"status":"success","data":{"resultType":"matrix","result":[]}}`, 200, "not_a_number", "the result is a matrix: expected a vector or a scalar"},
		{"string", `{"status":"success","data":{"resultType":"string","result":[1,"x"]}}`, 200, "not_a_number", "the result is a string: expected a vector or a scalar"},
		{"streams", `{"status":"success","data":{"resultType":"streams","result":[]}}`, 200, "protocol", `the result is of type "streams": expected a vector or a scalar`},
		{"histogram", `{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"histogram":[1,{"count":"1"}]}]}}`, 200, "not_a_number", "a series is a histogram: expected numbers, such as those of histogram_quantile"},
		{"text for a number", vector(one("many", nil)), 200, "not_a_number", `the value is "many": expected a number`},
		{"number for a text", vector(`{"metric":{},"value":[1,2]}`), 200, "protocol", "read value: json: "},
		{"no time", vector(`{"metric":{},"value":["2"]}`), 200, "protocol", "read value: expected a time and a number"},
		{"no value", vector(`{"metric":{}}`), 200, "protocol", "read value: unexpected end of JSON input"},
		{"two alike", vector(one("1", map[string]string{"a": "x", "b": "1"}), one("1", map[string]string{"a": "x", "b": "2"})), 200, "duplicate", "two series have the same labels: expected more names in labels, or an expression that aggregates"},
		{"101 series", vector(many...), 200, "too_many_rows", "more than 100 series"},
		{"a long label", vector(one("1", map[string]string{"a": strings.Repeat("x", 200)})), 200, "label", "the label a has 200 bytes"},
		{"a large answer", vector(one("1", map[string]string{"b": strings.Repeat("x", 1<<20)})), 200, "protocol", "answer is larger than 1MiB"},
		{"a page", "<html>", 200, "protocol", "the answer is not JSON of the API: invalid character"},
		{"JSON of something else", `{"status":"pass"}`, 200, "protocol", `the answer has the status "pass"`},
		{"JSON of another shape", `[1,2]`, 200, "protocol", "the answer is not JSON of the API: json: cannot unmarshal array"},
		{"parse error", message("bad_data", "1:2: parse error"), 400, "client_error", "the server reports bad_data: 1:2: parse error"},
		{"too many samples", message("execution", "query processing would load too many samples into memory"), 422, "client_error", "the server reports execution: query processing"},
		{"server's timeout", message("timeout", "query timed out in expression evaluation"), 503, "timeout", "the server reports timeout: query timed out"},
		{"unavailable", message("unavailable", "TSDB not ready"), 503, "server_error", "the server reports unavailable: TSDB not ready"},
		{"an error with a success", message("internal", "x"), 200, "server_error", "the server reports internal: x"},
		{"a gateway that waits in vain", "<html>", 504, "timeout", "answer has status 504: expected 200"},
		{"a gateway without a server", "<html>", 502, "server_error", "answer has status 502: expected 200"},
		{"a limit of requests", "", 429, "client_error", "answer has status 429: expected 200"},
		{"forbidden", "", 403, "forbidden", "answer has status 403: expected 200"},
		{"another status of success", check, 202, "protocol", "answer has status 202: expected 200"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := collectortest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
				if r.FormValue("query") == "b" {
					w.WriteHeader(tt.status)
					_, _ = io.WriteString(w, tt.body)
					return
				}
				_, _ = io.WriteString(w, check)
			})
			c := newCollector(t, s.URL, `, queries: {a: a, b: {expr: b, labels: [a]}, c: c}`)
			samples, err := collectortest.Collect(t, c)
			if got := reasonOf(samples, "b"); got != tt.reason || (err != nil) != (tt.reason != "") {
				t.Errorf("reason = %q, error %v, want %q", got, err, tt.reason)
			}
			if err != nil && !strings.Contains(err.Error(), "query b: "+tt.text) {
				t.Errorf("Collect() = %v, want %s", err, tt.text)
			}
			if got := reasonOf(samples, ""); got != "" {
				t.Errorf("reason of the server = %q, want none", got)
			}
			for _, other := range []string{"a", "c"} {
				if value, ok := collectortest.Value(samples, `vitals_query_value{dependency="monitoring",query="`+other+`"}`); !ok || value != 1 {
					t.Errorf("value of %s = %v, %t, want 1", other, value, ok)
				}
			}
			if tt.reason != "" && strings.Contains(queryValues(samples), `query="b"`) {
				t.Errorf("values = %s, want none of b", queryValues(samples))
			}
		})
	}
}

// Warnings are counted and shown: those of Thanos, and a partial response of VictoriaMetrics.
func TestWarnings(t *testing.T) {
	for _, tt := range []struct {
		body string
		want float64
		note string
	}{
		{check, 0, " up"},
		{`{"status":"success","warnings":["a","b\nc","d","e"],"data":{"resultType":"scalar","result":[1,"1"]}}`, 4, " up: warning of q: a: warning of q: b c: warning of q: d"},
		{`{"status":"success","isPartial":true,"data":{"resultType":"scalar","result":[1,"1"]}}`, 1, " up: warning of q: partial response"},
	} {
		c := newCollector(t, server(t, map[string]string{"up": tt.body}).URL, ", queries: {q: up}")
		samples, err := collectortest.Collect(t, c)
		if got, ok := collectortest.Value(samples, `vitals_prometheus_query_warnings{dependency="monitoring",query="q"}`); err != nil || !ok || got != tt.want {
			t.Errorf("Collect() = %v with %v warnings, want %v", err, got, tt.want)
		}
		if note := collectortest.Note(c); !strings.HasSuffix(note, tt.note) {
			t.Errorf("Note() = %q, want it to end in %q", note, tt.note)
		}
	}
}

// A server that starts to answer is up in the next collection.
func TestRecovery(t *testing.T) {
	up := false
	s := collectortest.Serve(t, func(w http.ResponseWriter, _ *http.Request) {
		if !up {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		_, _ = io.WriteString(w, check)
	})
	c := newCollector(t, s.URL, ", queries: {q: up}")
	for _, want := range []string{"server_error", "", "server_error", ""} {
		samples, err := collectortest.Collect(t, c)
		if got := reasonOf(samples, ""); got != want || (err == nil) != (want == "") {
			t.Errorf("reason = %q, error %v, want %q", got, err, want)
		}
		if values := queryValues(samples); (values == "") != (want != "") {
			t.Errorf("values = %q with the reason %q", values, want)
		}
		up = !up
	}
}

// The certificate of the server, trusted or not, has its expiry.
func TestTLS(t *testing.T) {
	until := time.Now().Add(time.Hour).Truncate(time.Second)
	cert, ca, _ := collectortest.Certificate(t, "127.0.0.1", until)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, check) }))
	s.TLS = &tls.Config{Certificates: []tls.Certificate{cert}}
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	defer s.Close()
	for more, want := range map[string]string{", tls: {ca_file: " + ca + "}": "", "": "tls", ", tls: {ca_file: /nonexistent}": "tls"} {
		samples, _ := collectortest.Collect(t, newCollector(t, s.URL, more))
		if got := reasonOf(samples, ""); got != want {
			t.Errorf("%q: reason = %q, want %q", more, got, want)
		}
		got, ok := collectortest.Value(samples, `vitals_tls_certificate_expiry_timestamp_seconds{dependency="monitoring"}`)
		if contacted := !strings.Contains(more, "nonexistent"); ok != contacted || ok && got != float64(until.Unix()) {
			t.Errorf("%q: expiry = %v, %t, want %v if there was a handshake", more, got, ok, until.Unix())
		}
	}
}

func TestProblems(t *testing.T) {
	const u = "{url: 'http://h', "
	for _, tt := range []struct{ name, block, want string }{
		{"all of it", "{url: 'https://h:9090/p?dedup=true', headers: {X-Scope-OrgID: a}, bearer_token_file: /t, queries: {a: up, b: {expr: 'sum by (c) (up)', labels: [c]}}}", ""},
		{"experimental features", u + "queries: {a: 'mad_over_time(x[5m])', b: 'rate(x[5m] smoothed)', c: 'a + fill(0) b', d: 'rate(x[step() + 1m])'}}", ""},
		{"no url", "{}", "url: expected a URL such as http://prometheus:9090"},
		{"credentials", "{url: 'http://u:p@h'}", "url: credentials in the URL: expected them in basic_auth"},
		{"a port too many", "{url: 'http://h:99999'}", "url: port 99999 in the URL: expected 1 to 65535"},
		{"the API", "{url: 'http://h/api/v1'}", "url: the path of the API in the URL: expected the URL without /api/v1"},
		{"the path of queries", "{url: 'http://h/x/api/v1/query'}", "url: the path of the API in the URL: expected the URL without /api/v1"},
		{"a page", "{url: 'http://h/#x'}", "url: a fragment in the URL: expected none"},
		{"a secret header", u + "headers: {Authorization: x}}", `headers["Authorization"]: header Authorization contains a secret: expected it in header_files`},
		{"two credentials", u + "basic_auth: {username: u, password_file: /p}, bearer_token_file: /t}", "bearer_token_file: bearer_token_file beside basic_auth: expected one of them"},
		{"no expression", u + "queries: {a: '', b: {labels: [x]}}}", "queries.a.expr: no expression: expected one\nqueries.b.expr: no expression: expected one"},
		{"a mistake", u + "queries: {a: 'sum(up'}}", "queries.a.expr: expression: 1:7: parse error: unclosed left parenthesis"},
		{"a mistake in the second line", u + `queries: {a: {expr: "up\n+ foo()"}}}`, "queries.a.expr: expression: 2:3: parse error: unknown function with name \"foo\""},
		{"a range", u + "queries: {a: 'up[5m]'}}", "queries.a.expr: the expression is a range vector: expected an instant vector or a scalar"},
		{"a text", u + "queries: {a: '\"x\"'}}", "queries.a.expr: the expression is a string: expected an instant vector or a scalar"},
		{"a long one", u + "queries: {a: '" + strings.Repeat("x", 8193) + "'}}", "queries.a.expr: expression of 8193 bytes: expected at most 8192"},
		{"a name", u + "queries: {'a b': up}}", `queries.a b: name "a b": expected 1 to 63 letters, digits, '.', '_' or '-', with a letter or digit at both ends`},
		{"a label that Prometheus adds", u + "queries: {a: {expr: up, labels: [instance]}}}", `queries.a.labels[0]: label "instance" is that of every series: expected another name for it, as label_replace(..., "of_instance", "$1", "instance", "(.*)") gives it`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := collectortest.Problems(t, tt.block, &prometheus.Config{}); got != tt.want {
				t.Errorf("Problems() =\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

// Also a server on this host measures what a restart of the workload cannot repair.
func TestExternal(t *testing.T) {
	for _, url := range []string{"http://127.0.0.1:9090", "http://prometheus:9090"} {
		if c := (&prometheus.Config{URL: url}); !c.External() {
			t.Errorf("External() of %s = false, want true", url)
		}
	}
}
