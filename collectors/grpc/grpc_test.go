package grpc_test

import (
	"crypto/tls"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"gopkg.in/yaml.v3"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/grpc"
)

func TestExposition(t *testing.T) {
	cert, certFile, _ := collectortest.Certificate(t, "grpc.example", time.Now().Add(time.Hour))
	address := serve(t, nil, &tls.Config{Certificates: []tls.Certificate{cert}}, respond(frameServing, "0", ""))
	c := collectortest.New(t, "api", "{address: '"+address+"', service: demo.Api, tls: {ca_file: "+certFile+", server_name: grpc.example}}", &grpc.Config{})
	samples, err := collectortest.Collect(t, c)
	if err != nil {
		t.Fatalf("Collect() = %v, want no error", err)
	}
	for i, s := range samples {
		switch s.Labels.Get(model.MetricNameLabel) {
		case "vitals_dependency_latency_seconds":
			if s.Value <= 0 || s.Value > collectortest.Patience.Seconds() {
				t.Errorf("latency = %v, want a plausible time", s.Value)
			}
			samples[i].Value = 0.001
		case "vitals_tls_certificate_expiry_timestamp_seconds":
			samples[i].Value = 86400
		}
	}
	collectortest.Golden(t, "metrics.prom", collectortest.Exposition(samples, c.Describe()))
	if got, want := collectortest.Note(c), "grpc "+address+" demo.Api SERVING"; got != want {
		t.Errorf("Note() = %q, want %q", got, want)
	}
}

// Each status of the health service, of the call and of HTTP has its reason.
func TestResponses(t *testing.T) {
	http200 := func(kind string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Type", kind) }
	}
	for _, tt := range []struct {
		name           string
		handle         http.HandlerFunc
		reason, status string
		code           float64 // -1 for none
		text           string
	}{
		{"serving", respond(frameServing, "0", ""), "", "serving", 0, ""},
		{"serving with unknown fields", respond("\x00\x00\x00\x00\x07\x12\x03abc\x08\x01", "0", ""), "", "serving", 0, ""},
		{"not serving", respond(frameNotServing, "0", ""), "server_error", "not_serving", 0, "returned NOT_SERVING"},
		{"unknown", respond(frameUnknown, "0", ""), "server_error", "unknown", 0, "returned UNKNOWN"},
		{"unknown service", respond(frameNoService, "0", ""), "server_error", "service_unknown", 0, "returned SERVICE_UNKNOWN"},
		{"no such service", fail("5", "unknown service"), "not_found", "", 5, "grpc-status 5: unknown service"},
		{"no health service", fail("12", "unknown service grpc.health.v1.Health"), "missing_endpoint", "", 12, "grpc-status 12: unknown service"},
		{"unauthenticated", fail("16", "no%20token"), "auth", "", 16, "grpc-status 16: no token"},
		{"permission denied", fail("7", ""), "forbidden", "", 7, "grpc-status 7:"},
		{"unavailable", fail("14", "100%"), "server_error", "", 14, "grpc-status 14: 100%"},
		{"failed in the trailers", respond("", "13", "oops"), "server_error", "", 13, "grpc-status 13: oops"},
		{"failed after a message", respond(frameServing, "13", "oops"), "server_error", "", 13, "grpc-status 13: oops"},
		{"invalid argument", fail("3", ""), "client_error", "", 3, "grpc-status 3"},
		{"the server's own deadline", fail("4", ""), "timeout", "", 4, "grpc-status 4"},
		{"a status beyond all", fail("17", ""), "protocol", "", -1, `no grpc-status from 0 to 16: "17"`},
		{"a status that is no number", respond(frameServing, "ok", ""), "protocol", "", -1, `no grpc-status from 0 to 16: "ok"`},
		{"no status", http200("application/grpc"), "protocol", "", -1, `no grpc-status`},
		{"a web page", http200("text/html"), "protocol", "", -1, `has the type "text/html"`},
		{"OK without a message", fail("0", ""), "protocol", "", -1, "unexpected EOF"},
		{"a health that does not exist", respond("\x00\x00\x00\x00\x02\x08\x09", "0", ""), "protocol", "", -1, "unknown status 9"},
		{"no protobuf", respond("\x00\x00\x00\x00\x02\xff\xff", "0", ""), "protocol", "", -1, "parse health response"},
		{"half a frame", respond("\x00\x00\x00", "0", ""), "protocol", "", -1, "unexpected EOF"},
		{"half a message", respond("\x00\x00\x00\x00\x09\x08\x01", "0", ""), "protocol", "", -1, "unexpected EOF"},
		{"two messages", respond(frameServing+frameServing, "0", ""), "protocol", "", -1, "expected the end of the response"},
		{"a compressed message", respond("\x01"+frameServing[1:], "0", ""), "protocol", "", -1, "without compression"},
		{"a message of 4 GiB", respond("\x00\xff\xff\xff\xff", "0", ""), "protocol", "", -1, "at most 4KiB"},
		{"HTTP 401", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }, "auth", "", -1, "HTTP status 401"},
		{"HTTP 404", http.NotFound, "not_found", "", -1, "HTTP status 404"},
		{"HTTP 503", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }, "server_error", "", -1, "HTTP status 503"},
		{"a redirect", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/x", http.StatusFound) }, "protocol", "", -1, "HTTP status 302"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newCollector(t, serve(t, nil, nil, tt.handle), "")
			samples, err := collectortest.Collect(t, c)
			if got := collectortest.Reason(samples); got != tt.reason || (err == nil) != (tt.reason == "") {
				t.Errorf("Collect() has the reason %q, error %v, want %q", got, err, tt.reason)
			}
			if err != nil && !strings.Contains(err.Error(), tt.text) {
				t.Errorf("Collect() = %v, want %q in it", err, tt.text)
			}
			if got := status(samples); got != tt.status {
				t.Errorf("serving status = %q, want %q", got, tt.status)
			}
			if code, ok := value(samples, "grpc_status_code"); ok != (tt.code >= 0) || ok && code != tt.code {
				t.Errorf("vitals_grpc_status_code = %v, %t, want %v", code, ok, tt.code)
			}
		})
	}
}

// The call has the path, the authority, the message, the deadline and the metadata of gRPC.
func TestRequest(t *testing.T) {
	file := t.TempDir() + "/token"
	collectortest.Write(t, file, "Bearer hunter2-file\n")
	cert, certFile, _ := collectortest.Certificate(t, "grpc.example", time.Now().Add(time.Hour))
	got := make(chan *http.Request, 1)
	body := make(chan string, 1)
	handle := func(w http.ResponseWriter, r *http.Request) {
		sent, _ := io.ReadAll(r.Body)
		body <- string(sent)
		got <- r
		respond(frameServing, "0", "")(w, r)
	}
	secured := serve(t, nil, &tls.Config{Certificates: []tls.Certificate{cert}}, handle)
	plain, socket := serve(t, nil, nil, handle), serve(t, unixListener(t), nil, handle)
	for _, tt := range []struct{ address, more, host, body string }{
		{secured, ", service: demo.Api, tls: {server_name: grpc.example, ca_file: " + certFile + "}", "grpc.example", "\x00\x00\x00\x00\x0a\x0a\x08demo.Api"},
		{plain, "", plain, "\x00\x00\x00\x00\x00"},
		{socket, "", "localhost", "\x00\x00\x00\x00\x00"},
	} {
		c := newCollector(t, tt.address, tt.more+", metadata: {x-tenant: demo}, metadata_files: {authorization: "+file+"}")
		if _, err := collectortest.Collect(t, c); err != nil {
			t.Fatalf("Collect() of %s = %v, want no error", tt.address, err)
		}
		r, sent := <-got, <-body
		if r.Method != http.MethodPost || r.URL.Path != "/grpc.health.v1.Health/Check" || r.ProtoMajor != 2 || r.Host != tt.host || sent != tt.body {
			t.Errorf("the call is %s %s %s of %s with %q, want POST, HTTP/2, %s and %q", r.Method, r.URL.Path, r.Proto, r.Host, sent, tt.host, tt.body)
		}
		for key, want := range map[string]string{"Content-Type": "application/grpc", "Te": "trailers", "X-Tenant": "demo", "Authorization": "Bearer hunter2-file"} {
			if r.Header.Get(key) != want {
				t.Errorf("%s = %q, want %q", key, r.Header.Get(key), want)
			}
		}
		if timeout := r.Header.Get("Grpc-Timeout"); !strings.HasSuffix(timeout, "m") {
			t.Errorf("Grpc-Timeout = %q, want milliseconds", timeout)
		}
	}
}

// No answer of a server makes metadata visible, and the file is read in each collection.
func TestShowsNoMetadata(t *testing.T) {
	file := t.TempDir() + "/token"
	echo := func(w http.ResponseWriter, r *http.Request) {
		fail("16", "rejected "+r.Header.Get("Authorization")+" of "+r.Header.Get("X-Key"))(w, r)
	}
	c := newCollector(t, serve(t, nil, nil, echo), ", metadata: {x-key: hunter2-value}, metadata_files: {authorization: "+file+"}")
	samples, err := collectortest.Collect(t, c)
	if got := collectortest.Reason(samples); got != "auth" || err == nil || !strings.Contains(err.Error(), "read metadata") {
		t.Errorf("Collect() without the file = %v, reason %q, want auth", err, got)
	}
	collectortest.Write(t, file, "two\nlines")
	if _, err := collectortest.Collect(t, c); err == nil || !strings.Contains(err.Error(), "expected one line") {
		t.Errorf("Collect() with two lines = %v, want an error", err)
	}
	collectortest.Write(t, file, "hunter2-file\n")
	_, err = collectortest.Collect(t, c)
	if err == nil || !strings.Contains(err.Error(), "rejected") {
		t.Fatalf("Collect() = %v, want the message of the server", err)
	}
	if text := err.Error() + collectortest.Note(c); strings.Contains(text, "hunter2") {
		t.Errorf("%q shows metadata", text)
	}
	var config grpc.Config
	collectortest.Decode(t, "{address: 'a:1', metadata: {x-key: hunter2-value}}", &config)
	if shown, err := yaml.Marshal(config); err != nil || strings.Contains(string(shown), "hunter2") {
		t.Errorf("Marshal() = %s, %v, want the metadata redacted", shown, err)
	}
	for path, want := range map[string]bool{"metadata.x": true, `metadata["x"]`: true, "metadata_files.x": false, "service": false} {
		if secret, _ := config.SecretValue(path); secret != want {
			t.Errorf("SecretValue(%s) = %t, want %t", path, secret, want)
		}
	}
}

func TestCertificates(t *testing.T) {
	soon, past := time.Now().Add(time.Hour), time.Now().Add(-time.Hour)
	good, goodFile, goodKey := collectortest.Certificate(t, "grpc.example", soon)
	expired, expiredFile, _ := collectortest.Certificate(t, "grpc.example", past)
	handle := respond(frameServing, "0", "")
	plainly := serve(t, nil, &tls.Config{Certificates: []tls.Certificate{good}}, handle)
	late := serve(t, nil, &tls.Config{Certificates: []tls.Certificate{expired}}, handle)
	mutual := serve(t, nil, &tls.Config{Certificates: []tls.Certificate{good}, ClientAuth: tls.RequireAnyClientCert}, handle)
	for _, tt := range []struct {
		name, address, tls, reason string
		expiry                     time.Time
	}{
		{"trusted", plainly, "{ca_file: " + goodFile + ", server_name: grpc.example}", "", soon},
		{"another name", plainly, "{ca_file: " + goodFile + ", server_name: other.example}", "tls", soon},
		{"not verified", plainly, "{insecure_skip_verify: true}", "", soon},
		{"expired", late, "{ca_file: " + expiredFile + ", server_name: grpc.example}", "tls", past},
		{"with a client certificate", mutual, "{insecure_skip_verify: true, cert_file: " + goodFile + ", key_file: " + goodKey + "}", "", soon},
		{"without a client certificate", mutual, "{insecure_skip_verify: true}", "tls", soon},
		{"no such file", plainly, "{ca_file: /nonexistent}", "tls", time.Time{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			samples, err := collectortest.Collect(t, newCollector(t, tt.address, ", tls: "+tt.tls))
			if got := collectortest.Reason(samples); got != tt.reason || (err == nil) != (tt.reason == "") {
				t.Errorf("reason = %q, error %v, want %q", got, err, tt.reason)
			}
			got, ok := value(samples, "tls_certificate_expiry_timestamp_seconds")
			if ok == tt.expiry.IsZero() || ok && got != float64(tt.expiry.Unix()) {
				t.Errorf("expiry = %v, %t, want %v", got, ok, tt.expiry)
			}
		})
	}
}

func TestIsExternal(t *testing.T) {
	for address, want := range map[string]bool{
		"127.0.0.1:1": false, "localhost:1": false, "[::1]:1": false, "unix:/run/x": false, "10.0.0.1:1": true, "api.example:1": true, "nonsense": true,
	} {
		config := grpc.Config{Address: address}
		if got := config.External(); got != want || config.Uses() != nil {
			t.Errorf("External() of %s = %t, want %t", address, got, want)
		}
	}
}

func TestProblems(t *testing.T) {
	const key = "expected lower-case letters, digits, '-', '_' and '.', and no key of gRPC or HTTP, and no binary value (-bin)"
	for block, want := range map[string]string{
		"{}":                                  `address: address "": expected host:port, [address]:port or unix:/path`,
		"{address: 'a:0'}":                    `address: address "a:0": expected host:port, [address]:port or unix:/path`,
		"{address: 'http://a:1'}":             `address: address "http://a:1": expected host:port, [address]:port or unix:/path`,
		"{address: 'unix:x'}":                 `address: address "unix:x": expected the absolute path of a socket with at most 107 bytes`,
		"{address: 'unix:/x', tls: {}}":       `tls.server_name: no server_name: expected the name in the certificate, as a Unix socket has none`,
		"{address: 'a:1', tls: {ca_file: x}}": `tls.ca_file: path "x": expected an absolute path`,
		"{address: 'a:1', service: " + strings.Repeat("s", 1025) + "}": "service: service has 1025 bytes: expected at most 1024",
		"{address: 'a:1', metadata: {Upper: a}}":                       `metadata[Upper]: key "Upper": ` + key,
		"{address: 'a:1', metadata: {grpc-timeout: a}}":                `metadata[grpc-timeout]: key "grpc-timeout": ` + key,
		"{address: 'a:1', metadata: {te: a}}":                          `metadata[te]: key "te": ` + key,
		"{address: 'a:1', metadata: {x-bin: a}}":                       `metadata[x-bin]: key "x-bin": ` + key,
		"{address: 'a:1', metadata: {x: \"a\\nb\"}}":                   `metadata[x]: expected printable ASCII`,
		"{address: 'a:1', metadata_files: {x: y}}":                     `metadata_files[x]: expected the absolute path of a file`,
		"{address: 'a:1', metadata: {x: a}, metadata_files: {x: /y}}":  `metadata_files[x]: key "x": expected it in metadata or metadata_files`,
		"{address: '[::1]:1', service: demo.Api, tls: {server_name: x}, metadata: {x.y_z-0: a}, metadata_files: {authorization: /y}}": "",
	} {
		if got := collectortest.Problems(t, block, &grpc.Config{}); got != want {
			t.Errorf("Problems() of %s =\n%s\nwant\n%s", block, got, want)
		}
	}
	var config grpc.Config
	if c, err := config.New(collectors.Env{Name: "d"}); err == nil {
		t.Errorf("New() of an empty block = %v, want an error", c)
	}
}
