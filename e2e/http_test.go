//go:build e2e

package e2e_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// What curl --fail lets pass, as the scripts that Vitals replaces did.
const httpUpstream = `, status: ["200-399"]`

func TestHTTPStatus(t *testing.T) {
	t.Parallel()
	a := startApache(t)
	blocks := map[string]string{}
	codes := []int{200, 204, 300, 302, 400, 401, 403, 404, 500, 503}
	for _, code := range codes {
		blocks[fmt.Sprintf("status-%d", code)] = fmt.Sprintf("url: '%s/%d'%s", a.url, code, httpUpstream)
	}
	blocks["redirect"] = fmt.Sprintf("url: '%s/302', status: [200]", a.url)
	blocks["followed"] = fmt.Sprintf("url: '%s/302', follow_redirects: true, expect: {body: '^well$'}", a.url)
	v := httpAsk(t, blocks)
	reasons := map[int]string{400: "client_error", 401: "auth", 403: "forbidden", 404: "not_found", 500: "server_error", 503: "server_error"}
	for _, code := range codes {
		scenario := "E01"
		if reasons[code] != "" {
			scenario = "E02"
		}
		t.Run(fmt.Sprintf("%s %d", scenario, code), func(t *testing.T) {
			name := fmt.Sprintf("status-%d", code)
			v.sees(t, name, reasons[code], fmt.Sprintf("%d %s 0.", code, a.address))
			v.awaits(t, float64(code), "vitals_http_status_code", "dependency", name)
		})
	}
	t.Run("302 within the same host", func(t *testing.T) { v.sees(t, "redirect", "", "200 "+a.address) })
	t.Run("302 that is followed", func(t *testing.T) {
		v.sees(t, "followed", "", "200 "+a.address)
		v.awaits(t, 1, "vitals_http_redirects", "dependency", "followed")
	})
}

func TestHTTPUnreachable(t *testing.T) {
	t.Parallel()
	a := startApache(t)
	closed := address(t)
	v := httpAsk(t, map[string]string{
		"apache":  "url: '" + a.url + "/200'",
		"refused": "url: 'http://" + closed + "/'",
		"dns":     "url: 'http://" + httpNoHost + ":5000/v3'",
	})
	v.sees(t, "apache", "", "200 "+a.address)
	t.Run("E04 connection refused", func(t *testing.T) { v.sees(t, "refused", "refused", "000 "+closed+" 0.") })
	t.Run("E05 name not resolvable", func(t *testing.T) { v.sees(t, "dns", "dns", "000 "+httpNoHost+":5000 0.") })
	t.Run("E06 stopped by SIGSTOP", func(t *testing.T) {
		a.signal(t, syscall.SIGSTOP)
		v.sees(t, "apache", "timeout", " seconds: timeout")
		m, err := v.metrics()
		if err != nil {
			t.Fatal(err)
		}
		if took := m[series("vitals_collector_duration_seconds", "collector", "apache")]; took < 0.4 || took > 0.4+tcpWithin.Seconds() {
			t.Errorf("the collection took %v s, want the timeout, 0.4 s", took)
		}
	})
	t.Run("continued", func(t *testing.T) {
		a.signal(t, syscall.SIGCONT)
		v.sees(t, "apache", "", "200 "+a.address)
	})
	t.Run("E04 killed", func(t *testing.T) {
		a.kill()
		v.sees(t, "apache", "refused", "000 "+a.address)
	})
	t.Run("started again", func(t *testing.T) {
		a.start(t)
		v.sees(t, "apache", "", "200 "+a.address)
	})
}

func TestHTTPEndpoint(t *testing.T) {
	t.Parallel()
	a := startApache(t)
	ini, missing := filepath.Join(a.dir, "glance-api.conf"), filepath.Join(a.dir, "10-keystone_wsgi.conf")
	if err := os.WriteFile(ini, []byte("[DEFAULT]\nbind_host = ::1\nbind_port = "+tcpPort(t, a.address6)+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	v := httpAsk(t, map[string]string{
		"glance":    "url_from: {ini: " + ini + ", host: DEFAULT.bind_host, port: DEFAULT.bind_port, path: /200}",
		"placement": "url_from: {vhost: " + a.vhost + "}, tls: {ca_file: " + a.dir + "/ca.pem}, note_format: '%{http_code} %{url_effective}', ip_family: 4",
		"untrusted": "url_from: {vhost: " + a.vhost + "}, ip_family: 4",
		"keystone":  "url_from: {vhost: " + missing + "}, tls: {ca_file: " + a.dir + "/ca.pem}, ip_family: 4",
	})
	t.Run("E07 IPv6 literal", func(t *testing.T) { v.sees(t, "glance", "", "200 "+a.address6+" 0.") })
	t.Run("E08 virtual host with TLS", func(t *testing.T) {
		v.sees(t, "placement", "", "200 https://localhost:"+tcpPort(t, a.secured)+"/placement/")
		v.awaits(t, 1, "vitals_http_tls", "dependency", "placement")
		v.awaits(t, 2, "vitals_http_version", "dependency", "placement")
		m, err := v.metrics()
		if err != nil {
			t.Fatal(err)
		}
		left := time.Until(time.Unix(int64(m[series("vitals_tls_certificate_expiry_timestamp_seconds", "dependency", "placement")]), 0))
		if left < 22*time.Hour || left > 24*time.Hour {
			t.Errorf("the certificate expires in %s, want 23h", left)
		}
	})
	t.Run("E08 with an untrusted certificate", func(t *testing.T) { v.sees(t, "untrusted", "tls", "000 "+a.secured) })
	t.Run("E09 virtual host is missing", func(t *testing.T) {
		v.sees(t, "keystone", "missing_endpoint", "000 find endpoint: "+missing+": there is no such file")
	})
	t.Run("E09 and comes", func(t *testing.T) {
		if err := os.WriteFile(missing, []byte(read(t, a.vhost)), 0o644); err != nil {
			t.Fatal(err)
		}
		v.sees(t, "keystone", "", "200 "+a.secured)
	})
}

func TestHTTPExpectations(t *testing.T) {
	t.Parallel()
	a := startApache(t)
	password := filepath.Join(a.dir, "password")
	if err := os.WriteFile(password, []byte("test-password\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	health := "url: '" + a.url + "/health.json'"
	v := httpAsk(t, map[string]string{
		"json":    health + ", expect: {headers: {Server: ^Apache}, body: status, json: {status: UP, checks.0.ok: true}}",
		"other":   health + ", expect: {json: {status: DOWN}}",
		"gzip":    health + ", headers: {Accept-Encoding: gzip}, expect: {headers: {Content-Encoding: '^gzip$'}, json: {status: UP}}",
		"large":   "url: '" + a.url + "/large', body_size_limit: 1kB",
		"bounded": "url: '" + a.url + "/large', body_size_limit: 1kB, expect: {body: a}",
		"private": "url: '" + a.url + "/private/index', basic_auth: {username: vitals, password_file: " + password + "}",
		"login":   "url: '" + a.url + "/private/index'",
		"clear":   "url: 'http://" + a.secured + "/'",
		"secured": "url: 'https://" + a.address + "/'",
	})
	for _, c := range []struct{ name, collector, reason, note string }{
		{"all that is expected", "json", "", "200 "},
		{"another value in JSON", "other", "protocol", "200 "},
		{"compressed", "gzip", "", "200 "},
		{"larger than the limit", "large", "", "200 "},
		{"larger than the limit where something is expected", "bounded", "protocol", "200 "},
		{"with a password", "private", "", "200 "},
		{"without a password", "login", "auth", "401 "},
		{"plain HTTP to a port with TLS", "clear", "client_error", "400 "},
		{"TLS to a port without it", "secured", "tls", "000 "},
	} {
		t.Run(c.name, func(t *testing.T) { v.sees(t, c.collector, c.reason, c.note) })
	}
	v.awaits(t, 1000, "vitals_http_response_size_bytes", "dependency", "large")
}

// The environment has a proxy. Go connects to loopback without it in any case, so
// the name is one that only a proxy accepts.
func TestHTTPProxy(t *testing.T) {
	a := startApache(t)
	t.Setenv("http_proxy", a.url)
	t.Setenv("no_proxy", "127.0.0.1")
	v := httpAsk(t, map[string]string{
		"direct":  "url: 'http://" + httpNoHost + "/200'",
		"proxied": "url: 'http://" + httpNoHost + "/200', use_proxy: true",
		"broken":  "url: '" + a.url + "/500', use_proxy: true" + httpUpstream,
	})
	t.Run("E10 the proxy is ignored", func(t *testing.T) { v.sees(t, "direct", "dns", "000 "+httpNoHost+":80") })
	t.Run("E10 the proxy is used where it is wanted", func(t *testing.T) { v.sees(t, "proxied", "", "200 "+a.address) })
	t.Run("E03 500 with no_proxy", func(t *testing.T) { v.sees(t, "broken", "server_error", "500 "+a.address) })
}

// One evaluation prints what a container's check prints, and ends with its code.
func TestHTTPOnce(t *testing.T) {
	t.Parallel()
	a := startApache(t)
	closed := address(t)
	for _, c := range []struct {
		name, url string
		code      int
		words     []string
	}{
		{"E01 200", a.url + "/200", 0, []string{"200 " + a.address, " seconds"}},
		{"E01 204", a.url + "/204", 0, []string{"204 " + a.address, " seconds"}},
		{"E01 300", a.url + "/300", 0, []string{"300 " + a.address, " seconds"}},
		{"E01 302", a.url + "/302", 0, []string{"302 " + a.address, " seconds"}},
		{"E02 400", a.url + "/400", 1, []string{"ServerDown", "400 " + a.address, " seconds: client_error"}},
		{"E02 401", a.url + "/401", 1, []string{"ServerDown", "401 " + a.address, " seconds: auth"}},
		{"E02 404", a.url + "/404", 1, []string{"ServerDown", "404 " + a.address, " seconds: not_found"}},
		{"E02 500", a.url + "/500", 1, []string{"ServerDown", "500 " + a.address, " seconds: server_error"}},
		{"E02 503", a.url + "/503", 1, []string{"ServerDown", "503 " + a.address, " seconds: server_error"}},
		{"E04 connection refused", "http://" + closed, 1, []string{"ServerDown", "000 " + closed, " seconds: refused"}},
		{"E05 name not resolvable", "http://" + httpNoHost, 1, []string{"ServerDown", "000 " + httpNoHost, " seconds: dns"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			config := httpConfigure(t, map[string]string{"api": "url: '" + c.url + "'" + httpUpstream})
			write(t, config, strings.Replace(read(t, config), "interval: 500ms, timeout: 400ms", "interval: 1m, timeout: 30s", 1)) // it has one attempt
			cmd := exec.Command(os.Getenv("VITALS_BIN"), "once", "ready", "--config.file="+config)
			out, err := cmd.Output()
			if got := cmd.ProcessState.ExitCode(); got != c.code {
				t.Errorf("vitals once ready = %d, %v, want %d", got, err, c.code)
			}
			if strings.Count(string(out), "\n") != 1 {
				t.Errorf("vitals once ready prints %q, want one line", out)
			}
			for _, w := range c.words {
				if !strings.Contains(string(out), w) {
					t.Errorf("vitals once ready prints %q, want %q in it", out, w)
				}
			}
		})
	}
}
