package certificate_test

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/certificate"
	"github.com/vitals-health/vitals/collectors/collectortest"
)

const token = "token-of-the-account"

// account returns the block of a secret at an API server, for the account in a kubeconfig.
func (l *lab) account(t testing.TB, url string) string {
	t.Helper()
	l.write(t, "kubeconfig", `{apiVersion: v1, kind: Config, current-context: c, clusters: [{name: c, cluster: {server: '`+url+
		`', certificate-authority: api.pem}}], users: [{name: u, user: {token: `+token+`}}], contexts: [{name: c, context: {cluster: c, user: u}}]}`)
	return "{secret: {namespace: default, name: web, kubeconfig: DIR/kubeconfig}, ca_file: DIR/root.pem, names: [www.example]}"
}

// object returns a secret of the type kubernetes.io/tls.
func object(t testing.TB, cert, key string) string {
	t.Helper()
	data := map[string][]byte{"tls.crt": []byte(cert)}
	if key != "" {
		data["tls.key"] = []byte(key)
	}
	text, err := json.Marshal(map[string]any{"kind": "Secret", "apiVersion": "v1", "type": "kubernetes.io/tls", "data": data})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func secretValue(samples []collectors.Sample, metric string) float64 {
	v, ok := collectortest.Value(samples, "vitals_"+metric+`{certificate="default/web",dependency="web"}`)
	if !ok {
		return -1
	}
	return v
}

func TestSecret(t *testing.T) {
	l := newLab(t)
	chain := l.leaf.pem() + l.middle.pem()
	key, _ := l.leaf.keys(t)
	other, _ := l.root.keys(t)
	const hidden = "aHVudGVyMmh1bnRlcjI="
	status := func(code int) string { return fmt.Sprintf(`{"kind":"Status","code":%d,"message":"no"}`, code) }
	for _, tt := range []struct {
		name, body   string
		code         int
		reason, text string
		// readable and matches are the gauges, -1 for none.
		readable, matches float64
	}{
		{"in order", object(t, chain, key), 200, "", "", 1, 1},
		{"another key", object(t, chain, other), 200, "", "", 1, 0},
		{"without a key", object(t, chain, ""), 200, "protocol", "secret default/web: expected a private key in PEM", 1, -1},
		{"without a certificate", object(t, "", key), 200, "protocol", "secret default/web: the secret has no tls.crt", 0, -1},
		{"a key as the certificate", object(t, key, key), 200, "protocol", "secret default/web: expected certificates in PEM", 0, -1},
		{"no base64", `{"kind":"Secret","data":{"tls.crt":"` + hidden + `","tls.key":"` + hidden + `?"}}`, 200, "protocol", "it is no secret", 0, -1},
		{"another object", `{"kind":"ConfigMap","data":{"tls.crt":"` + hidden + `"}}`, 200, "protocol", "it is no secret", 0, -1},
		{"a page", "<html>" + hidden, 200, "protocol", "it is no secret", 0, -1},
		{"empty", "", 200, "protocol", "it is no secret", 0, -1},
		{"larger than any secret", strings.Repeat(hidden, 300_000), 200, "protocol", "longer than 4194304 bytes", 0, -1},
		{"the account is unknown", status(401), 401, "auth", "status 401", 0, -1},
		{"the account may not", status(403), 403, "forbidden", "status 403", 0, -1},
		{"there is none", status(404), 404, "not_found", "status 404", 0, -1},
		{"the server fails", status(500), 500, "server_error", "status 500", 0, -1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method != http.MethodGet || r.URL.Path != "/api/v1/namespaces/default/secrets/web" || r.Header.Get("Authorization") != "Bearer "+token {
					t.Errorf("%s %s with %q, want the secret and the token", r.Method, r.URL, r.Header["Authorization"])
				}
				w.WriteHeader(tt.code)
				_, _ = w.Write([]byte(tt.body))
			}))
			defer server.Close()
			l.write(t, "api.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})))
			c := l.collector(t, l.account(t, server.URL))
			samples, err := collectortest.Collect(t, c)
			if got := collectortest.Reason(samples); got != tt.reason || (err == nil) != (tt.reason == "") || err != nil && !strings.Contains(err.Error(), tt.text) {
				t.Errorf("Collect() has the reason %q and the error %v, want %q and %q", got, err, tt.reason, tt.text)
			}
			if text := fmt.Sprint(err, collectortest.Note(c)); strings.Contains(text, hidden) || strings.Contains(text, token) {
				t.Errorf("%q contains what is secret", text)
			}
			for metric, want := range map[string]float64{"certificate_readable": tt.readable, "certificate_verified": max(-1, 2*tt.readable-1), "certificate_key_matches": tt.matches} {
				if got := secretValue(samples, metric); got != want {
					t.Errorf("vitals_%s = %v, want %v", metric, got, want)
				}
			}
			_, answered := collectortest.Value(samples, `vitals_dependency_latency_seconds{dependency="web"}`)
			if answered != (tt.readable == 1 || strings.Contains(tt.text, "in PEM")) {
				t.Errorf("there is a latency: %t, want one of a secret only", answered)
			}
		})
	}
}

// Every fault of a server ends in time with its reason.
func TestHostileServers(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	l := newLab(t)
	l.write(t, "api.pem", l.root.pem())
	const header = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
	for _, tt := range []struct {
		name   string
		serve  func(conn net.Conn)
		reason string
	}{
		{"accepts and closes", func(net.Conn) {}, "protocol"},
		{"is silent", func(conn net.Conn) { _, _ = conn.Read(make([]byte, 1<<20)); _, _ = conn.Read(make([]byte, 1)) }, "timeout"},
		{"half an answer", func(conn net.Conn) { fmt.Fprint(conn, header+"Content-Length: 1000\r\n\r\n{\"kind\":") }, "protocol"},
		{"a byte at a time", func(conn net.Conn) {
			fmt.Fprint(conn, header+"Content-Length: 1000\r\n\r\n")
			tick := time.NewTicker(5 * time.Millisecond)
			defer tick.Stop()
			for range tick.C {
				if _, err := conn.Write([]byte("{")); err != nil {
					return
				}
			}
		}, "timeout"},
		{"another protocol", func(conn net.Conn) { fmt.Fprint(conn, "SSH-2.0-OpenSSH_9.2\r\n") }, "protocol"},
		{"without end", func(conn net.Conn) {
			fmt.Fprint(conn, header+"\r\n")
			for piece := []byte(strings.Repeat("[", 64<<10)); ; {
				if _, err := conn.Write(piece); err != nil {
					return
				}
			}
		}, "protocol"},
		{"leads to another host", func(conn net.Conn) {
			fmt.Fprint(conn, "HTTP/1.1 302 Found\r\nLocation: http://192.0.2.1/\r\nContent-Length: 0\r\n\r\n")
		}, "protocol"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := l.collector(t, l.account(t, "http://"+collectortest.Listen(t, tt.serve)))
			samples, err := collectortest.Outlast(t, c, func(samples []collectors.Sample, _ error) bool { return collectortest.Reason(samples) == tt.reason })
			if got := collectortest.Reason(samples); got != tt.reason || err == nil || secretValue(samples, "certificate_readable") != 0 {
				t.Errorf("Collect() has the reason %q and the error %v, want %q", got, err, tt.reason)
			}
		})
	}
}

func TestNewWithoutAnAccount(t *testing.T) {
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	for block, want := range map[string]string{
		"{secret: {namespace: a, name: b}}": "this is not a pod",
		"{secret: {namespace: a, name: b, kubeconfig: '" + filepath.Join(t.TempDir(), "none") + "'}}": "load kubeconfig",
	} {
		config := &certificate.Config{}
		collectortest.Decode(t, block, config)
		if _, err := config.New(collectors.Env{Name: "web"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("New() of %s = %v, want %q", block, err, want)
		}
	}
}
