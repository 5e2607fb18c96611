package server

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/text"
)

// plainData is what the page shows.
type plainData struct {
	Status
	Headline string
	Where    string
}

// plainRefresh is after how many seconds a browser loads /plain again.
const plainRefresh = "10"

// plainPage serves /plain: the status as tables, for browsers without scripts. They load it again
// by themselves, unless the reader turned that off: a screen reader would begin anew each time.
func (s *Server) plainPage(w http.ResponseWriter, r *http.Request, v *view) {
	s.secure(w.Header())
	if r.URL.Query().Get("refresh") != "off" {
		w.Header().Set("Refresh", plainRefresh)
	}
	v.plain.sendAs(w, r, "text/html; charset=utf-8", "no-store")
}

func (s *Server) renderPlain(v *view) []byte {
	data := plainData{Status: s.statusOf(v), Headline: headline(s.opts.About), Where: where(s.opts.About)}
	order := make([]int, len(v.snap.Rules))
	for i := range order {
		order[i] = i
	}
	rank := func(i int) int {
		r := &v.snap.Rules[i]
		switch {
		case r.Decides:
			return 0
		case r.Status == evaluator.OK:
			return 2
		}
		return 1
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rank(a), rank(b)) })
	for _, i := range order {
		data.Rules = append(data.Rules, ruleStatus(&v.snap.Rules[i]))
	}
	for _, c := range v.snap.Collectors {
		data.Collectors = append(data.Collectors, collectorStatus(c))
	}
	return []byte(plainDocument(&data))
}

// headline is the title of a page.
func headline(a About) string { return cmp.Or(a.Title, a.Host, "Vitals") }

// where is what the headline lacks.
func where(a About) string {
	parts := slices.DeleteFunc([]string{text.Either(a.Title != "", a.Host, ""), a.Namespace, a.Configuration}, func(s string) bool { return s == "" })
	return strings.Join(parts, " · ")
}
