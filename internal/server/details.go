package server

import (
	"cmp"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/server/reply"
	"github.com/vitals-health/vitals/internal/server/verdicts"
)

// choiceOf parses the query of a probe. It ignores unknown parameters, as Kubernetes does.
func choiceOf(query string, v *view, st evaluator.State) verdicts.Choice {
	values, _ := url.ParseQuery(query) // Malformed parameters are ignored.
	c := verdicts.Choice{Verbose: values.Has("verbose"), Excluded: map[string]bool{}}
	unmatched := map[string]bool{}
	for _, name := range values["exclude"] {
		switch {
		case name == "":
		case v.hasRule(st, name):
			c.Excluded[name] = true
		default:
			unmatched[name] = true
		}
	}
	c.Unmatched = slices.Sorted(maps.Keys(unmatched))
	return c
}

// hasRule reports whether the state has a rule of that name.
func (v *view) hasRule(st evaluator.State, name string) bool {
	return slices.ContainsFunc(st.Rules, func(i int) bool { return v.snap.Rules[i].Name == name })
}

// serveDetails serves a state as text or JSON with the parameters of the query.
func (s *Server) serveDetails(w http.ResponseWriter, r *http.Request, v *view, st evaluator.State) {
	c, words := choiceOf(r.URL.RawQuery, v, st), v.reading()
	found := words.Without(st, c.Excluded)
	if contentType := jsonType(r.Header["Accept"]); contentType != "" {
		output := ""
		if found == evaluator.Fail {
			output, _, _ = strings.Cut(words.FailingText(st, c.Excluded), "\n")
		}
		reply.Send(w, s.code(found), contentType, reply.Encode(words.Health(st, found, c, st.Rules, output)))
		return
	}
	reply.Plain(w, s.code(found), words.Text(st, found, c))
}

// serveRule serves /STATE/RULE.
func (s *Server) serveRule(w http.ResponseWriter, r *http.Request, v *view, st evaluator.State, name string) {
	words := v.reading()
	found := words.RuleOf(st, name)
	if len(found.Rules) == 0 {
		reply.Sentence(w, http.StatusNotFound, "the state "+st.Name+" has no rule of this name: "+words.RuleNames(st))
		return
	}
	if contentType := jsonType(r.Header["Accept"]); contentType != "" {
		reply.Send(w, s.code(found.Verdict), contentType, reply.Encode(words.Health(st, found.Verdict, verdicts.Choice{}, found.Rules, found.Output)))
		return
	}
	reply.Plain(w, s.code(found.Verdict), found.Text)
}

func (s *Server) code(verdict evaluator.Verdict) int {
	if verdict == evaluator.Fail {
		return cmp.Or(s.opts.FailingStatus(), http.StatusServiceUnavailable)
	}
	return http.StatusOK
}

// jsonType returns the JSON media type that the client prefers to text, or "".
func jsonType(accept []string) string {
	offers := []reply.Offer{{Type: "text", Subtype: "plain"}, {Type: "application", Subtype: "json"}, {Type: "application", Subtype: "health+json"}}
	if i := reply.Negotiate(accept, offers); i > 0 {
		return offers[i].Type + "/" + offers[i].Subtype
	}
	return ""
}
