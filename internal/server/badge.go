package server

import (
	"cmp"
	"fmt"
	"html"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/server/reply"
	"github.com/vitals-health/vitals/internal/text"
)

// badgeColors are the colors of the verdicts in badges and icons: white text on them has a
// contrast of 4.5 or more.
func badgeColors() map[evaluator.Verdict]string {
	return map[evaluator.Verdict]string{evaluator.Pass: "#17703f", evaluator.Warn: "#875400", evaluator.Fail: "#b3201a"}
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
	reply.Send(w, http.StatusOK, "image/svg+xml", badgeOf(cmp.Or(s.opts.About.Title, "vitals")+" "+p.state.Name, v.snap.Word(&p.state), badgeColors()[p.state.Verdict]))
}

// badgeOf draws a badge with a name at the left and a word at the right.
func badgeOf(name, word, color string) []byte {
	// 6.5 is about the width of a character of this font at 11 pixels.
	width := func(s string) int { return 12 + int(6.5*float64(utf8.RuneCountInString(s))) }
	left, right := width(name), width(word)
	label := html.EscapeString(name)
	return fmt.Appendf(nil, `<svg xmlns="http://www.w3.org/2000/svg" width="%[1]d" height="20" role="img" aria-label="%[2]s: %[3]s"><title>%[2]s: %[3]s</title>`+
		`<clipPath id="r"><rect width="%[1]d" height="20" rx="4"/></clipPath><g clip-path="url(#r)"><rect width="%[4]d" height="20" fill="#3b444d"/><rect x="%[4]d" width="%[5]d" height="20" fill="%[6]s"/></g>`+
		`<g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11"><text x="%[7]d" y="14">%[2]s</text><text x="%[8]d" y="14">%[3]s</text></g></svg>
`, left+right, label, word, left, right, color, left/2, left+right/2)
}
