package server

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"mime"
	"net/http"
	"path"
	"strings"
)

// files are the files of the status page: plain, without a build step or external files.
//
//go:embed assets
var files embed.FS

// iconColor is the color of icon.svg, which the icons of verdicts replace.
const iconColor = "#22577a"

// description is the OpenAPI document.
//
//go:embed openapi.json
var description embed.FS

// contentSecurity lets the page load its own files and call its own server only: text
// that is interpreted as markup by mistake can neither run nor send data.
func contentSecurity(ancestors []string) string {
	if len(ancestors) == 0 {
		ancestors = []string{"'none'"}
	}
	return "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
		"base-uri 'none'; form-action 'none'; frame-ancestors " + strings.Join(ancestors, " ")
}

// secure sets the headers of pages.
func (s *Server) secure(h http.Header) {
	h.Set("Content-Security-Policy", contentSecurity(s.opts.FrameAncestors))
	h.Set("Referrer-Policy", "no-referrer")
}

// asset is one file of the page.
type asset struct {
	contentType string
	etag        string
	body        *body
}

func newAsset(name string, plain []byte) asset {
	kind := map[string]string{".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml", ".json": "application/json"}[path.Ext(name)]
	if strings.HasPrefix(kind, "text/") {
		kind = mime.FormatMediaType(kind, map[string]string{"charset": "utf-8"})
	}
	sum := sha256.Sum256(plain)
	return asset{contentType: kind, etag: `"` + hex.EncodeToString(sum[:8]) + `"`, body: newBody(func() []byte { return plain })}
}

// pageAssets returns the files by the path that serves them.
func pageAssets() map[string]asset {
	all, err := files.ReadDir("assets")
	if err != nil {
		panic("internal error: " + err.Error())
	}
	assets := map[string]asset{}
	for _, f := range all {
		at := "/assets/" + f.Name()
		if name, ok := strings.CutSuffix(f.Name(), ".html"); ok {
			at = "/" + strings.TrimSuffix(name, "index")
		}
		assets[at] = readAsset(files, "assets/"+f.Name())
	}
	icon := string(assets["/assets/icon.svg"].body.plain())
	colors := map[string]string{"unknown": "#6b7280"}
	for verdict, color := range badgeColors() {
		colors[verdict.String()] = color
	}
	for verdict, color := range colors {
		name := "icon-" + verdict + ".svg"
		assets["/assets/"+name] = newAsset(name, []byte(strings.Replace(icon, iconColor, color, 1)))
	}
	return assets
}

// readAsset reads an embedded file.
func readAsset(from embed.FS, name string) asset {
	body, err := from.ReadFile(name)
	if err != nil {
		panic("internal error: " + err.Error())
	}
	return newAsset(path.Base(name), body)
}

// asset serves a file of the page. Browsers may cache it and revalidate it.
func (s *Server) asset(a asset) func(http.ResponseWriter, *http.Request, *view) {
	return func(w http.ResponseWriter, r *http.Request, _ *view) {
		h := w.Header()
		s.secure(h)
		h.Set("ETag", a.etag)
		h.Set("Vary", "Accept-Encoding")
		if r.Header.Get("If-None-Match") == a.etag {
			h.Set("Cache-Control", "no-cache")
			w.WriteHeader(http.StatusNotModified)
			return
		}
		a.body.sendAs(w, r, a.contentType, "no-cache")
	}
}
