package dashboards

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/rules"
)

// ownRules is a dashboard of the alerts in rule files that are loaded together: a section
// for each state, with a timeline of each rule and, where the rule compares, a graph of
// what it compares.
func ownRules(files []*rules.File) dashboard {
	byState := map[string][]namesake{}
	recorded := map[string]bool{}
	for _, f := range files {
		for _, g := range f.Groups {
			for _, r := range g.Rules {
				if r.Record != "" {
					recorded[r.Record] = true
					continue
				}
				byState[r.State] = join(byState[r.State], r)
			}
		}
	}
	var sections []section
	for _, state := range slices.SortedFunc(maps.Keys(byState), stateOrder) {
		s := section{title: "Rules of " + state}
		if state == "" {
			s.title = "Alerts without a state"
		}
		for _, n := range byState[state] {
			s.lines = append(s.lines, n.lines(rewriter{recorded})...)
		}
		sections = append(sections, s)
	}
	name := setName(files)
	return newDashboard(setUID(name), "Vitals / Rules of "+name,
		"The status of each rule, and what it compares: the dashed red line is where it begins to fail.", nil, sections...)
}

// namesake are the alerts of one name and state, which share a status.
type namesake []rules.Rule

func join(all []namesake, r rules.Rule) []namesake {
	for i, n := range all {
		if n[0].Alert == r.Alert {
			all[i] = append(n, r)
			return all
		}
	}
	return append(all, namesake{r})
}

// stateOrder has the states that everybody has first, and alerts without one last.
func stateOrder(a, b string) int {
	rank := func(s string) int {
		if i := slices.Index([]string{"ready", "alive", "started"}, s); i >= 0 {
			return i
		}
		if s == "" {
			return 4
		}
		return 3
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b))
}

// lines are the timeline of the rules, beside the graph of the first that compares, and
// the graphs of the others.
func (n namesake) lines(rw rewriter) []line {
	first := n[0]
	labels := fmt.Sprintf("rule=%q,state=%q", first.Alert, first.State)
	about := make([]string, len(n))
	for i, r := range n {
		about[i] = explain(r)
	}
	all := []line{{7, []panel{timeline(first.Alert, strings.Join(about, "\n\n"), statuses(),
		over(`max by (instance) (`+status(labels)+`)`, "{{instance}}"))}}}
	for i, r := range n {
		c, ok := comparisonOf(r.AST)
		if !ok {
			continue
		}
		title := r.Alert + ": what it compares"
		if i > 0 {
			title = fmt.Sprintf("%s (%d)", title, i+1)
		}
		g := graph(title, explain(r), numbers(unitOf(c.value)), over(rw.rewrite(c.value), ""), limit(rw.line(c.limit), legendOf(c)))
		if beside := &all[0]; len(beside.panels) == 1 {
			beside.panels = []panel{beside.panels[0].wide(9), g}
			continue
		}
		all = append(all, line{7, []panel{g}})
	}
	return all
}

// explain says what a rule is about and when it fails.
func explain(r rules.Rule) string {
	var b strings.Builder
	if summary := r.Annotations["summary"]; summary != "" {
		b.WriteString(summary + "\n\n")
	}
	verb := "Fires"
	switch {
	case r.State != "" && r.Severity == rules.SeverityWarning:
		verb = "Warns about " + r.State
	case r.State != "" && r.Observe:
		verb = "Would fail " + r.State + ", and is only observed,"
	case r.State != "":
		verb = "Fails " + r.State
	}
	fmt.Fprintf(&b, "%s when this is true", verb)
	if r.For > 0 {
		fmt.Fprintf(&b, " for %s", model.Duration(r.For))
	}
	fmt.Fprintf(&b, ": `%s`.", r.AST)
	return b.String()
}

// setName names rule files that are loaded together, in whatever order and folders.
func setName(files []*rules.File) string {
	var names []string
	for _, f := range files {
		name := filepath.Base(strings.TrimPrefix(f.Name, "builtin:"))
		names = append(names, strings.TrimSuffix(name, filepath.Ext(name)))
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

var notInUID = regexp.MustCompile(`[^a-z0-9]+`)

// maxUID is how long Grafana lets a uid be.
const maxUID = 40

// setUID is the uid of the dashboard of such files: the same for the same names.
func setUID(name string) string {
	uid := strings.Trim("vitals-rules-"+notInUID.ReplaceAllString(strings.ToLower(name), "-"), "-")
	// A name that is cut, or has other letters, is told from others by its sum.
	if len(uid) > maxUID || strings.ContainsFunc(name, func(r rune) bool { return r >= utf8.RuneSelf }) {
		sum := sha256.Sum256([]byte(name))
		end := "-" + hex.EncodeToString(sum[:4])
		uid = uid[:min(len(uid), maxUID-len(end))] + end
	}
	return uid
}
