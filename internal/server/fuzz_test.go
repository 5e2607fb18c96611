package server_test

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/vitals-health/vitals/internal/server"
)

// FuzzReport sends arbitrary reports of components. A rejected one changes nothing.
func FuzzReport(f *testing.F) {
	for _, body := range []string{
		`{"alive": true, "ready": false, "reason": "resync"}`, `{"events": [{"event": "cni_add", "result": "failure", "error": "netlink"}]}`, `{}{}`, `{"alife": true}`, "null", "\xff", `{"alive":true,"ALIVE":false}`,
	} {
		f.Add("watcher", body)
	}
	f.Add("..", "{}")
	f.Add("a\n", strings.Repeat(" ", 4097))
	f.Fuzz(func(t *testing.T, name, body string) {
		s, taken := reporting("")
		r := request(t, s.Local(allowAll), "PUT", "/api/v1/components/"+name, body)
		answer := text(t, r)
		known := map[int]bool{204: true, 400: true, 404: true, 413: true, 500: true}
		if !known[r.StatusCode] || (r.StatusCode == 204) != (len(taken) == 1) || len(taken) > 1 {
			t.Errorf("PUT %q = %d, taken %v, want it taken exactly with 204", name, r.StatusCode, taken)
		}
		if len(answer) > 1024 || !utf8.ValidString(answer) || strings.ContainsFunc(strings.TrimSuffix(answer, "\n"), unicode.IsControl) {
			t.Errorf("PUT %q = %q, want one bounded line", name, answer)
		}
		for got, rep := range taken {
			if got != name || len(got) > 63 || len(rep.Reason)+16*len(rep.Events) > 3*len(body) {
				t.Errorf("PUT %q is taken as %q %+v", name, got, rep)
			}
		}
	})
}

// FuzzHeaders sends arbitrary headers and paths to all doors of the server.
func FuzzHeaders(f *testing.F) {
	f.Add("/metrics", "", "application/openmetrics-text;version=1.0.0;q=0.5,*/*;q=0.1", "gzip;q=1.0, identity;q=0.5")
	f.Add("/api/v1/explain/ready", "rule=KeystoneDown&all", "text/plain;q=2", "gzip;q=NaN")
	f.Add("/api/v1/status", "wait=99999999999999999999", `*/*;q="`, ",;=,gzip;Q=0")
	f.Add("/config", "%zz;&=", "", "")
	f.Add("/metrics/slis", "", "", "GZIP;")
	f.Add("/api/v1/rules", `match[]={a=~"((b{99}){99})*",c!="d"}&type=Alert&exclude_alerts=t&file[]=`, "", "")
	f.Add("/api/v1/rules", "match[]=((((sum(&rule_name[]=KeystoneDown", "", "")
	o := fixed(grouped())
	o.Explain = (&explainer{generation: 7}).explain
	s := server.New(o)
	doors := []http.Handler{s.Handler(), s.Probes(), s.Local(nil)}
	f.Fuzz(func(t *testing.T, path, query, accept, encoding string) {
		if !strings.HasPrefix(path, "/") {
			return
		}
		for _, h := range doors {
			r := request(t, h, "GET", path+"?"+query, "", "Accept", accept, "Accept-Encoding", encoding)
			if r.StatusCode < 200 || r.StatusCode > 599 {
				t.Errorf("GET %q = %d", path, r.StatusCode)
			}
			for name, values := range r.Header {
				if v := strings.Join(values, ""); strings.ContainsAny(name+v, "\r\n\x00") {
					t.Errorf("GET %q has the header %q: %q", path, name, v)
				}
			}
			checkBody(t, path, r)
		}
	})
}

// FuzzHost sends arbitrary names of a host from a page: only addresses, localhost and the
// expected name change anything.
func FuzzHost(f *testing.F) {
	for _, host := range []string{
		"evil.example:8080", "node1", "NODE1.:80", "[::1]:8080", "[::1%25a]", "127.0.0.1.evil.example", "localhost@evil.example", "a.localhost.", "", ":", "[", "127.0.0.1:x", "node1\x00", "1.2.3.4.",
	} {
		f.Add(host, "null")
	}
	done := false
	o := fixed(healthy())
	o.Hosts = []string{"node1"}
	o.Reload = func() error { done = true; return nil }
	h := server.New(o).Handler()
	f.Fuzz(func(t *testing.T, host, origin string) {
		done = false
		r := httptest.NewRequest("POST", "http://x/-/reload", http.NoBody)
		r.Host = host
		r.Header.Set("Origin", origin)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != 200 && w.Code != 403 || done != (w.Code == 200) {
			t.Errorf("POST with Host %q = %d, reloaded %t", host, w.Code, done)
		}
		name, _, _ := strings.Cut(strings.ToLower(host), ":")
		name = strings.TrimSuffix(name, ".")
		if _, err := netip.ParseAddr(strings.Trim(name, "[]")); err != nil && origin != "" && !strings.HasPrefix(host, "[") &&
			(name == "" || strings.Contains(name, ".")) && !strings.HasSuffix(name, ".localhost") && !strings.HasSuffix(name, ".svc") && !strings.HasSuffix(name, ".cluster.local") && done {
			t.Errorf("a page under the name %q has reloaded", host)
		}
	})
}

// checkBody checks that a body has the form of its type.
func checkBody(t *testing.T, path string, r *http.Response) {
	t.Helper()
	if r.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		r.Body = io.NopCloser(z)
	}
	body := text(t, r)
	if len(body) > 1<<20 || !utf8.ValidString(body) {
		t.Errorf("GET %q = %d bytes, want bounded UTF-8", path, len(body))
	}
	if r.StatusCode == 200 && strings.HasSuffix(r.Header.Get("Content-Type"), "json") && !json.Valid([]byte(body)) {
		t.Errorf("GET %q = %q, want JSON", path, body)
	}
	if strings.HasPrefix(r.Header.Get("Content-Type"), "text/plain; charset") && strings.ContainsAny(body, "\x00\r") {
		t.Errorf("GET %q = %q, want lines of text", path, body)
	}
}
