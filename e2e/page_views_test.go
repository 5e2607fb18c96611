//go:build e2e

package e2e_test

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// What happened is on the page at once, with the explanation of that moment.
func TestPageShowsThePast(t *testing.T) {
	t.Parallel()
	d := openDemo(t, "#history=1h")
	d.shows(t, "#history", "History", "ready", "others were ok all the time")
	d.press(t, "keystone", "refuse")
	d.shows(t, "#history .events", "✕ failing KeystoneDown rule", "✕ failing ready state KeystoneDown")
	d.press(t, "keystone", "none")
	d.shows(t, "#states", "ready why? ready ✓ ok")
	d.shows(t, "#history .events", "✓ ok KeystoneDown")
	d.page.eval(t, `[...document.querySelectorAll("#history .events li")].find((e) => /failing\s+KeystoneDown/.test(e.innerText)).querySelector("a").click()`, nil)
	d.shows(t, "#history .explained:not(:empty)", `vitals_dependency_up{dependency="keystone"} == 0`, "→ 0 (== 0)", "keystone failed: ", "values ")
	await(t, "the strip of ready has the failure", time.Minute, func() error {
		var label string
		d.page.eval(t, `document.querySelector("#states svg").getAttribute("aria-label")`, &label)
		if !strings.HasPrefix(label, "ready, the last 1 h: ") || !strings.Contains(label, "failing ") {
			return fmt.Errorf("it is labelled %q", label)
		}
		return nil
	})
	d.page.eval(t, `document.querySelector("#history").scrollIntoView()`, nil)
	d.page.picture(t, "history")
	d.fitsTelephone(t, "history")
	d.silent(t)
}

// The view for a wall fits every screen, and announces what is about to fail.
func TestPageForAWall(t *testing.T) {
	t.Parallel()
	d := openDemo(t, "")
	d.page.call(t, "Page.navigate", object{"url": d.url + "/wall"}, nil)
	d.shows(t, "#tiles", "ready ✓ ok", "alive ✓ ok", "started ✓ ok")
	d.shows(t, "header", "Demo", "profile kuryr-controller", "last evaluation ")
	d.press(t, "keystone", "refuse")
	d.shows(t, "#tiles .soon", "KeystoneDown pending, failing in ")
	d.page.picture(t, "wall-pending")
	d.shows(t, "#tiles .fail", "ready ✕ failing KeystoneDown: Keystone does not answer")
	var icon string
	d.page.eval(t, `document.querySelector("link[rel=icon]").getAttribute("href")`, &icon)
	if icon != "assets/icon-fail.svg" {
		t.Errorf("the icon is %q while ready fails", icon)
	}
	d.fitsTheWall(t)
	d.page.picture(t, "wall-tall")
	d.page.resize(t, wide, high)
	d.page.picture(t, "wall")
	d.silent(t)
}

// fitsTheWall fails if the view for a wall has to scroll on a screen. It leaves a tall one.
func (d demo) fitsTheWall(t *testing.T) {
	t.Helper()
	for _, size := range [][2]int{{2560, 1440}, {wide, high}, {narrow, 844}, {1080, 1920}} {
		d.page.resize(t, size[0], size[1])
		var beyond []string
		d.page.eval(t, `[document.documentElement, ...document.querySelectorAll(".tile")].filter((e) => e.scrollHeight > e.clientHeight + 1 || e.scrollWidth > e.clientWidth + 1).map((e) => e.tagName + " " + e.scrollHeight + " of " + e.clientHeight)`, &beyond)
		if len(beyond) > 0 {
			t.Errorf("at %d × %d the view has to scroll: %q", size[0], size[1], beyond)
		}
	}
}

// Without JavaScript the browser goes to the plain page.
func TestPageWithoutJavaScript(t *testing.T) {
	t.Parallel()
	d := openDemo(t, "")
	d.press(t, "keystone", "refuse")
	d.shows(t, "#states .fail", "ready")
	d.page.call(t, "Emulation.setScriptExecutionDisabled", object{"value": true}, nil)
	// What a browser without scripts does with the page, which this one evaluates in.
	d.page.call(t, "Page.navigate", object{"url": d.url + "/"}, nil)
	d.page.awaitLoad(t, "/plain")
	d.shows(t, "main", "ready ✕ failing", "alive ✓ ok", "started ✓ ok", "KeystoneDown ready failing", "Collectors")
	d.page.picture(t, "plain")
	d.fitsTelephone(t, "plain")
}

// The switch between light and dark holds, whatever the system prefers.
func TestPageLightOrDark(t *testing.T) {
	t.Parallel()
	d := openDemo(t, "")
	background := func() (color string) {
		d.page.eval(t, `getComputedStyle(document.body).backgroundColor`, &color)
		return color
	}
	light := background()
	d.page.eval(t, `document.querySelector("#theme").click()`, nil)
	dark := background()
	d.page.call(t, "Page.reload", nil, nil)
	d.shows(t, "#states", "✓ ok")
	if again := background(); dark == light || again != dark {
		t.Errorf("light %s, dark %s, after a reload %s", light, dark, again)
	}
	d.page.resize(t, 2560, 1440)
	d.page.picture(t, "wide")
	d.silent(t)
}

// frame is the tab's frame.
type frame struct{ ID, URL string }

func (p *tab) frame(t *testing.T) frame {
	t.Helper()
	var tree struct{ FrameTree struct{ Frame frame } }
	p.call(t, "Page.getFrameTree", nil, &tree)
	return tree.FrameTree.Frame
}

// awaitLoad waits until the tab has loaded a page of that path.
func (p *tab) awaitLoad(t *testing.T, path string) {
	t.Helper()
	await(t, "the page is loaded", time.Minute, func() error {
		if url := p.frame(t).URL; !strings.HasSuffix(url, path) {
			return fmt.Errorf("the page is %s, want %s", url, path)
		}
		return nil
	})
}

// The page has the end, the author and the reason of a silence, at the rule and in the events.
func TestPageShowsSilences(t *testing.T) {
	t.Parallel()
	listen, socket := address(t), filepath.Join(shortDirectory(t, ""), "v.sock")
	d := demo{daemon: daemon{launch(t, listen, os.Getenv("VITALS_BIN"), "demo", "--web.listen-address="+listen, "--web.unix-socket="+socket, "--web.shutdown-delay=0s")}}
	await(t, "the demo is ready", 30*time.Second, func() error { return d.want("/ready", http.StatusOK) })
	d.page = startBrowser(t).open(t, d.url, wide, high)
	out, err := exec.Command(os.Getenv("VITALS_BIN"), "silence", "KeystoneDown", "--reason=upgrade", "--socket="+socket).CombinedOutput()
	if err != nil {
		t.Fatalf("vitals silence: %v\n%s", err, out)
	}
	d.shows(t, "#states", "KeystoneDown silenced until ")
	d.shows(t, "#history .events", "✓ ok KeystoneDown rule silenced until ", " by root (uid 0): upgrade")
	d.press(t, "keystone", "refuse")
	d.shows(t, "#history .events", "✕ failing KeystoneDown rule")
	d.page.eval(t, `[...document.querySelectorAll("#history .events li")].find((e) => /failing\s+KeystoneDown/.test(e.innerText)).querySelector("a").click()`, nil)
	d.shows(t, "#history .explained:not(:empty)", "silenced until ")
	d.page.eval(t, `location.hash = "#why=ready"`, nil)
	d.shows(t, "#why", "Why is ready ")
	d.page.picture(t, "silence")
	d.silent(t)
}
