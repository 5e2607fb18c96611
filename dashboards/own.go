package dashboards

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/rules"
)

// ownRules returns a dashboard of the alerts in rule files. It has a section for each state of
// each file, with a timeline of each rule. If the expression of a rule has a comparison, there
// is also a graph of its operands. of returns the labels of a metric of Vitals.
func ownRules(files []*rules.File, of func(metric string) []string) dashboard {
	rw := rewriter{map[string]bool{}}
	byFile := map[string]map[string][]namesake{}
	for _, f := range files {
		name := baseName(f)
		if byFile[name] == nil {
			byFile[name] = map[string][]namesake{}
		}
		for _, g := range f.Groups {
			for _, r := range g.Rules {
				if r.Record != "" {
					rw.recorded[r.Record] = true
					continue
				}
				byFile[name][r.State] = join(byFile[name][r.State], r)
			}
		}
	}
	var sections []section
	for _, file := range slices.Sorted(maps.Keys(byFile)) {
		for _, state := range slices.SortedFunc(maps.Keys(byFile[file]), stateOrder) {
			s := section{title: "Rules of " + state}
			if state == "" {
				s.title = "Alerts without a state"
			}
			if len(byFile) > 1 {
				s.title = file + ": " + strings.ToLower(s.title[:1]) + s.title[1:]
			}
			for _, n := range byFile[file][state] {
				s.lines = append(s.lines, n.lines(rw, of)...)
			}
			sections = append(sections, s)
		}
	}
	name := setName(files)
	return newDashboard(setUID(name), "Vitals / Rules of "+name,
		"The status of each rule, and the value that it compares. The dashed line is the threshold.", nil, sections...)
}

// namesake has the alerts with the same name and state. They share a status.
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

// stateOrder sorts the built-in states first, and alerts without a state last.
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

// lines returns the timeline of the rules beside the graph of the first comparison, and the
// graphs of the other comparisons.
func (n namesake) lines(rw rewriter, of func(metric string) []string) []line {
	first := n[0]
	labels := fmt.Sprintf("rule=%q,state=%q", first.Alert, first.State)
	about := make([]string, len(n))
	for i, r := range n {
		about[i] = explain(r)
	}
	rows := timeline(first.Alert, strings.Join(about, "\n\n"), statuses(),
		over(`max by (who) (`+who(status(labels, most))+`)`, "{{who}}"))
	rows.Links = n.runbooks()
	all := []line{{7, []panel{rows}}}
	for i, r := range n {
		c, ok := comparisonOf(r.AST)
		if !ok {
			continue
		}
		title := r.Alert + ": compared value"
		if i > 0 {
			title = fmt.Sprintf("%s (%d)", title, i+1)
		}
		g := graph(title, explain(r), numbers(unitOf(c.value)), rw.value(c.value, of), limit(rw.line(c.limit), verb(r)+" if "+conditionOf(c))).legendBelow()
		if beside := &all[0]; len(beside.panels) == 1 {
			beside.panels = []panel{beside.panels[0].wide(9), g}
			continue
		}
		all = append(all, line{7, []panel{g}})
	}
	return all
}

// runbooks returns links to the runbooks of the rules.
func (n namesake) runbooks() []panelLink {
	var all []panelLink
	for _, r := range n {
		link := panelLink{"Runbook", r.Annotations["runbook_url"], true}
		if link.URL != "" && !strings.Contains(link.URL, "{{") && !slices.Contains(all, link) {
			all = append(all, link)
		}
	}
	return all
}

// verb returns what a rule does when its expression is true.
func verb(r rules.Rule) string {
	switch {
	case r.State == "":
		return "fires"
	case r.Severity == rules.SeverityWarning:
		return "warns"
	case r.Observe:
		return "would fail"
	}
	return "fails"
}

// explain returns the summary of a rule and the condition under which it fails.
func explain(r rules.Rule) string {
	var b strings.Builder
	if summary := plain(r.Annotations["summary"]); summary != "" {
		b.WriteString(summary + "\n\n")
	}
	does := verb(r)
	b.WriteString(strings.ToUpper(does[:1]) + does[1:])
	switch {
	case does == "warns":
		b.WriteString(" about " + r.State)
	case does == "would fail":
		b.WriteString(" " + r.State + " (mode: observe)")
	case does == "fails":
		b.WriteString(" " + r.State)
	}
	b.WriteString(" when this is true")
	if r.For > 0 {
		fmt.Fprintf(&b, " for %s", model.Duration(r.For))
	}
	fmt.Fprintf(&b, ": `%s`.", r.AST)
	return b.String()
}

// setName returns a name for rule files that are loaded together. It does not depend on
// their order and folders.
func setName(files []*rules.File) string {
	var names []string
	for _, f := range files {
		names = append(names, baseName(f))
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

var notInUID = regexp.MustCompile(`[^a-z0-9]+`)

// maxUID is Grafana's maximum length of a uid, in bytes.
const maxUID = 40

// setUID returns the uid of the dashboard for a name from setName. It depends only on the
// name, so links stay valid.
func setUID(name string) string {
	uid := strings.Trim("vitals-rules-"+notInUID.ReplaceAllString(strings.ToLower(name), "-"), "-")
	// A checksum distinguishes names that are truncated or have non-ASCII letters.
	if len(uid) > maxUID || strings.ContainsFunc(name, func(r rune) bool { return r >= utf8.RuneSelf }) {
		sum := sha256.Sum256([]byte(name))
		end := "-" + hex.EncodeToString(sum[:4])
		uid = uid[:min(len(uid), maxUID-len(end))] + end
	}
	return uid
}
