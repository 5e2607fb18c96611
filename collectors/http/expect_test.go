package http_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/collectortest"
)

// met returns the expectations that are met (+) and those that are not (-).
func met(samples []collectors.Sample) string {
	var all []string
	for _, expectation := range []string{"status", "headers", "body", "json"} {
		if v, ok := collectortest.Value(samples, `vitals_http_expectation_met{dependency="api",expectation="`+expectation+`"}`); ok {
			all = append(all, map[bool]string{true: "+", false: "-"}[v == 1]+expectation)
		}
	}
	return strings.Join(all, " ")
}

func TestExpectations(t *testing.T) {
	const document = `{"status": "UP", "count": 3, "ratio": 0.50, "large": 9007199254740993, "ok": true, "none": null, "a.b": "x",
		"text": "1", "list": [{"name": "\u0061&b"}], "object": {}}`
	server := collectortest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header()["X-Mode"] = []string{"standby", "active"}
		w.Header().Set("X-Empty", "")
		if r.URL.Path == "/text" {
			_, _ = io.WriteString(w, "first line\nDatabase: ok\n")
			return
		}
		_, _ = io.WriteString(w, document)
	})
	tests := []struct{ name, path, expect, met, text string }{
		{"nothing but the status", "/", "{}", "+status", ""},
		{"header", "/", "{headers: {x-mode: '^active$'}}", "+status +headers", ""},
		{"header that is empty", "/", "{headers: {X-Empty: '^$'}}", "+status +headers", ""},
		{"header of another value", "/", "{headers: {X-Mode: '^act$'}}", "+status -headers", `header X-Mode does not match "^act$"`},
		{"header that is missing", "/", "{headers: {X-None: '.*'}}", "+status -headers", "answer has no header X-None"},
		{"header that must not be", "/", "{headers_not: {X-Mode: standby}}", "+status -headers", `header X-Mode matches "standby"`},
		{"header that is not", "/", "{headers_not: {X-None: '.*', X-Mode: broken}}", "+status +headers", ""},
		{"body", "/text", "{body: '(?m)^Database: ok$'}", "+status +body", ""},
		{"other body", "/text", "{body: '^Database'}", "+status -body", `body does not match "^Database"`},
		{"body that must not be", "/text", "{body: line, body_not: 'Data.*ok'}", "+status -body", `body matches "Data.*ok"`},
		{"body that is not", "/text", "{body_not: error}", "+status +body", ""},
		{"string", "/", "{json: {status: UP}}", "+status +json", ""},
		{"string with an escape", "/", `{json: {list.0.name: "a&b"}}`, "+status +json", ""},
		{"name with a dot", "/", `{json: {'"a.b"': x}}`, "+status +json", ""},
		{"number", "/", "{json: {count: 3}}", "+status +json", ""},
		{"number in another notation", "/", "{json: {count: 3.0e0, ratio: 0.5}}", "+status +json", ""},
		{"large number", "/", "{json: {large: 9007199254740993}}", "+status +json", ""},
		{"large number that differs in the last digit", "/", "{json: {large: 9007199254740992}}", "+status -json", "JSON value large is 9007199254740993: expected 9007199254740992"},
		{"boolean and null", "/", "{json: {ok: true, none: null}}", "+status +json", ""},
		{"other boolean", "/", "{json: {ok: false}}", "+status -json", "JSON value ok is true: expected false"},
		{"null that is not false", "/", "{json: {none: false}}", "+status -json", "JSON value none is null: expected false"},
		{"number that is a string", "/", "{json: {text: 1}}", "+status -json", `JSON value text is "1": expected 1`},
		{"string that is a number", "/", "{json: {count: '3'}}", "+status -json", `JSON value count is 3: expected "3"`},
		{"object", "/", "{json: {object: x}}", "+status -json", `JSON value object is an object: expected "x"`},
		{"list", "/", "{json: {list: x}}", "+status -json", `JSON value list is a list: expected "x"`},
		{"path that ends early", "/", "{json: {status.x: 1}}", "+status -json", "body has no JSON value status.x"},
		{"string with signs of HTML", "/", "{json: {status: <UP>}}", "+status -json", `JSON value status is "UP": expected "<UP>"`},
		{"index beyond", "/", "{json: {list.1: 1}}", "+status -json", "body has no JSON value list.1"},
		{"null that is missing", "/", "{json: {missing: null}}", "+status -json", "body has no JSON value missing"},
		{"no JSON", "/text", "{json: {status: UP}}", "+status -json", "body is not valid JSON"},
		{"observed", "/", "{json: {status: DOWN}, body: absent, observe: true}", "+status -body -json", ""},
		{"all at once", "/text", "{headers: {X-Mode: x}, body: none, json: {a: 1}}", "+status -headers -body -json",
			`header X-Mode does not match "x"; body does not match "none"; body is not valid JSON`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			samples, err := collectortest.Collect(t, newCollector(t, server.URL+tt.path, ", expect: "+tt.expect))
			if got := met(samples); got != tt.met {
				t.Errorf("expectations met: %s, want %s", got, tt.met)
			}
			want, reason := "", ""
			if tt.text != "" {
				want, reason = "GET "+server.URL+tt.path+": "+tt.text, "protocol"
			}
			if got := errorText(err); got != want {
				t.Errorf("Collect() = %q, want %q", got, want)
			}
			if got := failureReason(t, samples); got != reason {
				t.Errorf("reason = %q, want %q", got, reason)
			}
		})
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// A status that is not expected comes first, and determines the reason.
func TestExpectationsBehindStatus(t *testing.T) {
	server := collectortest.Serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, "maintenance")
	})
	samples, err := collectortest.Collect(t, newCollector(t, server.URL, ", expect: {body: ok}"))
	if got, want := met(samples), "-status -body"; got != want {
		t.Errorf("expectations met: %s, want %s", got, want)
	}
	want := "GET " + server.URL + `: answer has status 503: expected 200-299; body does not match "ok"`
	if got := failureReason(t, samples); got != "server_error" || errorText(err) != want {
		t.Errorf("reason = %q, error %v, want server_error, %s", got, err, want)
	}
	samples, err = collectortest.Collect(t, newCollector(t, server.URL, ", expect: {body: ok, observe: true}"))
	if got, want := met(samples), "-status"; got != want {
		t.Errorf("observed: expectations met: %s, want %s", got, want)
	}
	want = "GET " + server.URL + `: answer has status 503: expected 200-299`
	if got := failureReason(t, samples); got != "server_error" || errorText(err) != want {
		t.Errorf("observed: reason = %q, error %v, want server_error, %s", got, err, want)
	}
}

func TestBodies(t *testing.T) {
	packed := func(data string) string {
		var out bytes.Buffer
		w := gzip.NewWriter(&out)
		_, _ = io.WriteString(w, data)
		_ = w.Close()
		return out.String()
	}
	bodies := map[string]struct{ encoding, body string }{
		"/small":   {"", "small"},
		"/exact":   {"", strings.Repeat("a", 1000)},
		"/large":   {"", strings.Repeat("a", 1001)},
		"/empty":   {"", ""},
		"/gzip":    {"gzip", packed("small")},
		"/bomb":    {"gzip", packed(strings.Repeat("a", 10<<20))},
		"/hollow":  {"gzip", strings.Repeat(packed(""), 1000)},
		"/nothing": {"gzip", ""},
		"/cut":     {"gzip", packed("small")[:20]},
		"/notgzip": {"gzip", "small, but as it is"},
		"/brotli":  {"br", "small"},
	}
	server := collectortest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		b := bodies[r.URL.Path]
		if b.encoding != "" {
			w.Header().Set("Content-Encoding", b.encoding)
		}
		_, _ = io.WriteString(w, b.body)
	})
	const larger = "body is larger than body_size_limit, 1000B"
	tests := []struct {
		name, path string
		size       float64
		// alone is the error without expectations of the body, body that with one.
		alone, body string
	}{
		{"small", "/small", 5, "", ""},
		{"as large as the limit", "/exact", 1000, "", ""},
		{"larger", "/large", 1000, "", larger},
		{"empty", "/empty", 0, "", `body does not match "a"`},
		{"compressed", "/gzip", 5, "", ""},
		{"that unpacks to more", "/bomb", 1000, "", larger},
		{"that unpacks to nothing, but is large", "/hollow", 0, "", larger},
		{"none in spite of its encoding", "/nothing", 0, "", `body does not match "a"`},
		{"compressed and cut", "/cut", -1, "read body: unexpected EOF", "read body: unexpected EOF"},
		{"not compressed in spite of its encoding", "/notgzip", -1, "read body: decompress: gzip: invalid header", "read body: decompress: gzip: invalid header"},
		{"in an encoding that was not requested", "/brotli", 5, "", `body has the encoding "br": expected gzip or none`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for more, want := range map[string]string{"": tt.alone, ", expect: {body: a}": tt.body} {
				samples, err := collectortest.Collect(t, newCollector(t, server.URL+tt.path, ", body_size_limit: 1000B"+more))
				if want != "" {
					want = "GET " + server.URL + tt.path + ": " + want
				}
				if got := errorText(err); got != want {
					t.Errorf("Collect(%s) = %q, want %q", more, got, want)
				}
				if size, ok := collectortest.Value(samples, `vitals_http_response_size_bytes{dependency="api"}`); ok != (tt.size >= 0) || ok && size != tt.size {
					t.Errorf("vitals_http_response_size_bytes = %v, %t, want %v", size, ok, tt.size)
				}
			}
		})
	}
}
