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
	return map[string]string{
		"/": "text/html; charset=utf-8", "/assets/page.css": "text/css; charset=utf-8", "/assets/icon.svg": "image/svg+xml",
		"/assets/page.js": "text/javascript; charset=utf-8", "/assets/view.js": "text/javascript; charset=utf-8", "/assets/dom.js": "text/javascript; charset=utf-8",
		"/assets/explain.js": "text/javascript; charset=utf-8", "/assets/why.js": "text/javascript; charset=utf-8",
	}
}

func TestPageIsServed(t *testing.T) {
	h := server.New(fixed(healthy())).Handler()
	for path, kind := range assetTypes() {
		r := request(t, h, "GET", path, "")
		body := text(t, r)
		if r.StatusCode != 200 || r.Header.Get("Content-Type") != kind || body == "" {
			t.Errorf("GET %s = %d, %s, %d bytes, want 200, %s", path, r.StatusCode, r.Header.Get("Content-Type"), len(body), kind)
		}
		for name, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
			"X-Content-Type-Options":  "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-cache", "X-Vitals-Generation": "7",
		} {
			if got := r.Header.Get(name); got != want {
				t.Errorf("GET %s: %s = %q, want %q", path, name, got, want)
			}
		}
		etag := r.Header.Get("ETag")
		if again := request(t, h, "GET", path, "", "If-None-Match", etag); again.StatusCode != http.StatusNotModified || text(t, again) != "" {
			t.Errorf("GET %s with its ETag = %d, want 304", path, again.StatusCode)
		}
		if again := request(t, h, "GET", path, "", "If-None-Match", `"other"`); again.StatusCode != 200 {
			t.Errorf("GET %s with another ETag = %d, want 200", path, again.StatusCode)
		}
	}
	served, err := filepath.Glob("assets/*")
	if err != nil || len(served) != len(assetTypes()) {
		t.Errorf("assets = %v, %v, want each of them served", served, err)
	}
}

// What the scripts fill in is in the page, and each of their names for a style exists.
func TestPageHasTheElementsOfItsScripts(t *testing.T) {
	h := server.New(fixed(healthy())).Handler()
	page, style := text(t, request(t, h, "GET", "/", "")), text(t, request(t, h, "GET", "/assets/page.css", ""))
	id, class := regexp.MustCompile(`byId\("([^"]+)"\)`), regexp.MustCompile(`class: "([^"]+)"`)
	ids := 0
	for path := range assetTypes() {
		body := text(t, request(t, h, "GET", path, ""))
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
		if n := strings.Count(body, "http:"); n != strings.Count(body, `xmlns="http://www.w3.org/2000/svg"`) {
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
