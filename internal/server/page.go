package server

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"net/http"
)

// files are the files of the status page: plain, without a build step or external files.
//
//go:embed assets
var files embed.FS

// contentSecurity lets the page load its own files and call its own server only: text
// that is interpreted as markup by mistake can neither run nor send data.
const contentSecurity = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// asset is one file of the page.
type asset struct {
	contentType string
	etag        string
	body        []byte
}

// pageAssets returns the files by the path that serves them.
func pageAssets() map[string]asset {
	assets := map[string]asset{}
	for path, f := range map[string][2]string{
		"/":                {"index.html", "text/html; charset=utf-8"},
		"/assets/page.css": {"page.css", "text/css; charset=utf-8"},
		"/assets/page.js":  {"page.js", "text/javascript; charset=utf-8"},
		"/assets/icon.svg": {"icon.svg", "image/svg+xml"},
		"/assets/view.js":  {"view.js", "text/javascript; charset=utf-8"},
		"/assets/dom.js":   {"dom.js", "text/javascript; charset=utf-8"},

		"/assets/explain.js": {"explain.js", "text/javascript; charset=utf-8"},
		"/assets/why.js":     {"why.js", "text/javascript; charset=utf-8"},
	} {
		body, err := files.ReadFile("assets/" + f[0])
		if err != nil {
			panic("internal error: " + err.Error())
		}
		sum := sha256.Sum256(body)
		assets[path] = asset{contentType: f[1], etag: `"` + hex.EncodeToString(sum[:8]) + `"`, body: body}
	}
	return assets
}

// asset serves a file of the page. Browsers may cache it and revalidate it.
func (s *Server) asset(a asset) func(http.ResponseWriter, *http.Request, *view) {
	return func(w http.ResponseWriter, r *http.Request, _ *view) {
		h := w.Header()
		h.Set("Content-Security-Policy", contentSecurity)
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("ETag", a.etag)
		if r.Header.Get("If-None-Match") == a.etag {
			h.Set("Cache-Control", "no-cache")
			w.WriteHeader(http.StatusNotModified)
			return
		}
		sendAs(w, http.StatusOK, a.contentType, "no-cache", a.body)
	}
}
