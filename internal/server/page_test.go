package server_test

import (
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/vitals-health/vitals/internal/server"
)

// assetTypes are the files of the page.
func assetTypes() map[string]string {
	types := map[string]string{
		"/": "text/html; charset=utf-8", "/wall": "text/html; charset=utf-8",
		"/assets/page.css": "text/css; charset=utf-8", "/assets/wall.css": "text/css; charset=utf-8", "/assets/icon.svg": "image/svg+xml",
	}
	for _, name := range []string{"page", "view", "dom", "explain", "why", "rules", "history", "source", "address", "overrides", "theme", "wall"} {
		types["/assets/"+name+".js"] = "text/javascript; charset=utf-8"
	}
	return types
}

// maxPage is the size of all files of the page, in bytes.
const maxPage = 100_000

func TestPageIsServed(t *testing.T) {
	h, size := server.New(fixed(healthy())).Handler(), 0
	for path, kind := range assetTypes() {
		r := request(t, h, "GET", path, "")
		body := text(t, r)
		if r.StatusCode != 200 || r.Header.Get("Content-Type") != kind || body == "" {
			t.Errorf("GET %s = %d, %s, %d bytes, want 200, %s", path, r.StatusCode, r.Header.Get("Content-Type"), len(body), kind)
		}
		for name, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
			"X-Content-Type-Options":  "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-cache", "X-Vitals-Generation": "7",
		} {
			if got := r.Header.Get(name); got != want {
				t.Errorf("GET %s: %s = %q, want %q", path, name, got, want)
			}
		}
		size += len(body)
		etag := r.Header.Get("ETag")
		if again := request(t, h, "GET", path, "", "If-None-Match", etag); again.StatusCode != http.StatusNotModified || text(t, again) != "" {
			t.Errorf("GET %s with its ETag = %d, want 304", path, again.StatusCode)
		}
		if again := request(t, h, "GET", path, "", "If-None-Match", `"other"`); again.StatusCode != 200 {
			t.Errorf("GET %s with another ETag = %d, want 200", path, again.StatusCode)
		}
	}
	for _, verdict := range []string{"pass", "warn", "fail", "unknown"} {
		if r := request(t, h, "GET", "/assets/icon-"+verdict+".svg", ""); r.StatusCode != 200 || strings.Contains(text(t, r), "#22577a") {
			t.Errorf("the icon of %s = %d, want 200 and a color of its own", verdict, r.StatusCode)
		}
	}
	served, err := filepath.Glob("page/assets/*")
	if err != nil || len(served) != len(assetTypes()) {
		t.Errorf("assets = %v, %v, want each of them served", served, err)
	}
	if size > maxPage {
		t.Errorf("the page has %d bytes, want at most %d", size, maxPage)
	}
}

// What the scripts fill in is in the page, and each of their names for a style exists.
func TestPageHasTheElementsOfItsScripts(t *testing.T) {
	h := server.New(fixed(healthy())).Handler()
	style := text(t, request(t, h, "GET", "/assets/page.css", "")) + text(t, request(t, h, "GET", "/assets/wall.css", ""))
	id, class := regexp.MustCompile(`byId\("([^"]+)"\)`), regexp.MustCompile(`class: "([^"]+)"`)
	ids := 0
	for path := range assetTypes() {
		body := text(t, request(t, h, "GET", path, ""))
		page := text(t, request(t, h, "GET", map[bool]string{true: "/wall", false: "/"}[path == "/assets/wall.js"], ""))
		for _, m := range id.FindAllStringSubmatch(body, -1) {
			if ids++; strings.Count(page, `id="`+m[1]+`"`) != 1 {
				t.Errorf("%s fills in %q, which is not in the page", path, m[1])
			}
		}
		for _, m := range class.FindAllStringSubmatch(body, -1) {
			for _, name := range strings.Fields(m[1]) {
				if !regexp.MustCompile(`\.` + name + `\b`).MatchString(style) {
					t.Errorf("%s has the class %q, which has no style", path, name)
				}
			}
		}
	}
	if ids < 10 {
		t.Errorf("the scripts fill in %d places, want at least 10", ids)
	}
}

// TestPageUsesNoExternalFiles checks what the content security policy
// enforces: the page loads only files of the server, and parses no text as markup or code.
func TestPageUsesNoExternalFiles(t *testing.T) {
	h := server.New(fixed(healthy())).Handler()
	reference := regexp.MustCompile(`(?:src|href)="([^"]+)"|from "\./([^"]+)"`)
	for path := range assetTypes() {
		body := text(t, request(t, h, "GET", path, ""))
		for _, forbidden := range []string{"https:", "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function(", "<style", " style=", "@import", "url("} {
			if strings.Contains(body, forbidden) {
				t.Errorf("%s contains %q", path, forbidden)
			}
		}
		if n := strings.Count(body, "http:"); n != strings.Count(body, `"http://www.w3.org/2000/svg"`) {
			t.Errorf("%s refers to another site", path)
		}
		for _, m := range reference.FindAllStringSubmatch(body, -1) {
			target := "/" + m[1]
			if m[2] != "" {
				target = "/assets/" + m[2]
			}
			target, _, _ = strings.Cut(target, "?")
			if target == "/config" {
				continue // Exists where there is a configuration.
			}
			if r := request(t, h, "GET", target, ""); r.StatusCode != 200 {
				t.Errorf("%s refers to %s, which answers %d", path, target, r.StatusCode)
			}
		}
	}
}

func TestPageInAFrame(t *testing.T) {
	o := fixed(healthy())
	o.FrameAncestors = []string{"'self'", "https://grafana.example.org"}
	policy := request(t, server.New(o).Handler(), "GET", "/", "").Header.Get("Content-Security-Policy")
	if want := "; frame-ancestors 'self' https://grafana.example.org"; !strings.HasSuffix(policy, want) {
		t.Errorf("policy %q, want it to end in %q", policy, want)
	}
}
