package alertmanager

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzURL parses addresses and credentials. What is shown of them has neither the user nor the
// query, and an address that is accepted makes a request to the path of the API.
func FuzzURL(f *testing.F) {
	f.Add("alertmanager:9093/prefix/", "user", "hunter2", "token=hunter2")
	f.Add("[::1]:9093", "", "p%40ss/word", "")
	f.Add("am/api/v2/alerts", "u", "", "a=1&password=x")
	f.Add("am:9093/#/alerts", "token", "", "")
	f.Fuzz(func(t *testing.T, rest, user, password, query string) {
		given := "https://" + url.UserPassword(user, password).String() + "@" + rest
		if query != "" {
			given += "?" + url.QueryEscape(query)
		}
		to, err := parseURL(given, func(...string) {})
		if err != nil {
			if len(err.Error()) > 500 {
				t.Errorf("parseURL(%q) = %d bytes of an error, want at most 500", given, len(err.Error()))
			}
			return
		}
		shown, err := url.Parse(to.shown)
		if err != nil || shown.User != nil || shown.RawQuery != "" || shown.Fragment != "" || !utf8.ValidString(shown.Host) && utf8.ValidString(given) {
			t.Errorf("parseURL(%q) shows %q, want no user, query and fragment", given, to.shown)
		}
		req, err := http.NewRequest(http.MethodPost, to.url, http.NoBody)
		if err != nil {
			t.Fatalf("parseURL(%q) = %q, which makes no request: %v", given, to.url, err)
		}
		if !strings.HasSuffix(req.URL.Path, apiPath) {
			t.Errorf("parseURL(%q) requests %s, want the path %s", given, req.URL.Path, apiPath)
		}
	})
}
