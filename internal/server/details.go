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
	"github.com/vitals-health/vitals/internal/text"
)

// parameters are the query parameters of a probe.
type parameters struct {
	verbose bool
	// excluded are the names of the rules to ignore.
	excluded map[string]bool
	// unmatched are the excluded names that no rule of the state has, sorted.
	unmatched []string
}

// parseParameters parses the query. It ignores unknown parameters, as Kubernetes does.
func parseParameters(query string, v *view, st evaluator.State) parameters {
	values, _ := url.ParseQuery(query) // Malformed parameters are ignored.
	w := parameters{verbose: values.Has("verbose"), excluded: map[string]bool{}}
	unmatched := map[string]bool{}
	for _, name := range values["exclude"] {
		switch {
		case name == "":
		case v.hasRule(st, name):
			w.excluded[name] = true
		default:
			unmatched[name] = true
		}
	}
	w.unmatched = slices.Sorted(maps.Keys(unmatched))
	return w
}

// hasRule reports whether the state has a rule of that name.
func (v *view) hasRule(st evaluator.State, name string) bool {
	return slices.ContainsFunc(st.Rules, func(i int) bool { return v.snap.Rules[i].Name == name })
}

// verdict returns the state's verdict without the excluded rules. A state that fails
// for a reason other than a rule still fails.
func (v *view) verdict(st evaluator.State, excluded map[string]bool) evaluator.Verdict {
	if len(excluded) == 0 {
		return st.Verdict
	}
	counts := func(i int) bool { return !excluded[v.snap.Rules[i].Name] }
	if st.Verdict == evaluator.Fail && (st.Reason != "" || len(st.Deciding) == 0 || slices.ContainsFunc(st.Deciding, counts)) {
		return evaluator.Fail
	}
	if slices.ContainsFunc(st.Rules, func(i int) bool { return v.snap.Rules[i].Warns && counts(i) }) {
		return evaluator.Warn
	}
	return evaluator.Pass
}

// serveDetails serves a state as text or JSON with the parameters of the query.
func (s *Server) serveDetails(w http.ResponseWriter, r *http.Request, v *view, st evaluator.State) {
	ps := parseParameters(r.URL.RawQuery, v, st)
	verdict := v.verdict(st, ps.excluded)
	if contentType := jsonType(r.Header["Accept"]); contentType != "" {
		output := ""
		if verdict == evaluator.Fail {
			output, _, _ = strings.Cut(failingText(v, st, ps.excluded), "\n")
		}
		reply.Send(w, s.code(verdict), contentType, healthJSON(v, st, verdict, ps, st.Rules, output))
		return
	}
	reply.Plain(w, s.code(verdict), detailsText(v, st, verdict, ps))
}

// serveRule serves /STATE/RULE: the rule's own line, without the state's reasons. A
// stalled snapshot fails every rule, because it is no longer evidence.
func (s *Server) serveRule(w http.ResponseWriter, r *http.Request, v *view, st evaluator.State, name string) {
	verdict, output := evaluator.Pass, ""
	var rules []int
	var lines strings.Builder
	for _, i := range st.Rules {
		rule := &v.snap.Rules[i]
		if rule.Name != name {
			continue
		}
		rules = append(rules, i)
		lines.WriteString(v.ruleLine(rule, nil))
		if rule.Decides && output == "" {
			verdict, output = evaluator.Fail, text.Line(RuleText(rule), maxLine)
		} else if rule.Warns && verdict == evaluator.Pass {
			verdict = evaluator.Warn
		}
	}
	if len(rules) == 0 {
		reply.Sentence(w, http.StatusNotFound, "the state "+st.Name+" has no rule of this name: "+v.ruleNames(st))
		return
	}
	if v.stale(st) {
		verdict, output = evaluator.Fail, st.Reason
		lines.WriteString(v.reasonLine(st))
	}
	if contentType := jsonType(r.Header["Accept"]); contentType != "" {
		reply.Send(w, s.code(verdict), contentType, healthJSON(v, st, verdict, parameters{}, rules, output))
		return
	}
	reply.Plain(w, s.code(verdict), lines.String())
}

// stale reports whether the state fails because the snapshot is too old. The status of
// its rules is then no longer evidence.
func (v *view) stale(st evaluator.State) bool {
	return v.stalled && st.Reason == "evaluator stalled"
}

// ruleNames returns the list of the state's rules for a 404.
func (v *view) ruleNames(st evaluator.State) string {
	if len(st.Rules) == 0 {
		return "it has no rules"
	}
	var names []string
	for _, i := range st.Rules {
		names = append(names, v.snap.Rules[i].Name)
	}
	return "its rules are " + text.Line(strings.Join(slices.Compact(names), ", "), maxFailingText/2)
}

func (s *Server) code(verdict evaluator.Verdict) int {
	if verdict == evaluator.Fail {
		return cmp.Or(s.opts.FailingStatus(), http.StatusServiceUnavailable)
	}
	return http.StatusOK
}

// detailsText returns the Kubernetes text protocol with ?verbose, and otherwise the body
// of the plain probe. Both name unknown excludes.
func detailsText(v *view, st evaluator.State, verdict evaluator.Verdict, ps parameters) string {
	var b strings.Builder
	switch {
	case ps.verbose:
		for _, i := range st.Rules {
			b.WriteString(v.ruleLine(&v.snap.Rules[i], ps.excluded))
		}
		if st.Reason != "" {
			b.WriteString(v.reasonLine(st))
		}
	case verdict == evaluator.Fail:
		b.WriteString(failingText(v, st, ps.excluded))
	default:
		b.WriteString("ok")
		if len(ps.unmatched) > 0 {
			b.WriteByte('\n')
		}
	}
	for _, warning := range ps.warnings(st) {
		b.WriteString("warn: " + warning + "\n")
	}
	if ps.verbose && verdict == evaluator.Fail {
		b.WriteString(st.Name + " check failed\n")
	} else if ps.verbose {
		b.WriteString(st.Name + " check passed\n")
	}
	return b.String()
}

// warnings returns a warning about the excludes that have no effect.
func (ps parameters) warnings(st evaluator.State) []string {
	if len(ps.unmatched) == 0 {
		return nil
	}
	return []string{text.Line("no rule of "+st.Name+" is named "+strings.Join(ps.unmatched, ", ")+": nothing excluded for it", maxLine)}
}

// reasonLine returns the line of a state that fails without a rule.
func (v *view) reasonLine(st evaluator.State) string {
	return "[-]" + st.Name + " " + v.snap.Word(&st) + ": " + text.Line(st.Reason, maxLine) + "\n"
}

// ruleLine returns a rule's line of the text protocol: [-] if it makes its state fail,
// or else [+], with the reason if the rule is not ok. A silenced rule has its end first.
func (v *view) ruleLine(r *evaluator.Rule, excluded map[string]bool) string {
	line := "[+]" + r.Name + " " + r.Status.String()
	switch {
	case excluded[r.Name]:
		line = "[+]" + r.Name + " excluded: ok"
	case r.Silence != nil:
		line = "[+]" + r.Name + " silenced " + r.Silence.UntilText(v.snap.At) + " (" + r.Status.String() + text.Either(r.Status == evaluator.OK, "", why(r)) + ")"
	case r.Status == evaluator.OK:
	case r.Decides:
		line = "[-]" + r.Name + " " + text.Either(r.Starting, evaluator.ReasonStarting+": ", "") + r.Status.String() + why(r)
	default:
		line += leniency(r) + why(r)
	}
	return text.Line(line, maxLine+len("[+]")) + "\n"
}

// leniency returns why a rule that is not ok does not make its state fail.
func leniency(r *evaluator.Rule) string {
	switch {
	case r.Status == evaluator.Pending:
		return ""
	case r.Observe:
		return " (mode: observe)"
	case r.Severity == "warning":
		return " (severity: warning)"
	case r.Status == evaluator.Unknown && r.NoData != "":
		return " (no_data: " + r.NoData + ")"
	}
	return ""
}
