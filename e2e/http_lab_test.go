//go:build e2e

package e2e_test

import (
	"crypto/sha1"
	"encoding/base64"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// httpNoHost is a name that cannot be resolved, without a query: a label has at most 63
// bytes (RFC 1035, section 2.3.4).
const httpNoHost = "x234567890123456789012345678901234567890123456789012345678901234.example"

// apache is a real Apache with one process, which a test may stop and start again.
type apache struct {
	*tcpServer
	dir string
	// address takes plain HTTP, address6 on ::1, and secured HTTP over TLS; url is that
	// of address.
	address, address6, secured, url string
	// vhost is the file of the virtual host with TLS, which Apache itself reads.
	vhost string
}

const apacheConfig = `
ServerRoot DIR
ServerName localhost
PidFile DIR/apache2.pid
DefaultRuntimeDir DIR
ErrorLog DIR/error.log
MODULES
Listen PLAIN
Listen PLAIN6
Listen SECURED https
DocumentRoot DIR/www
<Directory DIR/www>
  Require all granted
</Directory>
<Directory DIR/www/private>
  AuthType Basic
  AuthName private
  AuthUserFile DIR/users
  Require valid-user
</Directory>
TypesConfig /dev/null
AddType application/json .json
AddOutputFilterByType DEFLATE application/json
Redirect 300 /300 /200
Redirect 302 /302 /200
RewriteEngine On
RULES
Include DIR/10-placement_wsgi.conf
`

// The file is as Puppet writes it. Apache serves a file in place of the application.
const apacheVHost = `
<VirtualHost SECURED>
  ServerName localhost

  ## SSL directives
  SSLEngine on
  SSLCertificateFile      "DIR/cert.pem"
  SSLCertificateKeyFile   "DIR/key.pem"
  Protocols h2 http/1.1

  <IfModule mod_wsgi.c>
    ## WSGI configuration
    WSGIScriptAlias /placement "DIR/www/placement-api"
  </IfModule>
  Alias /placement/ "DIR/www/200"
</VirtualHost>
`

// startApache runs Apache until the test ends, as another user where the tests run as root.
func startApache(t *testing.T) *apache {
	t.Helper()
	a := &apache{dir: shortDirectory(t, ""), address: address(t), secured: address(t), address6: address6(t)}
	a.url, a.vhost = "http://"+a.address, filepath.Join(a.dir, "10-placement_wsgi.conf")
	tcpCertificates(t, a.dir)
	var modules, rules []string
	for _, m := range []string{"mpm_event", "authz_core", "authz_user", "authn_core", "authn_file", "auth_basic", "alias", "rewrite", "mime", "filter", "deflate", "ssl", "http2"} {
		modules = append(modules, fmt.Sprintf("LoadModule %s_module /usr/lib/apache2/modules/mod_%s.so", m, m))
	}
	for _, code := range []int{204, 400, 401, 403, 404, 500, 503} {
		rules = append(rules, fmt.Sprintf("RewriteRule ^/%d$ - [R=%d,L]", code, code))
	}
	fill := strings.NewReplacer("DIR", a.dir, "PLAIN6", a.address6, "PLAIN", a.address, "SECURED", a.secured,
		"MODULES", strings.Join(modules, "\n"), "RULES", strings.Join(rules, "\n"))
	digest := sha1.Sum([]byte("test-password"))
	for name, text := range map[string]string{
		"apache2.conf": fill.Replace(apacheConfig), "10-placement_wsgi.conf": fill.Replace(apacheVHost),
		"users":   "vitals:{SHA}" + base64.StdEncoding.EncodeToString(digest[:]) + "\n",
		"www/200": "well", "www/private/index": "private", "www/large": strings.Repeat("a", 100_000),
		"www/health.json": `{"status": "UP", "checks": [{"ok": true}]}` + strings.Repeat("\n", 2000),
	} {
		path := filepath.Join(a.dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(a.dir, 0o777); err != nil { // for the process id
		t.Fatal(err)
	}
	command := []string{"/usr/sbin/apache2", "-X", "-f", a.dir + "/apache2.conf"}
	if os.Geteuid() == 0 {
		command = append([]string{"/usr/bin/setpriv", "--reuid=www-data", "--regid=www-data", "--clear-groups"}, command...)
	}
	a.tcpServer = tcpServe(t, command...)
	await(t, "Apache listens", tcpWithin, func() error {
		conn, err := net.Dial("tcp", a.address)
		if err != nil {
			log, _ := os.ReadFile(a.log)
			more, _ := os.ReadFile(a.dir + "/error.log")
			return fmt.Errorf("%w\n%s%s", err, log, more)
		}
		return conn.Close()
	})
	return a
}

// address6 returns an address on IPv6 loopback that nothing listens on.
func address6(t *testing.T) string {
	t.Helper()
	return addressOf(t, "::1")
}

// httpAsking is a Vitals with collectors of the kind http.
type httpAsking struct{ tcpAsking }

// httpAsk runs Vitals with a collector of the kind http for each block, all of which have to
// succeed for ready.
func httpAsk(t *testing.T, blocks map[string]string) httpAsking {
	t.Helper()
	config := httpConfigure(t, blocks)
	return httpAsking{tcpAsking{runVitals(t, os.Getenv("VITALS_BIN"), config, filepath.Dir(config))}}
}

// httpConfigure writes a configuration and its rules.
func httpConfigure(t *testing.T, blocks map[string]string) string {
	t.Helper()
	dir := shortDirectory(t, "")
	var config strings.Builder
	config.WriteString("evaluation_interval: 200ms\nrule_files: [rules.yml]\ncollectors:\n")
	for _, name := range slices.Sorted(maps.Keys(blocks)) {
		fmt.Fprintf(&config, "  - {name: %s, interval: 500ms, timeout: 400ms, http: {%s}}\n", name, blocks[name])
	}
	const rules = `groups: [{name: g, rules: [{alert: ServerDown, expr: vitals_dependency_up == 0, labels: {state: ready}, annotations: {summary: "{{ $labels.dependency }} is down."}}]}]`
	for file, text := range map[string]string{"vitals.yml": config.String(), "rules.yml": rules} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "vitals.yml")
}

// awaits waits until a series has a value.
func (a httpAsking) awaits(t *testing.T, want float64, name string, pairs ...string) {
	t.Helper()
	await(t, name, tcpWithin, func() error {
		m, err := a.metrics()
		if err != nil {
			return err
		}
		return m.want(want, name, pairs...)
	})
}
