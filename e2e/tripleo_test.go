//go:build e2e

package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// apache starts Apache, in one process, with one virtual host of the container, which
// answers with the documents below its root.
func (l *tripleoLab) apache(t *testing.T, listen, vhost string, modules ...string) *tcpServer {
	t.Helper()
	var load strings.Builder
	for _, m := range append([]string{"mpm_event", "authz_core", "dir", "alias"}, modules...) {
		fmt.Fprintf(&load, "LoadModule %s_module /usr/lib/apache2/modules/mod_%s.so\n", m, m)
	}
	l.write(t, "documents/index.html", "{}")
	l.write(t, "httpd.conf", load.String()+"ServerRoot "+l.dir+"\nPidFile "+l.dir+"/httpd.pid\nErrorLog "+l.dir+"/error.log\nDefaultRuntimeDir "+l.dir+
		"\nServerName localhost\nListen "+listen+"\nInclude "+filepath.Join(l.dir, vhost)+"\n")
	return tcpServe(t, "/usr/sbin/apache2", "-X", "-f", filepath.Join(l.dir, "httpd.conf"))
}

const keystoneVHost = "etc/httpd/conf.d/10-keystone_wsgi.conf"

func TestTripleoKeystone(t *testing.T) {
	t.Parallel()
	listen := address(t)
	lab := newTripleoLab(t, nil)
	lab.write(t, keystoneVHost, fmt.Sprintf("<VirtualHost %s>\n  ServerName 127.0.0.1\n  DocumentRoot \"%s/documents\"\n  <Directory \"%[2]s/documents\">\n    Require all granted\n  </Directory>\n</VirtualHost>\n", listen, lab.dir))
	server := lab.apache(t, listen, keystoneVHost)
	lab.serve(t, "keystone")
	const seconds = `[0-9]+\.[0-9]+ seconds`
	t.Run("E01 the API answers", func(t *testing.T) {
		lab.ends(t, "keystone", nil, 0, `^ok 0 ready: .*; keystone: 200 `+listen+` `+seconds+`\n$`)
	})
	t.Run("E02 the API answers 404", func(t *testing.T) {
		if err := os.Remove(filepath.Join(lab.dir, "documents/index.html")); err != nil {
			t.Fatal(err)
		}
		lab.ends(t, "keystone", nil, 1, `^failing 1 APIDown failing: keystone does not answer as it should: not_found\..*: 404 `+listen+` `+seconds)
		lab.write(t, "documents/index.html", "{}")
	})
	t.Run("E06 the API does not answer", func(t *testing.T) {
		server.signal(t, syscall.SIGSTOP)
		lab.ends(t, "keystone", nil, 1, `APIDown failing: keystone does not answer as it should: timeout\.`)
		server.signal(t, syscall.SIGCONT)
	})
	t.Run("E04 the API refuses connections", func(t *testing.T) {
		server.kill()
		lab.ends(t, "keystone", nil, 1, `APIDown failing: keystone does not answer as it should: refused\..*: 000 `+listen)
	})
	t.Run("E01 the API is back", func(t *testing.T) {
		server.start(t)
		lab.ends(t, "keystone", nil, 0, "^ok 0 ready: ")
	})
	t.Run("E09 the file of the virtual host is missing", func(t *testing.T) {
		if err := os.Remove(filepath.Join(lab.dir, keystoneVHost)); err != nil {
			t.Fatal(err)
		}
		if out, code := lab.alone(t, "keystone"); code != 1 || !strings.HasPrefix(out, "usage error 1 service keystone: ") || !strings.Contains(out, keystoneVHost) {
			t.Errorf("healthcheck = %d %q, want 1 and the file", code, out)
		}
	})
}

// The certificate of an API with TLS is verified, unless verification is disabled.
func TestTripleoTLS(t *testing.T) {
	listen := address(t)
	lab := newTripleoLab(t, nil)
	tcpCertificates(t, lab.dir)
	const vhost = "etc/httpd/conf.d/10-placement_wsgi.conf"
	lab.write(t, vhost, fmt.Sprintf("<VirtualHost %s>\n  ServerName localhost\n  DocumentRoot \"%s/documents\"\n  SSLEngine on\n  SSLCertificateFile %[2]s/cert.pem\n  SSLCertificateKeyFile %[2]s/key.pem\n  <Directory \"%[2]s/documents\">\n    Require all granted\n  </Directory>\n</VirtualHost>\n", listen, lab.dir))
	lab.apache(t, listen, vhost, "socache_shmcb", "ssl")
	for _, c := range []struct {
		name    string
		setting string
		code    int
		line    string
	}{
		{"E08 an unknown authority", "tls=verify", 1, "as it should: tls"},
		{"E08 an authority that is named", "ca_file=" + lab.dir + "/ca.pem", 0, "; placement-api: 200 "},
		{"E08 no verification", "tls=skip", 0, "; placement-api: 200 "},
	} {
		t.Run(c.name, func(t *testing.T) {
			name, value, _ := strings.Cut(c.setting, "=")
			t.Setenv("VITALS_SET_"+strings.ToUpper(name), value)
			await(t, "the check", tripleoWithin, func() error {
				if out, code := lab.alone(t, "placement-api"); code != c.code || !strings.Contains(out, c.line) {
					return fmt.Errorf("healthcheck = %d %q, want %d %s", code, out, c.code, c.line)
				}
				return nil
			})
		})
	}
}

// Disabled checks are visible in every answer.
func TestTripleoE33Disabled(t *testing.T) {
	t.Parallel()
	lab := newTripleoLab(t, nil)
	d := lab.serve(t, "keystone", "disabled=pass")
	await(t, "the check passes with a warning", tripleoWithin, func() error {
		out, code := lab.check(t)
		if code != 0 || !strings.HasPrefix(out, "warning 0 ChecksDisabled failing: The checks of this container are disabled") {
			return fmt.Errorf("healthcheck = %d %q, want 0 and a warning", code, out)
		}
		return nil
	})
	if _, metrics, err := d.get("/metrics"); err != nil || !strings.Contains(metrics, `vitals_rule_status{rule="ChecksDisabled",state="ready",status="failing"} 1`) {
		t.Errorf("GET /metrics = %v without the rule, want it", err)
	}
}
