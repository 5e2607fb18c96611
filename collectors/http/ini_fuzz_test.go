package http

import (
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/vitals-health/vitals/collectors/remote"
)

// FuzzFromINI finds the address of a server in its configuration file.
func FuzzFromINI(f *testing.F) {
	for _, text := range []string{
		"[DEFAULT]\nbind_host = 10.0.0.1\nbind_port=9293\n", "[DEFAULT]\nbind_host = [::]\nssl_only = True\n", "[DEFAULT]\nmy_ip = ::1\nbind_host = $my_ip\nbind_port = '1'\n",
		"[DEFAULT]\nbind_host = ${bind_host}\n", "[DEFAULT]\nbind_host = http://x/\n", "[DEFAULT]\nbind_host = a\n b\nbind_port = 70000", "\xff",
	} {
		f.Add(text)
	}
	from := URLFrom{INI: "f", Host: "DEFAULT.bind_host", Port: "DEFAULT.bind_port", HTTPS: "DEFAULT.ssl_only", DefaultPort: 9292, DefaultHost: "127.0.0.1"}
	f.Fuzz(func(t *testing.T, text string) {
		found, wrong := from.fromINI([]byte(text))
		if wrong != nil {
			if lines := strings.Count(text, "\n") + strings.Count(text, "\r") + 1; found != nil || wrong.Line > lines || wrong.Text == "" {
				t.Errorf("%v and a mistake at line %d of %d: %q", found, wrong.Line, lines, wrong.Text)
			}
			return
		}
		u, err := url.Parse(found.String())
		if err != nil {
			t.Fatalf("%q gives %q: %v", text, found, err)
		}
		address, _ := netip.ParseAddr(u.Hostname())
		if u.Scheme != "http" && u.Scheme != "https" || !validHost(u.Hostname()) || address.WithZone("").IsUnspecified() && address.IsValid() ||
			!remote.ValidPort(u.Port()) || u.Path != "/" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
			t.Errorf("%q gives %q", text, found)
		}
	})
}
