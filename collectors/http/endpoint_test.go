package http_test

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/vitals-health/vitals/collectors/collectortest"
	httpkind "github.com/vitals-health/vitals/collectors/http"
)

// endpointOf returns the URL of a block, or the error.
func endpointOf(t testing.TB, block string) string {
	t.Helper()
	c := &httpkind.Config{}
	collectortest.Decode(t, block, c)
	if problems := c.Problems(); problems != nil {
		t.Fatalf("Problems() = %v, want none", problems)
	}
	url, err := c.Endpoint()
	if err != nil {
		return "error: " + err.Error()
	}
	return url
}

func TestEndpointOfOptions(t *testing.T) {
	const glance = "host: DEFAULT.bind_host, port: DEFAULT.bind_port, default_port: 9292"
	const vnc = "host: vnc.novncproxy_host, port: vnc.novncproxy_port, default_port: 6080, https: DEFAULT.ssl_only"
	tests := []struct{ name, text, from, want string }{
		{"all there", "[DEFAULT]\nbind_host = 10.0.0.1\nbind_port=9293\n", glance, "http://10.0.0.1:9293/"},
		{"nothing there", "[DEFAULT]\n", glance, "http://127.0.0.1:9292/"},
		{"empty file", "", glance, "http://127.0.0.1:9292/"},
		{"empty options", "[DEFAULT]\nbind_host =\nbind_port =\n", glance, "http://127.0.0.1:9292/"},
		{"another default host", "", glance + ", default_host: '::1'", "http://[::1]:9292/"},
		{"E07 IPv6 literal", "[DEFAULT]\nbind_host = ::1\n", glance, "http://[::1]:9292/"},
		{"E07 IPv6 literal in brackets", "[DEFAULT]\nbind_host = [fd00::5]\n", glance, "http://[fd00::5]:9292/"},
		{"all addresses", "[DEFAULT]\nbind_host = 0.0.0.0\n", glance, "http://127.0.0.1:9292/"},
		{"all addresses of IPv6", "[DEFAULT]\nbind_host = ::\n", glance, "http://[::1]:9292/"},
		{"name", "[DEFAULT]\nbind_host = controller-0.internalapi.localdomain\n", glance, "http://controller-0.internalapi.localdomain:9292/"},
		{"path", "", glance + ", path: /healthcheck", "http://127.0.0.1:9292/healthcheck"},
		{"quotes, and the last one counts", "[DEFAULT]\nbind_host = x\nbind_host = \"10.0.0.1\"\nbind_port = '1'\n", glance, "http://10.0.0.1:1/"},
		{"section in another case", "[VNC]\nnovncproxy_port: 6081\n", vnc, "http://127.0.0.1:6081/"},
		{"other sections do not count", "[other]\nbind_host = 10.0.0.1\n", glance, "http://127.0.0.1:9292/"},
		{"TLS", "[DEFAULT]\nssl_only = True\n", vnc, "https://127.0.0.1:6080/"},
		{"TLS in another word", "[DEFAULT]\nssl_only = on\n", vnc, "https://127.0.0.1:6080/"},
		{"no TLS", "[DEFAULT]\nssl_only = no\n", vnc, "http://127.0.0.1:6080/"},
		{"option that refers to another", "[DEFAULT]\nmy_ip = 10.0.0.7\n[vnc]\nnovncproxy_host = $my_ip\n", vnc, "http://10.0.0.7:6080/"},
		{"option that refers to another section's", "[a]\nip = 10.0.0.7\n[vnc]\nnovncproxy_host = ${A.ip}\n", vnc, "http://10.0.0.7:6080/"},

		{"option that refers to its own section first", "[DEFAULT]\nmy_ip = 10.0.0.7\n[vnc]\nmy_ip = 10.0.0.8\nnovncproxy_host = $my_ip\n", vnc, "http://10.0.0.8:6080/"},
		{"option that refers to one that refers", "[DEFAULT]\nmy_ip = 10.0.0.7\nhost = $my_ip\n[vnc]\nnovncproxy_host = $host\n", vnc, "http://10.0.0.7:6080/"},

		{"option that refers to nothing", "[DEFAULT]\n[vnc]\nnovncproxy_host = $my_ip\n", vnc, "error: FILE:3: option vnc.novncproxy_host refers to $my_ip, which this file does not set: expected a value (a dollar sign is written $$)"},
		{"option that refers in a circle", "[DEFAULT]\na = $a\n[vnc]\nnovncproxy_host = ${a}\n", vnc, "error: FILE:4: option vnc.novncproxy_host refers to too many other options, or in a circle: expected a value (a dollar sign is written $$)"},
		{"host that is none", "[DEFAULT]\nbind_host = http://x/\n", glance, "error: FILE:2: option DEFAULT.bind_host: expected a host's name or address"},
		{"host of two lines", "[DEFAULT]\nbind_host = a\n  b\n", glance, "error: FILE:2: option DEFAULT.bind_host: expected a host's name or address"},
		{"port that is none", "[DEFAULT]\n\nbind_port = 9292x\n", glance, "error: FILE:3: option DEFAULT.bind_port: expected a port, 1 to 65535"},
		{"port beyond", "[DEFAULT]\nbind_port = 0\n", glance, "error: FILE:2: option DEFAULT.bind_port: expected a port, 1 to 65535"},
		{"no port", "[DEFAULT]\n", "port: DEFAULT.bind_port", "error: FILE: option DEFAULT.bind_port is not set: expected a port, as there is no default_port"},
		{"neither true nor false", "[DEFAULT]\nssl_only = maybe\n", vnc, "error: FILE:2: option DEFAULT.ssl_only: expected true or false"},
		{"no INI", "[DEFAULT]\nbind_host\n", glance, `error: FILE:2: not valid INI: no "=" or ":": expected a section, "name = value", a comment or an indented continuation of the value above`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "api.conf")
			collectortest.Write(t, file, tt.text)
			want := strings.Replace(tt.want, "FILE", file, 1)
			if got := endpointOf(t, "{url_from: {ini: '"+file+"', "+tt.from+"}}"); got != want {
				t.Errorf("Endpoint() = %s, want %s", got, want)
			}
		})
	}
}

func TestEndpoint(t *testing.T) {
	dir := collectortest.Dir(t)
	vhost := dir + "/10-placement_wsgi.conf"
	collectortest.Write(t, vhost, "<VirtualHost 10.0.0.1:8776>\nServerName name\nSSLEngine on\nWSGIScriptAlias /placement /x\n</VirtualHost>\n")
	if err := syscall.Mkfifo(dir+"/fifo", 0o600); err != nil {
		t.Fatal(err)
	}
	collectortest.Write(t, dir+"/large", strings.Repeat("#\n", 1<<19+1))
	collectortest.Write(t, dir+"/other", "ServerName x\n")
	tests := []struct{ name, block, want string }{
		{"URL", "{url: 'http://name:80/x?y'}", "http://name:80/x?y"},
		{"E08 virtual host", "{url_from: {vhost: " + vhost + "}}", "https://name:8776/placement/"},
		{"E09 missing virtual host", "{url_from: {vhost: /nonexistent/10-keystone_wsgi.conf}}", "error: /nonexistent/10-keystone_wsgi.conf: there is no such file"},
		{"E09 missing options", "{url_from: {ini: /nonexistent/glance-api.conf, default_port: 9292}}", "error: /nonexistent/glance-api.conf: there is no such file"},
		{"file without a virtual host", "{url_from: {vhost: " + dir + "/other}}", "error: " + dir + "/other: there is no <VirtualHost>"},
		{"directory", "{url_from: {vhost: " + dir + "}}", "error: read file " + dir + ": it is of type directory: expected a regular file"},
		{"FIFO without a writer", "{url_from: {vhost: " + dir + "/fifo}}", "error: read file " + dir + "/fifo: it is of type fifo: expected a regular file"},
		{"file that is too large", "{url_from: {vhost: " + dir + "/large}}", "error: read file " + dir + "/large: it is larger than 1MiB"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := endpointOf(t, tt.block); got != tt.want {
				t.Errorf("Endpoint() = %s, want %s", got, tt.want)
			}
		})
	}
}

// The file may come, change and go while the collector runs.
func TestEndpointChanges(t *testing.T) {
	server := collectortest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/keystone/" {
			w.WriteHeader(http.StatusNotFound)
		}
	})
	_, port, _ := net.SplitHostPort(hostOf(server))
	file := filepath.Join(t.TempDir(), "10-keystone_wsgi.conf")
	c := collectortest.New(t, "api", "{url_from: {vhost: "+file+"}}", &httpkind.Config{})
	vhost := func(alias string) string {
		return fmt.Sprintf("<VirtualHost *:%s>\n  WSGIScriptAlias %s /x\n</VirtualHost>\n", port, alias)
	}
	missing := "find endpoint: " + file + ": there is no such file"
	for _, step := range []struct{ name, text, reason, wrong, note string }{
		{"E09 missing", "", "missing_endpoint", missing, "000 " + missing},
		{"there", vhost("/keystone"), "", "", "200 127.0.0.1:" + port + " SECONDS seconds"},
		{"unchanged", vhost("/keystone"), "", "", "200 127.0.0.1:" + port + " SECONDS seconds"},
		{"of another path", vhost("/placement"), "not_found", "GET http://127.0.0.1:" + port + "/placement/: answer has status 404: expected 200-299", "404 127.0.0.1:" + port + " SECONDS seconds: not_found"},
		{"broken", vhost("keystone"), "missing_endpoint", "find endpoint: " + file + ":2: expected WSGIScriptAlias with a path that begins with /", "000 find endpoint: .*"},
		{"mended", vhost("/keystone"), "", "", "200 127.0.0.1:" + port + " SECONDS seconds"},
		{"gone", "", "missing_endpoint", missing, "000 " + missing},
	} {
		t.Run(step.name, func(t *testing.T) {
			_ = os.Remove(file)
			if step.text != "" {
				collectortest.Write(t, file, step.text)
			}
			for range 2 {
				samples, err := collectortest.Collect(t, c)
				if got := failureReason(t, samples); got != step.reason || errorText(err) != step.wrong {
					t.Errorf("reason = %q, error %v, want %q, %q", got, err, step.reason, step.wrong)
				}
				checkNote(t, c, step.note)
			}
		})
	}
}
