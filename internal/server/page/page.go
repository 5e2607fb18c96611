// Package page has the files of the status page, and badges: plain files, without a build step or
// external files.
package page

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"mime"
	"path"
	"strings"
)

//go:embed assets
var files embed.FS

const (
	// iconColor is the color of icon.svg, which the icons of verdicts replace.
	iconColor = "#22577a"
	// unknownColor is that of the icon while there is no verdict.
	unknownColor = "#6b7280"
)

// Policy returns the content security policy of the page. It lets the page load its own files and call its own server only: text
// that is interpreted as markup by mistake can neither run nor send data.
func Policy(ancestors []string) string {
	if len(ancestors) == 0 {
		ancestors = []string{"'none'"}
	}
	return "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
		"base-uri 'none'; form-action 'none'; frame-ancestors " + strings.Join(ancestors, " ")
}

// File is one file of the page.
type File struct {
	ContentType string
	// ETag identifies the content, in quotes.
	ETag string
	Body []byte
}

// NewFile returns a file, whose type follows from the ending of its name.
func NewFile(name string, body []byte) File {
	kind := map[string]string{".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml", ".json": "application/json"}[path.Ext(name)]
	if strings.HasPrefix(kind, "text/") {
		kind = mime.FormatMediaType(kind, map[string]string{"charset": "utf-8"})
	}
	sum := sha256.Sum256(body)
	return File{ContentType: kind, ETag: `"` + hex.EncodeToString(sum[:8]) + `"`, Body: body}
}

// Files returns the files by the path that serves them.
func Files() map[string]File {
	all, err := files.ReadDir("assets")
	if err != nil {
		panic("internal error: " + err.Error())
	}
	found := map[string]File{}
	for _, f := range all {
		at := "/assets/" + f.Name()
		if name, ok := strings.CutSuffix(f.Name(), ".html"); ok {
			at = "/" + strings.TrimSuffix(name, "index")
		}
		body, err := files.ReadFile("assets/" + f.Name())
		if err != nil {
			panic("internal error: " + err.Error())
		}
		found[at] = NewFile(f.Name(), body)
	}
	icon := string(found["/assets/icon.svg"].Body)
	for _, verdict := range []string{"pass", "warn", "fail"} {
		found["/assets/icon-"+verdict+".svg"] = recolored(icon, Color(verdict))
	}
	found["/assets/icon-unknown.svg"] = recolored(icon, unknownColor)
	return found
}

// recolored returns the icon in another color.
func recolored(icon, color string) File {
	return NewFile("icon.svg", []byte(strings.Replace(icon, iconColor, color, 1)))
}
