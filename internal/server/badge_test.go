package server_test

import (
	"encoding/xml"
	"strings"
	"testing"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/server"
)

func TestBadge(t *testing.T) {
	s := failing()
	s.States[1].Verdict = evaluator.Warn
	o := fixed(s)
	o.About.Title = `Kuryr <&"> Paris`
	h := server.New(o).Handler()
	for path, want := range map[string]string{
		"/badge/ready.svg":   "Kuryr <&\"> Paris ready: failing #b3201a",
		"/badge/readyz.svg":  "Kuryr <&\"> Paris ready: failing #b3201a",
		"/badge/alive.svg":   "Kuryr <&\"> Paris alive: warning #875400",
		"/badge/started.svg": "Kuryr <&\"> Paris started: ok #17703f",
	} {
		r := request(t, h, "GET", path, "")
		body := text(t, r)
		checkHeaders(t, r, "image/svg+xml", len(body))
		var drawn struct {
			Label  string `xml:"aria-label,attr"`
			Groups []struct {
				Rects []struct {
					Fill string `xml:"fill,attr"`
				} `xml:"rect"`
			} `xml:"g"`
		}
		if err := xml.Unmarshal([]byte(body), &drawn); err != nil {
			t.Fatalf("GET %s: %v in %s", path, err, body)
		}
		if got := drawn.Label + " " + drawn.Groups[0].Rects[1].Fill; r.StatusCode != 200 || got != want {
			t.Errorf("GET %s = %d %q, want 200 %q", path, r.StatusCode, got, want)
		}
	}
	for _, path := range []string{"/badge/", "/badge/ready", "/badge/gold.svg", "/badge/.svg"} {
		r := request(t, h, "GET", path, "")
		if body := text(t, r); r.StatusCode != 404 || !strings.Contains(body, "there are /badge/ready.svg, /badge/alive.svg, /badge/started.svg") {
			t.Errorf("GET %s = %d %q, want 404 with the badges that exist", path, r.StatusCode, body)
		}
	}
	if r := request(t, h, "POST", "/badge/ready.svg", ""); r.StatusCode != 405 {
		t.Errorf("POST = %d, want 405", r.StatusCode)
	}
}
