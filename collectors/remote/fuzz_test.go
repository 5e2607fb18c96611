package remote

import (
	"bytes"
	"encoding/pem"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
)

// FuzzRedirect follows the header Location of an answer: never to another server, and
// never with an error that contains more of it than the other server's address.
func FuzzRedirect(f *testing.F) {
	for _, location := range []string{
		"/v3/", "//other/", "https://cloud/", "HTTPS://CLOUD:443/x", "http://cloud:80", "http://user:pass@cloud/", "http://cloud:5000/?token=x", "?a=b", "%zz", "http://[::1%25a]:5000/", "javascript:x",
	} {
		f.Add("http://cloud/v3", location)
		f.Add("https://[::1]:5000/v3?a", location)
	}
	f.Fuzz(func(t *testing.T, target, location string) {
		first, err := http.NewRequest(http.MethodPost, target, strings.NewReader("body"))
		if err != nil || first.URL.Host == "" || first.URL.Scheme != "http" && first.URL.Scheme != "https" {
			return
		}
		to, err := first.URL.Parse(location)
		if err != nil {
			return
		}
		if !SameHost(first.URL, first.URL) || !SameHost(to, to) {
			t.Errorf("SameHost() of a URL and itself = false: %s, %s", first.URL, to)
		}
		next := &http.Request{Method: http.MethodGet, URL: to, Header: http.Header{}, Response: &http.Response{StatusCode: http.StatusFound}}
		err = FollowSameHost(next, []*http.Request{first})
		if err == nil {
			if !strings.EqualFold(to.Hostname(), first.URL.Hostname()) || first.URL.Scheme == "https" && to.Scheme != "https" {
				t.Errorf("a redirect from %s to %s is followed", first.URL, to)
			}
			if to.Scheme == "https" && !MayUseTLS(target) {
				t.Errorf("MayUseTLS(%q) = false, and a redirect to %s is followed", target, to)
			}
			if sent, err := io.ReadAll(next.Body); next.Method != http.MethodPost || err != nil || string(sent) != "body" {
				t.Errorf("the redirected request is %s %q, want the same again", next.Method, sent)
			}
			return
		}
		if reason := ReasonOf(err); reason != ReasonProtocol || len(err.Error()) > 300 {
			t.Errorf("redirect to %q = %q, reason %q, want a bounded text and protocol", location, err, reason)
		}
		if to.User != nil && len(to.User.String()) > 8 && strings.Contains(err.Error(), to.User.String()) {
			t.Errorf("redirect to %q = %q, want no user", location, err)
		}
	})
}

// FuzzAuthorities reads trusted certificates in PEM.
func FuzzAuthorities(f *testing.F) {
	valid, err := os.ReadFile("testdata/ca.pem")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(valid)
	f.Add([]byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c := &ClientTLS{CAFile: "/ca.pem"}
		settings, err := c.Config(data)
		if (settings == nil) != (err != nil) || err != nil && err.Error() != "/ca.pem: expected certificates in PEM" {
			t.Errorf("Config() = %v, %v, want settings or an error", settings, err)
		}
		if block, _ := pem.Decode(data); block == nil && err == nil {
			t.Errorf("Config() accepts %q without PEM", data)
		}
		if _, err := c.Config(append(bytes.Clone(valid), data...)); err != nil {
			t.Errorf("Config() of a certificate before %q = %v, want nil", data, err)
		}
	})
}
