//go:build e2e

package e2e_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// axeFinding is a rule of axe-core that elements do not keep, or of which it cannot decide whether
// they do.
type axeFinding struct {
	ID     string    `json:"id"`
	Impact string    `json:"impact"`
	Help   string    `json:"help"`
	Nodes  []axeNode `json:"nodes"`
}

// axeNode is an element, and what is wrong with it.
type axeNode struct {
	HTML    string   `json:"html"`
	Target  []string `json:"target"`
	Summary string   `json:"failureSummary"`
}

// undecided is the finding without what is decided elsewhere: single signs have the color of the text
// next to them, and the outline of the headings is held by TestPageIsRead, while nothing moves.
func (f axeFinding) undecided() axeFinding {
	f.Nodes = slices.DeleteFunc(f.Nodes, func(n axeNode) bool {
		single := strings.Contains(n.Summary, "only non-text characters") || strings.Contains(n.Summary, "too short to determine")
		return f.ID == "heading-order" || f.ID == "color-contrast" && single
	})
	return f
}

func (f axeFinding) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s): %s, %d times", f.ID, f.Impact, f.Help, len(f.Nodes))
	for _, n := range f.Nodes[:min(3, len(f.Nodes))] {
		fmt.Fprintf(&b, "\n\t%s\n\t%.200s\n\t%s", strings.Join(n.Target, " "), n.HTML, strings.Join(strings.Fields(n.Summary), " "))
	}
	return b.String()
}

// audit fails for each finding of axe-core, of all its rules that are no experiments: those of WCAG
// 2.2 A and AA, and its best practices. It runs in a world of its own, which the page's policy does
// not restrict, and which leaves the page as it is.
func (p *tab) audit(t *testing.T) {
	t.Helper()
	var world struct{ ExecutionContextID int }
	p.call(t, "Page.createIsolatedWorld", object{"frameId": p.frame(t).ID, "worldName": "axe"}, &world)
	run := func(expression string) (text string) {
		p.evaluate(t, object{"expression": expression, "contextId": world.ExecutionContextID}, &text)
		return text
	}
	if run(`typeof axe`) == "undefined" {
		source, err := os.ReadFile(filepath.Join(cached(t, "axe-*", "browser"), "node_modules/axe-core/axe.min.js"))
		if err != nil {
			t.Fatal(err)
		}
		run(string(source) + `; ""`)
	}
	text := run(`axe.run(document, { rules: { "target-size": { enabled: true } }, resultTypes: ["violations", "incomplete"] }).then((r) => JSON.stringify(r))`)
	var found struct {
		TestEngine                     struct{ Version string }
		Violations, Incomplete, Passes []axeFinding
	}
	if err := json.Unmarshal([]byte(text), &found); err != nil {
		t.Fatalf("axe-core: %v in %.200s", err, text)
	}
	if n := len(found.Passes); n < 15 {
		t.Errorf("axe-core %s: the page keeps %d rules, want those of a whole page", found.TestEngine.Version, n)
	}
	for _, f := range found.Violations {
		t.Errorf("axe-core: %v", f)
	}
	for _, f := range found.Incomplete {
		if f = f.undecided(); len(f.Nodes) > 0 {
			t.Errorf("axe-core cannot decide: %v", f)
		}
	}
}

// appearances runs a check in light and dark, on a telephone and on a large screen.
func (p *tab) appearances(t *testing.T, name string, check func(t *testing.T)) {
	t.Helper()
	for _, width := range []int{narrow, 1920} {
		p.resize(t, width, 1080)
		for _, theme := range []string{"light", "dark"} {
			p.prefer(t, "prefers-color-scheme", theme)
			look := fmt.Sprintf("%s-%s-%d", name, theme, width)
			t.Run(look, func(t *testing.T) {
				check(t)
				p.wholePicture(t, look)
			})
		}
	}
}

// axe-core finds nothing in any view, in light and dark, narrow and wide.
func TestPageIsAccessible(t *testing.T) {
	t.Parallel()
	d := openDemo(t, "")
	audit := func(t *testing.T) { d.page.audit(t) }
	d.page.appearances(t, "healthy", audit)

	// One rule fails, one warns, and one is pending.
	d.press(t, "neutron", "low-ports")
	d.press(t, "watcher", "not-ready")
	d.shows(t, "#rules", "QuotaLow", "1 failing")
	d.shows(t, "#states .fail", "ready", "ComponentNotReady")
	d.press(t, "kubernetes", "drop-watch")
	d.page.visit(t, d.url+"/#why=ready&history=24h")
	d.shows(t, "#why", "decided by")
	d.page.eval(t, `document.querySelector("#rules .failing").closest(".rule").querySelector("button").click()`, nil)
	d.shows(t, "#rules .explained:not(:empty)", "vitals_component_ready")
	d.page.eval(t, `[...document.querySelectorAll("#history .events a")].find((a) => a.innerText === "ComponentNotReady").click()`, nil)
	d.shows(t, "#history .explained:not(:empty)", "components succeeded, values ")
	d.page.appearances(t, "opened", audit)
	d.page.visit(t, d.url+"/#history=1h")
	d.shows(t, "#history", "all the time")
	d.page.appearances(t, "history", audit)
	d.page.visit(t, d.url+"/#q=keystone")
	d.shows(t, "#rules", "KeystoneDown")
	d.page.appearances(t, "filtered", audit)
	d.page.visit(t, d.url+"/wall")
	d.shows(t, "#tiles", "ready ✕ failing")
	d.page.appearances(t, "wall", audit)
	d.page.visit(t, d.url+"/plain")
	d.shows(t, "main", "ready ✕ failing")
	d.page.appearances(t, "plain", audit)

	d.page.visit(t, d.url+"/#why=ready")
	d.shows(t, "#why", "decided by")
	d.stop(t)
	d.shows(t, "#banner", "No contact with Vitals")
	d.page.appearances(t, "gone", audit)
	d.page.resize(t, wide, high)
}

// visit opens another address in the tab, also one that differs behind the # only.
func (p *tab) visit(t *testing.T, url string) {
	t.Helper()
	p.call(t, "Page.navigate", object{"url": "about:blank"}, nil)
	p.call(t, "Page.navigate", object{"url": url}, nil)
}
