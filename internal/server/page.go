package server

import (
	"cmp"
	"embed"
	"net/http"
	"strings"

	"github.com/vitals-health/vitals/internal/server/page"
	"github.com/vitals-health/vitals/internal/server/reply"
	"github.com/vitals-health/vitals/internal/text"
)

// description is the OpenAPI document.
//
//go:embed openapi.json
var description embed.FS

// openAPIFile returns the file of the document.
func openAPIFile() page.File {
	const name = "openapi.json"
	body, err := description.ReadFile(name)
	if err != nil {
		panic("internal error: " + err.Error())
	}
	return page.NewFile(name, body)
}

// secure sets the headers of pages.
func (s *Server) secure(h http.Header) {
	h.Set("Content-Security-Policy", page.Policy(s.opts.FrameAncestors))
	h.Set("Referrer-Policy", "no-referrer")
}

// file serves a file of the page. Browsers may cache it and revalidate it.
func (s *Server) file(f page.File) func(http.ResponseWriter, *http.Request, *view) {
	content := newBody(func() []byte { return f.Body })
	return func(w http.ResponseWriter, r *http.Request, _ *view) {
		h := w.Header()
		s.secure(h)
		h.Set("ETag", f.ETag)
		h.Set("Vary", "Accept-Encoding")
		if r.Header.Get("If-None-Match") == f.ETag {
			h.Set("Cache-Control", "no-cache")
			w.WriteHeader(http.StatusNotModified)
			return
		}
		content.sendAs(w, r, f.ContentType, "no-cache")
	}
}

// badge serves /badge/STATE.svg: a picture of the verdict, for other pages.
func (s *Server) badge(w http.ResponseWriter, r *http.Request, v *view, file string) {
	w = s.counted(w, v, pathBadge+"STATE.svg")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		reply.NotAllowed(w, r, reply.ReadMethods()...)
		return
	}
	name, ok := strings.CutSuffix(file, ".svg")
	p := v.probes[name]
	if !ok || p == nil {
		var names []string
		for _, st := range v.states {
			names = append(names, pathBadge+st.Name+".svg")
		}
		reply.Sentence(w, http.StatusNotFound, "no badge at this path: there are "+text.Line(strings.Join(names, ", "), maxText))
		return
	}
	w.Header().Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	reply.Send(w, http.StatusOK, "image/svg+xml", page.Badge(cmp.Or(s.opts.About.Title, "vitals")+" "+p.state.Name, v.snap.Word(&p.state), page.Color(p.state.Verdict.String())))
}
