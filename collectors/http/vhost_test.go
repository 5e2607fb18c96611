package http

import (
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vitals-health/vitals/collectors/remote"
)

// vhostURL returns the URL in a file, or the mistake.
func vhostURL(text string) string {
	u, wrong := parseVHost([]byte(text))
	if wrong != nil {
		return wrong.In("f")
	}
	return u.String()
}

// The files are as puppetlabs-apache writes them for TripleO's services.
func TestVHostFilesOfPuppet(t *testing.T) {
	want := map[string]string{
		"10-keystone_wsgi.conf":      "http://controller-0.internalapi.localdomain:5000/",
		"10-placement_wsgi.conf":     "https://controller-0.internalapi.localdomain:8778/placement/",
		"10-horizon_vhost.conf":      "http://controller-0.internalapi.localdomain:80/dashboard/",
		"10-horizon_ssl_vhost.conf":  "https://controller-0.internalapi.localdomain:443/dashboard/",
		"10-nova_metadata_wsgi.conf": "http://[fd00:fd00:fd00:2000::12]:8775/",
		"10-ipxe_vhost.conf":         "http://controller-0.ctlplane.localdomain:8088/",
	}
	files, err := filepath.Glob("testdata/vhosts/*.conf")
	if err != nil || len(files) != len(want) {
		t.Fatalf("Glob() = %v, %v, want %d files", files, err, len(want))
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if got := vhostURL(string(text)); got != want[filepath.Base(file)] {
			t.Errorf("%s = %s, want %s", file, got, want[filepath.Base(file)])
		}
	}
}

func TestParseVHost(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"E08 TLS and an alias", "<VirtualHost 10.0.0.1:8776>\nServerName name\nSSLEngine on\nWSGIScriptAlias /placement /x\n</VirtualHost>", "https://name:8776/placement/"},
		{"E07 IPv6 address", "<VirtualHost [::1]:8776>\nServerName ::1\n</VirtualHost>", "http://[::1]:8776/"},
		{"E07 IPv6 address in brackets", "<VirtualHost [::1]:8776>\nServerName [fd00::1]:80\n</VirtualHost>", "http://[fd00::1]:8776/"},
		{"alias of everything", "<VirtualHost a:1>\nWSGIScriptAlias / /x\n</VirtualHost>", "http://a:1/"},
		{"alias with a slash behind it", "<VirtualHost a:1>\nWSGIScriptAlias /x/ /y\n</VirtualHost>", "http://a:1/x/"},
		{"two aliases", "<VirtualHost a:1>\nWSGIScriptAlias /x /y\nWSGIScriptAlias /z /y\n</VirtualHost>", "http://a:1/x/"},
		{"alias of another kind", "<VirtualHost a:1>\nWSGIScriptAliasMatch ^/x /y\nAlias /z /y\n</VirtualHost>", "http://a:1/"},
		{"alias that needs an escape", "<VirtualHost a:1>\nWSGIScriptAlias \"/a b?\" /y\n</VirtualHost>", "http://a:1/a%20b%3F/"},
		{"no ServerName", "<VirtualHost 10.0.0.1:5000>\n</VirtualHost>", "http://10.0.0.1:5000/"},
		{"no ServerName on all addresses", "<VirtualHost *:5000>\n</VirtualHost>", "http://127.0.0.1:5000/"},
		{"no ServerName on all addresses, in the old way", "<VirtualHost _default_:5000>\n</VirtualHost>", "http://127.0.0.1:5000/"},
		{"no ServerName on 0.0.0.0", "<VirtualHost 0.0.0.0:5000>\n</VirtualHost>", "http://127.0.0.1:5000/"},
		{"no ServerName on ::", "<VirtualHost [::]:5000>\n</VirtualHost>", "http://[::1]:5000/"},
		{"ServerName on all addresses", "<VirtualHost *:5000>\nServerName name\n</VirtualHost>", "http://name:5000/"},
		{"no port", "<VirtualHost *>\nServerName name\n</VirtualHost>", "http://name:80/"},
		{"no port with TLS", "<VirtualHost *:*>\nServerName name\nSSLEngine on\n</VirtualHost>", "https://name:443/"},
		{"port of ServerName", "<VirtualHost *>\nServerName name:8000\n</VirtualHost>", "http://name:8000/"},
		{"scheme and port of ServerName", "<VirtualHost *:5000>\nServerName https://name:8000\n</VirtualHost>", "http://name:5000/"},
		{"several addresses", "<VirtualHost 10.0.0.1:1 [::1]:2>\n</VirtualHost>", "http://10.0.0.1:1/"},
		{"several virtual hosts", "<VirtualHost a:1>\n</VirtualHost>\n<VirtualHost b:2>\nServerName c\nSSLEngine on\n</VirtualHost>", "http://a:1/"},
		{"directives of others", "ServerName x\nSSLEngine on\nWSGIScriptAlias /x /y\n<VirtualHost a:1>\n</VirtualHost>", "http://a:1/"},
		{"last of each", "<VirtualHost a:1>\nSSLEngine on\nServerName b\nSSLEngine off\nServerName c\n</VirtualHost>", "http://c:1/"},
		{"comments", "#<VirtualHost b:2>\n<VirtualHost a:1>\n# ServerName b\n  #SSLEngine on\n## WSGIScriptAlias /x /y\n</VirtualHost>", "http://a:1/"},
		{"comment that continues", "<VirtualHost a:1>\n# x \\\nSSLEngine on\n</VirtualHost>", "http://a:1/"},
		{"any case", "<VIRTUALHOST a:1>\nservername b\nSslEngine ON\nwsgiscriptalias /x /y\n</virtualhost>", "https://b:1/x/"},
		{"quotes", "<VirtualHost \"a:1\">\nServerName 'b'\nSSLEngine \"on\"\nWSGIScriptAlias \"/x\" \"/y z\"\n</VirtualHost>", "https://b:1/x/"},
		{"quote within quotes", "<VirtualHost a:1>\nWSGIScriptAlias '/x\\'\"' /y\n</VirtualHost>", "http://a:1/x%27%22/"},
		{"continued lines", "<VirtualHost a:1>\nServer\\\nName \\\n  b\nWSGIScriptAlias \\\r\n/x \\\n /y\n</VirtualHost>", "http://b:1/x/"},
		{"white space", "\t<VirtualHost   a:1  >\r\n\t ServerName\tb  \r\n</VirtualHost >\r\n", "http://b:1/"},
		{"within other sections", "<IfModule mod_ssl.c>\n<VirtualHost a:1>\n<IfModule mod_wsgi.c>\nSSLEngine on\nWSGIScriptAlias /x /y\n</IfModule>\n</VirtualHost>\n</IfModule>", "https://a:1/x/"},
		{"words of others are not read", "<VirtualHost a:1>\nErrorLog \"x\nSetEnv Y ${Z}\n</VirtualHost>", "http://a:1/"},

		{"nothing", "", "f: there is no <VirtualHost>"},
		{"no virtual host", "ServerName a\n", "f: there is no <VirtualHost>"},
		{"not closed", "\n<VirtualHost a:1>\nServerName b\n", "f:2: <VirtualHost> is not closed"},
		{"cut in a continued line", "<VirtualHost a:1>\n</VirtualHost>\\", "f:1: <VirtualHost> is not closed"},
		{"within another", "<VirtualHost a:1>\n<VirtualHost b:1>\n", "f:2: <VirtualHost> within another"},
		{"no address", "<VirtualHost>\n", "f:1: expected <VirtualHost address:port>"},
		{"no bracket", "<VirtualHost a:1\n", "f:1: expected <VirtualHost address:port>"},
		{"port that is none", "<VirtualHost a:http>\n", "f:1: expected <VirtualHost address:port>"},
		{"port beyond", "<VirtualHost a:65536>\n", "f:1: expected <VirtualHost address:port>"},
		{"IPv6 address without brackets", "<VirtualHost ::1:x>\n", "f:1: expected <VirtualHost address:port>"},
		{"IPv4 address in brackets", "<VirtualHost [10.0.0.1]:80>\n", "f:1: expected <VirtualHost address:port>"},
		{"variable in the address", "<VirtualHost ${IP}:80>\n", "f:1: expected <VirtualHost address:port>"},
		{"ServerName without a name", "<VirtualHost a:1>\nServerName\n", "f:2: expected ServerName with a name or an address"},
		{"ServerName that is none", "<VirtualHost a:1>\nServerName a/b\n", "f:2: expected ServerName with a name or an address"},
		{"ServerName with a variable", "<VirtualHost a:1>\nServerName ${FQDN}\n", "f:2: a variable, whose value is unknown: expected a literal value"},
		{"ServerName in an open quote", "<VirtualHost a:1>\nServerName \"b\n", "f:2: expected ServerName with a name or an address"},
		{"ServerName in an open quote behind a backslash", "<VirtualHost a:1>\nServerName \"b\\ \n", "f:2: expected ServerName with a name or an address"},
		{"SSLEngine that is none", "<VirtualHost a:1>\nSSLEngine yes\n", "f:2: expected SSLEngine on or off"},
		{"alias without a path", "<VirtualHost a:1>\n\\\n\nWSGIScriptAlias x /y\n", "f:4: expected WSGIScriptAlias with a path that begins with /"},
		{"mistake in a continued line", "<VirtualHost a:1>\nServerName \\\n  a/b\n", "f:2: expected ServerName with a name or an address"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := vhostURL(tt.text); got != tt.want {
				t.Errorf("%q = %s, want %s", tt.text, got, tt.want)
			}
		})
	}
}

// FuzzParseVHost checks properties that hold for every derived URL.
func FuzzParseVHost(f *testing.F) {
	for _, seed := range []string{
		"<VirtualHost [::1]:8776>\nServerName name:80\nSSLEngine on\nWSGIScriptAlias \"/a b\" /x\n</VirtualHost>",
		"<virtualhost *:*>\n\\\nServerName 'a'\\\n</VirtualHost>", "<VirtualHost _default_>\nServerName https://[::]:1\nWSGIScriptAlias // /x\n</VirtualHost>",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		found, wrong := parseVHost([]byte(text))
		if wrong != nil {
			if lines := strings.Count(text, "\n") + 1; wrong.Line > lines || wrong.Text == "" {
				t.Errorf("mistake at line %d of %d: %q", wrong.Line, lines, wrong.Text)
			}
			return
		}
		u, err := url.Parse(found.String())
		if err != nil {
			t.Fatalf("%q gives %q: %v", text, found, err)
		}
		address, _ := netip.ParseAddr(u.Hostname())
		if u.Scheme != "http" && u.Scheme != "https" || !validHost(u.Hostname()) || address.WithZone("").IsUnspecified() && address.IsValid() ||
			!remote.ValidPort(u.Port()) || !strings.HasPrefix(u.Path, "/") || !strings.HasSuffix(u.Path, "/") || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
			t.Errorf("%q gives %q", text, found)
		}
	})
}
