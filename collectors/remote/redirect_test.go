package remote

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

func TestSameHost(t *testing.T) {
	for _, c := range []struct {
		from, to string
		want     bool
	}{
		{"https://api.example/v3", "https://API.example:443/v3/", true},
		{"http://api.example", "https://api.example/", true},
		{"http://[::1]", "https://[::1]:443/", true},
		{"https://api.example", "http://api.example", false},
		{"https://api.example:443", "http://api.example:443", false},
		{"http://api.example:5000", "https://api.example", false},
		{"http://api.example:5000", "http://api.example:5001", false},
		{"https://api.example", "https://api.example.org", false},
		{"https://api.example", "https://example", false},
		{"https://api.example", "file:///etc/passwd", false},
	} {
		from, _ := url.Parse(c.from)
		to, _ := url.Parse(c.to)
		if got := SameHost(from, to); got != c.want {
			t.Errorf("SameHost(%s, %s) = %t, want %t", c.from, c.to, got, c.want)
		}
	}
}

// A request within the same host keeps its method, body and headers; another host receives none.
func TestFollowSameHost(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("another host received %s %s with the token %q", r.Method, r.URL, r.Header.Get("X-Auth-Token"))
	}))
	defer other.Close()
	own := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if status, to, ok := strings.Cut(r.URL.RawQuery, "="); ok {
			to, _ = url.QueryUnescape(to)
			switch to {
			case "round":
				to = r.URL.String()
			case "longer":
				to = r.URL.Path + "x?302=longer"
			}
			w.Header().Set("Location", to)
			w.WriteHeader(map[string]int{"301": 301, "302": 302, "303": 303, "307": 307, "308": 308}[status])
			return
		}
		body, _ := io.ReadAll(r.Body)
		_, _ = io.WriteString(w, strings.Join([]string{r.Method, r.URL.Path, r.Header.Get("X-Auth-Token"), r.Header.Get("Content-Type"), string(body)}, " "))
	}))
	defer own.Close()
	client := http.Client{CheckRedirect: FollowSameHost}
	for _, c := range []struct{ query, want, wrong string }{
		{"?301=/there", "POST /there t0ken application/json b0dy", ""},
		{"?302=" + own.URL + "/there", "POST /there t0ken application/json b0dy", ""},
		{"?307=/there", "POST /there t0ken application/json b0dy", ""},
		{"?308=/there", "POST /there t0ken application/json b0dy", ""},
		{"?303=/there", "GET /there t0ken  ", ""},
		{"?302=" + url.QueryEscape("/again?301=/there"), "POST /there t0ken application/json b0dy", ""},
		{"?303=" + url.QueryEscape("/again?302=/there"), "GET /there t0ken  ", ""},
		{"?302=" + other.URL + "/there", "", "redirect with status 302 to another host is not followed: " + other.URL},
		{"?307=" + other.URL + "/there?a=secret", "", "to another host is not followed: " + other.URL},
		{"?302=https" + strings.TrimPrefix(own.URL, "http"), "", "to another host is not followed: https://"},
		{"?302=" + url.QueryEscape("/again?302="+other.URL), "", "to another host is not followed: " + other.URL},
		{"?302=" + url.QueryEscape("http://u:secret@"+strings.TrimPrefix(other.URL, "http://")), "", "to another host is not followed: " + other.URL},
		{"?302=round", "", "redirect with status 302 in a circle"},
		{"?302=longer", "", "more than 10 redirects"},
	} {
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, own.URL+"/"+c.query, strings.NewReader("b0dy"))
		req.Header.Set("X-Auth-Token", "t0ken")
		req.Header.Set("Content-Type", "application/json")
		res, err := client.Do(req)
		if err != nil {
			if text := WithoutURL(err).Error(); c.wrong == "" || !strings.Contains(text, c.wrong) || strings.Contains(text, "secret") || ReasonOf(err) != ReasonProtocol {
				t.Errorf("%s: error %q with the reason %q, want %q with protocol", c.query, text, ReasonOf(err), c.wrong)
			}
			continue
		}
		body, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if string(body) != c.want || c.wrong != "" {
			t.Errorf("%s: received %q, want %q, error %q", c.query, body, c.want, c.wrong)
		}
	}
}

func TestLeaves(t *testing.T) {
	for _, c := range []struct {
		hops string
		want bool
	}{
		{"http://a/ http://a/x http://a:80/y", false},
		{"http://a/ https://a/ https://a/x", false},
		{"http://a/ https://a/ http://a/", true},
		{"http://a/ http://b/ http://a/", true},
		{"http://a/ http://b/ http://b/x", true},
	} {
		var requests []*http.Request
		for hop := range strings.FieldsSeq(c.hops) {
			requests = append(requests, httptest.NewRequest(http.MethodGet, hop, nil))
		}
		last := len(requests) - 1
		if got := Leaves(requests[last], requests[:last]); got != c.want {
			t.Errorf("Leaves(%s) = %t, want %t", c.hops, got, c.want)
		}
	}
}

func TestMayUseTLS(t *testing.T) {
	for link, want := range map[string]bool{
		"":                       true, // not in the configuration
		"https://a":              true,
		"HTTPS://a:5000":         true,
		"http://a/v3":            true,
		"http://[::1]:80":        true,
		"HTTP://a:5000":          false,
		"http://127.0.0.1:443/x": false,
	} {
		if got := MayUseTLS(link); got != want {
			t.Errorf("MayUseTLS(%s) = %t, want %t", link, got, want)
		}
	}
}
