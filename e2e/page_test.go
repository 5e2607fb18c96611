//go:build e2e

package e2e_test

import (
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// The screens that the page has to fit, in pixels: a small laptop and a telephone.
const (
	wide, high = 1280, 800
	narrow     = 390
)

// demo is a running "vitals demo" and its page in a browser.
type demo struct {
	daemon
	page *tab
	// listen is its address, and command what started it.
	listen  string
	command []string
}

// openDemo starts the demo, waits until it is ready, and opens the page with what is
// behind the # of its address.
func openDemo(t *testing.T, hash string, flags ...string) demo {
	t.Helper()
	listen := address(t)
	if len(flags) == 0 {
		flags = []string{"--web.shutdown-delay=0s", "--web.unix-socket="}
	}
	command := append([]string{os.Getenv("VITALS_BIN"), "demo", "--web.listen-address=" + listen, "--web.page-title=Demo"}, flags...)
	d := demo{listen: listen, command: command}
	d.start(t)
	d.page = startBrowser(t).open(t, d.url+"/"+hash, wide, high)
	d.shows(t, "#states", "ready", "✓ ok", "alive")
	return d
}

// start starts the process, also after it was killed, and waits until it is ready.
func (d *demo) start(t *testing.T) {
	t.Helper()
	d.daemon = daemon{launch(t, d.listen, d.command...)}
	await(t, "the demo is ready", time.Minute, func() error { return d.want("/ready", http.StatusOK) })
}

// press makes a fault, or heals with "none".
func (d demo) press(t *testing.T, dependency, fault string) {
	t.Helper()
	body := fmt.Sprintf(`{"dependency":%q,"fault":%q}`, dependency, fault)
	res, err := http.Post(d.url+"/demo/faults", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusNoContent {
		t.Fatalf("POST /demo/faults %s = %s, want 204", body, res.Status)
	}
}

// shows waits until what a selector finds shows all the texts.
func (d demo) shows(t *testing.T, selector string, want ...string) {
	t.Helper()
	await(t, "the page shows it", time.Minute, func() error {
		text := d.page.text(t, selector)
		for _, w := range want {
			if !strings.Contains(text, w) {
				return fmt.Errorf("%s lacks %q: %q", selector, w, text)
			}
		}
		return nil
	})
}

// silent fails if the browser logged an error, or sent a request to anything but the daemon.
func (d demo) silent(t *testing.T) {
	t.Helper()
	requests, complaints := d.page.noted()
	for _, url := range requests {
		if !strings.HasPrefix(url, d.url+"/") {
			t.Errorf("the page requested %s, want nothing but %s/...", url, d.url)
		}
	}
	if len(requests) < 8 {
		t.Errorf("the page requested %q, want its files and the status at least", requests)
	}
	if complaints = slices.DeleteFunc(complaints, tooBusy); len(complaints) > 0 {
		t.Errorf("the browser complains:\n%s", strings.Join(complaints, "\n"))
	}
}

// tooBusy reports whether a complaint is that the evaluator of a busy machine has refused an explanation, which
// the page requests again.
func tooBusy(complaint string) bool {
	return strings.Contains(complaint, "status of 503") && strings.Contains(complaint, "/api/v1/explain/")
}

// bottom is where an element ends, in pixels from the top of the document.
func (d demo) bottom(t *testing.T, selector string) int {
	t.Helper()
	var bottom float64
	d.page.eval(t, fmt.Sprintf(`document.querySelector(%q).getBoundingClientRect().bottom + scrollY`, selector), &bottom)
	return int(bottom)
}

// Why it is not ready is answered in one screen: whatever is broken, the explanation
// ends above the lower edge of a small laptop's screen.
func TestPageExplains(t *testing.T) {
	t.Parallel()
	d := openDemo(t, "#why=ready")
	d.shows(t, "#why", "Why is ready ok?", "none of its 13 rules makes it fail", "All is ok.")
	d.page.picture(t, "why-healthy")
	for _, tt := range []struct {
		dependency, fault string
		want              []string
	}{
		{"keystone", "hang", []string{
			"decided by 1 of 13 rules", "KeystoneDown", "Keystone does not answer or rejects the credentials.", "for 10 s: fires since",
			`vitals_dependency_up{dependency="keystone"} == 0`, "true", "0, ", " ago, collector keystone",
			"keystone (keystone, external) failed",
		}},
		{"neutron", "exhaust-ports", []string{
			"decided by 1 of 13 rules", "QuotaExhausted", "The quota of port is exhausted: 0 left.", "… <= 0 true for 1 of 4", `… - … {resource="port"} 0`,
			`vitals_neutron_quota_used {resource="port"} 10, `, "collector neutron", `vitals_neutron_quota_unlimited == 0 true for 6 of 7 {resource="port"} 0`,
			"neutron (neutron, external) succeeded",
		}},
		{"kubernetes", "deny-access", []string{
			"KubernetesAccessDenied", "first of 6 alerts", "vitals_kubernetes_access_allowed == 0 true for all 6", `verb="list"} 0, `, "and 3 more",
			"KubernetesWatchDown", "because of KubernetesAccessDenied",
		}},
		{"watcher", "dead", []string{
			"ComponentNotReady", `vitals_component_ready{component!="leader"} == 0 true for 1 of 2 {component="watcher"} 0, `,
			"collector components",
		}},
	} {
		t.Run(tt.dependency+" "+tt.fault, func(t *testing.T) {
			d.press(t, tt.dependency, tt.fault)
			if tt.fault == "hang" {
				d.shows(t, "#states .pass .soon", "KeystoneDown pending, failing in ")
				d.page.picture(t, "pending")
			}
			d.shows(t, "#states .fail", "ready", "✕ failing")
			d.shows(t, "#why", append(tt.want, "Why is ready failing?")...)
			if bottom := d.bottom(t, "#why"); bottom > high {
				t.Errorf("the explanation ends at %d of %d pixels", bottom, high)
			}
			d.page.picture(t, "why-"+tt.fault)
			d.fitsTelephone(t, "why-"+tt.fault)
		})
		d.press(t, tt.dependency, "none")
		d.shows(t, "#why", "Why is ready ok?")
	}
	d.silent(t)
}

// fitsTelephone fails if anything is wider than a telephone's screen.
func (d demo) fitsTelephone(t *testing.T, name string) {
	t.Helper()
	d.page.resize(t, narrow, high)
	var wider []string
	d.page.eval(t, `[...document.querySelectorAll("body *")].filter((e) => e.getBoundingClientRect().right > document.documentElement.clientWidth && !e.closest(".unseen, thead")).map((e) => e.outerHTML.slice(0, 100))`, &wider)
	var beyond int
	d.page.eval(t, `document.documentElement.scrollWidth - document.documentElement.clientWidth`, &beyond)
	if len(wider) > 0 || beyond > 0 {
		t.Errorf("the page is %d pixels wider than a screen of %d; beyond its edge:\n%s", beyond, narrow, strings.Join(wider[:min(5, len(wider))], "\n"))
	}
	d.page.picture(t, name+"-narrow")
	d.page.resize(t, wide, high)
}

// Three rules that decide at once, and then all the rest of the page.
func TestPageFollowsFaults(t *testing.T) {
	t.Parallel()
	d := openDemo(t, "")
	if text := d.page.text(t, "#why"); text != "" {
		t.Errorf("the page explains a state that is not selected: %q", text)
	}
	d.page.prefer(t, "prefers-color-scheme", "dark")
	d.page.picture(t, "dark-healthy")
	for _, fault := range [][2]string{{"neutron", "exhaust-ports"}, {"kubernetes", "remove-crd"}, {"vif-handler", "not-ready"}} {
		d.press(t, fault[0], fault[1])
	}
	d.shows(t, "#rules", "3 failing, 10 ok", "CRDMissing", "QuotaExhausted", "ComponentNotReady")
	d.shows(t, "#states", "CRDMissing: The custom resource definition ", "alive why? alive ✓ ok")
	var title string
	d.page.eval(t, "document.title", &title)
	if title != "✕ ready failing – Demo" {
		t.Errorf("the title is %q", title)
	}
	d.page.picture(t, "dark-broken")
	d.keyboard(t)
	d.shows(t, "#why", "decided by 3 of 13 rules", "CRDMissing", "QuotaExhausted", "ComponentNotReady")
	if bottom := d.bottom(t, "#why"); bottom > high {
		t.Errorf("the explanation of three rules ends at %d of %d pixels", bottom, high)
	}
	d.page.picture(t, "dark-why")
	d.fitsTelephone(t, "dark-why")
	d.rule(t)
	d.silent(t)
	d.page.eval(t, `location.hash = "#why=%3Cb%3Egold"`, nil)
	d.shows(t, "#why", `Why <b>gold?`, `there is no state "<b>gold": expected one of ready, alive, started`)
	d.evaluations(t, 3)
	requests, complaints := d.page.noted()
	other := func(text string) bool { return !strings.Contains(text, "explain/%3Cb%3Egold") }
	again := len(slices.DeleteFunc(complaints, func(c string) bool { return other(c) || !tooBusy(c) }))
	if n := len(slices.DeleteFunc(requests, other)); n != 1+again {
		t.Errorf("%d requests for the explanation of a state that does not exist, want 1, and %d for those that a busy evaluator refused", n, again)
	}
}

// generation is the number of the evaluation that the page shows.
func (d demo) generation(t *testing.T) (n int) {
	t.Helper()
	d.page.eval(t, `Number(document.querySelector("#pulse").innerText.match(/generation (\d+)/)[1])`, &n)
	return n
}

// evaluations waits until the page has shown some more.
func (d demo) evaluations(t *testing.T, more int) {
	t.Helper()
	before := d.generation(t)
	await(t, "some evaluations", time.Minute, func() error {
		if now := d.generation(t); now < before+more {
			return fmt.Errorf("generation %d, want %d", now, before+more)
		}
		return nil
	})
}

// keyboard opens the explanation without a mouse.
func (d demo) keyboard(t *testing.T) {
	t.Helper()
	for range 3 { // light or dark, the state's own link, and "why?"
		d.page.key(t, "Tab", 9)
	}
	var focus string
	d.page.eval(t, `document.activeElement.innerText + " " + getComputedStyle(document.activeElement).outlineStyle`, &focus)
	if got := strings.Join(strings.Fields(focus), " "); got != "why? ready solid" {
		t.Errorf("three tabs lead to %q, want the link to the explanation, outlined", got)
	}
	d.page.key(t, "Enter", 13)
	var hash string
	d.page.eval(t, "location.hash", &hash)
	if hash != "#why=ready" {
		t.Errorf("Enter leads to %q, want an address that can be sent to others: #why=ready", hash)
	}
}

// rule opens one rule, with all of its tree, and closes everything again.
func (d demo) rule(t *testing.T) {
	t.Helper()
	open := `[...document.querySelectorAll("#rules .rule")].find((r) => r.querySelector("h3").innerText === "QuotaExhausted").querySelector("button").click()`
	d.page.eval(t, open, nil)
	d.shows(t, "#rules .explained:not(:empty)", `{resource="network"}`, "98: false", `{resource="port"} 10, `, "and 2 more", "neutron (neutron, external) succeeded")
	d.fitsTelephone(t, "dark-rule")
	d.page.eval(t, open, nil)
	d.page.eval(t, `document.querySelector("#why a.link").click()`, nil)
	var left string
	d.page.eval(t, `document.querySelector("#why").innerText + document.querySelector("#rules").querySelectorAll(".explained:not(:empty)").length + location.hash`, &left)
	if left != "0" {
		t.Errorf("after closing all, there is still %q", left)
	}
}

// A page whose daemon is gone shows that, and no outdated verdict remains green.
func TestPageWithoutDaemon(t *testing.T) {
	t.Parallel()
	d := openDemo(t, "#why=alive")
	d.shows(t, "#why", "Why is alive ok?")
	d.silent(t)
	d.stop(t)
	d.gone(t)
}

// The last status that a page gets of an orderly end is that of a process that shuts down.
func TestPageAfterShutdown(t *testing.T) {
	t.Parallel()
	d := openDemo(t, "", "--web.shutdown-delay=3s", "--web.unix-socket=")
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		d.stop(t)
	}()
	d.shows(t, "#banner", "Vitals is shutting down.")
	d.shows(t, "#states", "ready why? ready ✕ failing shutting down")
	<-stopped
	d.gone(t)
}

// gone checks the page of a daemon that is gone.
func (d demo) gone(t *testing.T) {
	t.Helper()
	d.shows(t, "#banner", "No contact with Vitals", "The page shows the status of ")
	d.shows(t, "#states", "was ok")
	d.page.picture(t, "gone")
	var ages string
	d.page.eval(t, `(async () => {
		const read = () => [...document.querySelectorAll("main .since")].map((e) => e.innerText).join();
		const before = read();
		await new Promise((done) => setTimeout(done, 1500));
		return before === read() ? "" : before + " became " + read();
	})()`, &ages)
	if ages != "" {
		t.Errorf("the ages count on without contact: %s", ages)
	}
	var green []string
	d.page.eval(t, `[...document.querySelectorAll("#states .pass")].map((e) => e.innerText)`, &green)
	var title, filter string
	d.page.eval(t, "document.title", &title)
	d.page.eval(t, `getComputedStyle(document.querySelector("main")).filter`, &filter)
	if len(green) > 0 || title != "? Demo" || filter != "grayscale(1)" {
		t.Errorf("green: %q, title %q, filter %q; want none, \"? Demo\" and grayscale(1)", green, title, filter)
	}
	d.refused(t)
}
