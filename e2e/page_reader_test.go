//go:build e2e

package e2e_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// accessible is a node of the tree that the browser gives to a screen reader.
type accessible struct {
	Role, Name string
	// Level is that of a heading, and Live how changes are announced.
	Level int
	Live  string
	// Below has the names of the children, if they have names.
	Below []string
}

// accessibleTree returns the tree in the order of reading, without what a screen reader skips.
func (p *tab) accessibleTree(t *testing.T) (all []accessible) {
	t.Helper()
	type value struct{ Value any }
	type node struct {
		NodeID, ParentID string
		Ignored          bool
		Role, Name       value
		Properties       []struct {
			Name  string
			Value value
		}
		ChildIDs []string
	}
	var answer struct{ Nodes []node }
	p.call(t, "Accessibility.getFullAXTree", nil, &answer)
	nodes := map[string]node{}
	for _, n := range answer.Nodes {
		nodes[n.NodeID] = n
	}
	var visit func(n node)
	visit = func(n node) {
		if !n.Ignored {
			a := accessible{Role: fmt.Sprint(n.Role.Value), Name: text(n.Name.Value)}
			for _, property := range n.Properties {
				switch level, _ := property.Value.Value.(float64); property.Name {
				case "level":
					a.Level = int(level)
				case "live":
					a.Live = text(property.Value.Value)
				}
			}
			for _, id := range n.ChildIDs {
				a.Below = append(a.Below, text(nodes[id].Name.Value))
			}
			all = append(all, a)
		}
		for _, id := range n.ChildIDs {
			visit(nodes[id])
		}
	}
	for _, n := range answer.Nodes {
		if n.ParentID == "" {
			visit(n)
		}
	}
	if len(all) < 10 {
		t.Fatalf("the tree for a screen reader has %d nodes, want a page", len(all))
	}
	return all
}

// text is a string of JSON, in one line, or "".
func text(value any) string {
	s, _ := value.(string)
	return strings.Join(strings.Fields(s), " ")
}

// reads checks what holds for every view: one outline of headings, landmarks of different names
// that hold everything, and a name for each control and picture.
func (p *tab) reads(t *testing.T) []accessible {
	t.Helper()
	all := p.accessibleTree(t)
	level := 0
	landmarks := map[string]int{}
	for _, a := range all {
		switch a.Role {
		case "heading":
			if a.Level > level+1 || (a.Level == 1) != (level == 0) || a.Name == "" {
				t.Errorf("the heading %q of level %d follows one of level %d", a.Name, a.Level, level)
			}
			level = a.Level
		case "banner", "main", "contentinfo", "search", "navigation", "region":
			landmarks[strings.TrimSpace(a.Role+" "+a.Name)]++
			if a.Role == "region" && (a.Name == "" || len(a.Below) == 0) {
				t.Errorf("the region %q has %d children, want a name and content", a.Name, len(a.Below))
			}
		case "button", "link", "searchbox", "textbox", "image", "img", "article", "table", "group", "combobox", "checkbox":
			if a.Name == "" && a.Role != "table" {
				t.Errorf("a %s has no name", a.Role)
			}
		}
	}
	for name, n := range landmarks {
		if n > 1 {
			t.Errorf("%d landmarks %q, want one", n, name)
		}
	}
	if level == 0 || landmarks["banner"]+landmarks["main"]+landmarks["main States"] != 2 {
		t.Errorf("headings end at level %d, landmarks = %v, want a head and the main content", level, landmarks)
	}
	return all
}

// outline lists what has a role, with the level of headings.
func outline(all []accessible, role string) (lines []string) {
	for _, a := range all {
		if a.Role == role {
			lines = append(lines, strings.TrimPrefix(fmt.Sprintf("%d %s", a.Level, a.Name), "0 "))
		}
	}
	return lines
}

// readsAt reads the tree of a page that shows all the texts before and afterwards. The demo runs meanwhile, and
// on a busy machine another rule fails for a while.
func (d demo) readsAt(t *testing.T, selector string, want ...string) (all []accessible) {
	t.Helper()
	await(t, "the page stays the same while it is read", 2*time.Minute, func() error {
		d.shows(t, selector, want...)
		all = d.page.reads(t)
		text := d.page.text(t, selector)
		for _, w := range want {
			if !strings.Contains(text, w) {
				return fmt.Errorf("afterwards %s lacks %q: %q", selector, w, text)
			}
		}
		return nil
	})
	return all
}

// A screen reader gets each state as one sentence, an outline, and a name for each control.
func TestPageIsRead(t *testing.T) {
	t.Parallel()
	d := openDemo(t, "")
	d.shows(t, "#history", "History")
	d.page.reads(t)
	d.press(t, "watcher", "not-ready")
	d.shows(t, "#states .fail", "ready", "ComponentNotReady")
	d.page.eval(t, `location.hash = "#why=ready&history=1h"`, nil)
	d.shows(t, "#history", "all the time")
	all := d.readsAt(t, "main", "Why is ready failing?", "decided by 1 of 13 rules", "Rules of ready · 1 failing, 12 ok", "Rules of alive · 1 ok")
	states := []string{"ready failing: ComponentNotReady: The component watcher is not ready.", "alive ok", "started ok"}
	if diff := cmp.Diff(states, outline(all, "article")); diff != "" {
		t.Errorf("the cards of the states (-want +got):\n%s", diff)
	}
	headings := slices.DeleteFunc(outline(all, "heading"), func(line string) bool { return strings.HasPrefix(line, "3 ") })
	if diff := cmp.Diff([]string{
		"1 Demo", "2 ready", "2 alive", "2 started", "2 Why is ready failing?", "2 Break it · the faults of the demo's fake services", "2 History",
		"2 Rules of ready · 1 failing, 12 ok", "2 Rules of alive · 1 ok", "2 Collectors", "2 Components",
	}, headings); diff != "" {
		t.Errorf("headings (-want +got):\n%s", diff)
	}
	regions := []string{"States", "Why", "Faults of the demo", "History", "Rules", "Collectors", "Components"}
	if diff := cmp.Diff(regions, outline(all, "region")); diff != "" {
		t.Errorf("regions (-want +got):\n%s", diff)
	}
	for _, role := range []string{"banner", "main", "search", "contentinfo"} {
		if n := len(outline(all, role)); n != 1 {
			t.Errorf("%d landmarks are %s, want 1", n, role)
		}
	}
	for name, want := range map[string]string{"button": "why? KeystoneDown", "link": "why? ready", "searchbox": "Filter the rules and collectors", "group": "Faults of keystone", "image": "ready, the last 1 h: "} {
		if !slices.ContainsFunc(outline(all, name), func(got string) bool { return strings.HasPrefix(got, want) }) {
			t.Errorf("no %s is %q: %q", name, want, outline(all, name))
		}
	}
	d.page.visit(t, d.url+"/wall")
	wall := d.readsAt(t, "#tiles", "ready ✕ failing ComponentNotReady: The component watcher is not ready.", "alive ✓ ok", "started ✓ ok")
	if diff := cmp.Diff(states, outline(wall, "article")); diff != "" {
		t.Errorf("the tiles of the wall (-want +got):\n%s", diff)
	}
	d.page.visit(t, d.url+"/plain")
	d.shows(t, "main", "ready ✕ failing")
	all = d.page.reads(t)
	if cells := outline(all, "columnheader"); !slices.Contains(cells, "status") || !slices.Contains(outline(all, "rowheader"), "ready") {
		t.Errorf("the tables have the columns %q and the rows %q", cells, outline(all, "rowheader"))
	}
}

// A screen reader announces a verdict that changed, and nothing else.
func TestPageAnnounces(t *testing.T) {
	t.Parallel()
	d := openDemo(t, "#why=ready")
	d.page.eval(t, `{
		window.announced = [];
		const live = document.querySelectorAll("[aria-live], [role=alert], [role=status], [role=log]");
		for (const one of live) new MutationObserver(() => announced.push(one.innerText)).observe(one, { childList: true, characterData: true, subtree: true });
	}`, nil)
	announced := func() (all []string) {
		d.page.eval(t, `window.announced`, &all)
		return all
	}
	d.press(t, "keystone", "refuse") // it is pending for 10 s
	d.press(t, "watcher", "not-ready")
	d.shows(t, "#states .fail", "ready")
	d.press(t, "vif-handler", "dead")
	d.shows(t, "#states", "alive why? alive ✕ failing")
	d.evaluations(t, 3)
	d.shows(t, "#why", "KeystoneDown", "ComponentNotReady")
	for _, dependency := range []string{"watcher", "vif-handler", "keystone"} {
		d.press(t, dependency, "none")
	}
	d.shows(t, "#states", "ready why? ready ✓ ok", "alive why? alive ✓ ok")
	verdict := regexp.MustCompile(`\b(ready|alive|started) (ok|warning|failing|unknown)`)
	want := []string{"alive failing", "alive ok", "ready failing", "ready ok"}
	await(t, "the end is announced", 10*time.Second, func() error {
		if got := verdict.FindAllString(strings.Join(announced(), "\n"), -1); len(got) < len(want) {
			return fmt.Errorf("announced %q", got)
		}
		return nil
	})
	d.evaluations(t, 2)
	all := strings.Join(announced(), "\n")
	got := verdict.FindAllString(all, -1)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" || !strings.Contains(all, "ready failing: ComponentNotReady: The component watcher is not ready.") {
		t.Errorf("announced:\n%s\nverdicts (-want +got):\n%s", all, diff)
	}
	var live []string
	for _, a := range d.page.accessibleTree(t) {
		if a.Live != "" && a.Live != "off" {
			live = append(live, a.Role+" "+a.Live)
		}
	}
	if len(live) > 2 {
		t.Errorf("live regions are %q, want the verdicts and the banner only", live)
	}
}

// Tab reaches every control in the order of the page, each with an outline that is in view.
func TestPageByKeyboard(t *testing.T) {
	t.Parallel()
	d := openDemo(t, "#why=ready&history=1h")
	d.press(t, "watcher", "not-ready")
	d.shows(t, "#states .fail", "ready")
	d.shows(t, "#why", "decided by 1 of 13 rules")
	d.shows(t, "#history", "all the time", "ComponentNotReady")
	d.page.eval(t, `void Object.assign(window, {
		nameOf: (e) => e.tagName + " " + (e.id || e.innerText.replace(/\s+/g, " ").trim()),
		controls: () => [...document.querySelectorAll("a[href], button, input, select, textarea, [tabindex]")].filter((e) => e.checkVisibility()),
		places: () => controls().map((e) => Math.round(e.getBoundingClientRect().top + scrollY)),
	})`, nil)
	var controls, reached, hidden []string
	await(t, "the page has the same controls during a walk", 3*time.Minute, func() (err error) {
		controls, reached, hidden, err = d.walk(t)
		return err
	})
	if len(controls) < 60 {
		t.Fatalf("the page has %d controls, want those of faults, rules and views: %q", len(controls), controls)
	}
	if diff := cmp.Diff(controls, reached); diff != "" {
		t.Errorf("controls in the order of the page, and as Tab reaches them (-want +got):\n%s", diff)
	}
	for _, control := range hidden {
		t.Error(control)
	}
	d.page.picture(t, "last")
	d.arrows(t)
}

// walk presses Tab from the start of the page once for each control, and returns what has the focus then, and
// what is wrong with its look. The demo runs meanwhile: the error is that the page has other controls than before,
// or has moved one out of view.
func (d demo) walk(t *testing.T) (controls, reached, hidden []string, err error) {
	t.Helper()
	// The focus of the body, even if it cannot keep it, is where the next Tab starts.
	d.page.eval(t, `document.body.tabIndex = -1; document.body.focus(); document.body.removeAttribute("tabindex")`, nil)
	d.page.eval(t, `controls().map(nameOf)`, &controls)
	var places []int
	d.page.eval(t, `places()`, &places)
	for range controls {
		d.page.key(t, "Tab", 9)
		var focus struct {
			Name, Outline string
			Width         float64
			Seen          bool
			Controls      []string
			Places        []int
		}
		d.page.eval(t, `(() => {
			const e = document.activeElement, style = getComputedStyle(e), box = e.getBoundingClientRect();
			const seen = document.elementFromPoint(box.left + Math.min(box.width, 8) / 2 + 1, box.top + box.height / 2);
			return { Name: nameOf(e), Outline: style.outlineStyle, Width: parseFloat(style.outlineWidth), Seen: seen === e || e.contains(seen), Controls: controls().map(nameOf), Places: places() };
		})()`, &focus)
		if diff := cmp.Diff(controls, focus.Controls); diff != "" {
			return nil, nil, nil, fmt.Errorf("at %q the controls differ (-before +now):\n%s", focus.Name, diff)
		}
		if !focus.Seen && !slices.Equal(places, focus.Places) {
			return nil, nil, nil, fmt.Errorf("at %q the controls are at %v, which were at %v", focus.Name, focus.Places, places)
		}
		places = focus.Places
		if focus.Outline != "solid" || focus.Width < 2 || !focus.Seen {
			hidden = append(hidden, fmt.Sprintf("with the focus, %q has an outline %s of %v pixels, in view: %v", focus.Name, focus.Outline, focus.Width, focus.Seen))
		}
		reached = append(reached, focus.Name)
	}
	return controls, reached, hidden, nil
}

// arrows uses the other keys that the guide lists.
func (d demo) arrows(t *testing.T) {
	t.Helper()
	focus := func() (name string) {
		d.page.eval(t, `nameOf(document.activeElement)`, &name)
		return name
	}
	expect := func(want, after string) {
		t.Helper()
		if got := focus(); got != want {
			t.Errorf("%s leads to %q, want %q", after, got, want)
		}
	}
	d.page.key(t, "/", 191)
	expect("INPUT filter", "/")
	d.page.call(t, "Input.insertText", object{"text": "component"}, nil)
	d.shows(t, "#rules", "ComponentNotReady", "Rules of alive · 1 ok")
	var hash, value string
	d.page.eval(t, `location.hash`, &hash)
	d.page.eval(t, `document.querySelector("#filter").value`, &value)
	if !strings.Contains(hash, "q=component") || value != "component" {
		t.Errorf("the filter is %q in the address %q", value, hash)
	}
	d.page.key(t, "ArrowDown", 40)
	expect("BUTTON why? ComponentNotReady", "the arrow down from the filter")
	d.page.key(t, "ArrowDown", 40)
	expect("BUTTON why? ComponentMissing", "the arrow down")
	d.page.key(t, "ArrowUp", 38)
	expect("BUTTON why? ComponentNotReady", "the arrow up")
	d.page.key(t, "Enter", 13)
	d.shows(t, "#rules .explained:not(:empty)", `{component="watcher"}`, "collector components")
	d.page.picture(t, "entered")
	d.page.key(t, "Escape", 27)
	var open json.Number
	d.page.eval(t, `document.querySelectorAll("#why *, .explained:not(:empty)").length`, &open)
	if open != "0" {
		t.Errorf("after Escape %s elements of explanations are open, want none", open)
	}
	expect("BUTTON why? ComponentNotReady", "Escape")
	d.page.key(t, "/", 191)
	d.page.key(t, "Escape", 27)
	d.shows(t, "#rules", "KeystoneDown")
	d.silent(t)
}
