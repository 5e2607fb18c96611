//go:build e2e

package e2e_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// onScreenWithin is how long after its evaluation a change may be drawn.
const onScreenWithin = time.Second

// tries is how often a fault may be pressed until it is drawn within that time: a machine that is busy
// with other work stalls the process, the browser and its page at different times.
const tries = 3

// stalls is how often on its way a change may meet the longest stall: at the pause between two requests,
// and at a request.
const stalls = 2

// switched is a fault of the demo and the first rule that shows it; "" for one that Vitals cures
// itself.
type switched struct{ dependency, fault, rule string }

// switchedFaults are all faults of the demo, in lists that do not disturb each other.
func switchedFaults() [][]switched {
	var kubernetes, openstack, components []switched
	for _, fault := range []string{"refuse", "hang", "slow", "empty", "401", "403", "500", "503"} {
		kubernetes = append(kubernetes, switched{"kubernetes", fault, "KubernetesDown"})
		openstack = append(openstack, switched{"keystone", fault, "KeystoneDown"}, switched{"neutron", fault, "NeutronDown"})
	}
	for _, component := range []string{"watcher", "vif-handler"} {
		for _, fault := range []string{"dead", "not-ready", "silent"} {
			components = append(components, switched{component, fault, "ComponentNotReady"})
		}
	}
	return [][]switched{
		append(kubernetes, switched{"kubernetes", "drop-watch", "KubernetesWatchDown"}, switched{"kubernetes", "deny-access", "KubernetesAccessDenied"},
			switched{"kubernetes", "remove-crd", "CRDMissing"}),
		append(openstack, switched{"keystone", "wrong-password", "KeystoneDown"}, switched{"keystone", "no-network-endpoint", "NeutronDown"},
			switched{"neutron", "exhaust-ports", "QuotaExhausted"}, switched{"neutron", "low-ports", "QuotaLow"},
			// Nothing fails meanwhile: the other lists are shorter.
			switched{"neutron", "revoke-token", ""}, switched{"kubernetes", "freeze-watch", ""}),
		components,
	}
}

// Each fault of the demo is pressed on the page, and drawn within a second of the evaluation that
// finds it.
func TestPageShowsEachFaultAtOnce(t *testing.T) {
	t.Parallel()
	d := openDemo(t, "")
	d.shows(t, "#demo", "Break it", "exhaust-ports")
	d.offers(t, switchedFaults())
	d.page.eval(t, `{
		const rules = () => [...document.querySelectorAll("#rules .rule")].map((r) => [r.querySelector("h3").innerText, r.querySelector(".badge").lastChild.data]);
		Object.assign(window, { drawn: {}, late: 0 });
		(async () => {
			for (;;) {
				const due = Date.now() + 100;
				await new Promise((done) => setTimeout(done, 100));
				await fetch("alive");
				late = Math.max(late, Date.now() - due);
			}
		})();
		new MutationObserver(() => {
			for (const [name, status] of rules()) if (status === "ok") delete drawn[name]; else drawn[name] ??= Date.now();
		}).observe(document.querySelector("#rules"), { childList: true, characterData: true, subtree: true });
	}`, nil)
	lists := switchedFaults()
	for i := range slices.MaxFunc(lists, func(a, b []switched) int { return len(a) - len(b) }) {
		var now []switched
		for _, list := range lists {
			if i < len(list) {
				now = append(now, list[i])
			}
		}
		for try := 1; len(now) > 0; try++ {
			if now = d.tooLate(t, now); try == tries && len(now) > 0 {
				t.Errorf("%v were drawn more than %s after the evaluation, %d times", now, onScreenWithin, tries)
				break
			}
		}
	}
	d.silent(t)
}

// offers fails unless the page offers exactly these faults.
func (d demo) offers(t *testing.T, lists [][]switched) {
	t.Helper()
	var offered, tested []string
	d.page.eval(t, `[...document.querySelectorAll("#demo li")].flatMap((li) => [...li.querySelectorAll("button.failing")].map((b) => li.querySelector("h3").innerText + " " + b.innerText))`, &offered)
	for _, f := range slices.Concat(lists...) {
		tested = append(tested, f.dependency+" "+f.fault)
	}
	slices.Sort(offered)
	slices.Sort(tested)
	if !slices.Equal(offered, tested) {
		t.Errorf("the page offers %q, tested are %q", offered, tested)
	}
}

// click presses a button of the demo, which is then drawn as pressed.
func (d demo) click(t *testing.T, dependency, button string) {
	t.Helper()
	pressed := fmt.Sprintf(`[...document.querySelectorAll("#demo li")].find((li) => li.querySelector("h3").innerText === %q).querySelectorAll("button")`, dependency)
	d.page.eval(t, fmt.Sprintf(`[...%s].find((b) => b.innerText === %q).click()`, pressed, button), nil)
	await(t, "the button is pressed", time.Minute, func() error {
		var text string
		d.page.eval(t, fmt.Sprintf(`[...%s].filter((b) => b.ariaPressed === "true").map((b) => b.innerText).join()`, pressed), &text)
		if text != button {
			return fmt.Errorf("pressed at %s: %q, want %q", dependency, text, button)
		}
		return nil
	})
}

// tooLate presses faults, heals them again, and returns those that were drawn too late.
func (d demo) tooLate(t *testing.T, faults []switched) (late []switched) {
	t.Helper()
	d.page.eval(t, `late = 0`, nil)
	for _, f := range faults {
		d.click(t, f.dependency, f.fault)
	}
	for _, f := range faults {
		if f.rule == "" {
			d.evaluations(t, 4) // for two collections
			d.shows(t, "#states", "ready why? ready ✓ ok")
		} else if d.drawn(t, f) > onScreenWithin {
			late = append(late, f)
		}
	}
	for _, f := range faults {
		d.click(t, f.dependency, "healthy")
	}
	d.shows(t, "#rules", "Rules of ready · 13 ok", "Rules of alive · 1 ok")
	return late
}

// drawn is how long after the evaluation that found a fault the page drew it, without the stalls of this
// machine: those of a timer and a request of the same page that returns two letters.
func (d demo) drawn(t *testing.T, f switched) time.Duration {
	t.Helper()
	var seen struct{ At, Late int64 }
	await(t, "the fault is drawn", time.Minute, func() error {
		d.page.eval(t, fmt.Sprintf(`({ At: drawn[%q] ?? 0, Late: late })`, f.rule), &seen)
		if seen.At == 0 {
			return fmt.Errorf("%s %s: %s is ok", f.dependency, f.fault, f.rule)
		}
		return nil
	})
	took, late := time.UnixMilli(seen.At).Sub(d.began(t, f.rule)), time.Duration(seen.Late)*time.Millisecond
	t.Logf("%s %s: drawn %s after the evaluation; a timer and a request of the page took at most %s", f.dependency, f.fault, took.Round(time.Millisecond), late)
	return took - stalls*late
}

// began is the evaluation at which the expression of a rule became true.
func (d demo) began(t *testing.T, rule string) time.Time {
	t.Helper()
	var status struct {
		Rules []struct {
			Name   string
			Alerts []struct {
				ActiveAt time.Time `json:"active_at"`
			}
		}
	}
	_, body, err := d.get("/api/v1/status")
	if err == nil {
		err = json.Unmarshal([]byte(body), &status)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range status.Rules {
		if r.Name == rule && len(r.Alerts) > 0 {
			return r.Alerts[0].ActiveAt
		}
	}
	t.Fatalf("%s has no alert", rule)
	return time.Time{}
}

// A rule that is silenced on the command line no longer fails its state, and the page shows both.
func TestPageShowsASilence(t *testing.T) {
	t.Parallel()
	socket := filepath.Join(shortDirectory(t, ""), "vitals.sock")
	d := openDemo(t, "", "--web.shutdown-delay=0s", "--web.unix-socket="+socket)
	d.press(t, "watcher", "not-ready")
	d.shows(t, "#states .fail", "ready", "ComponentNotReady")
	vitals := func(arguments ...string) {
		t.Helper()
		if out, err := exec.Command(os.Getenv("VITALS_BIN"), append(arguments, "--socket="+socket)...).CombinedOutput(); err != nil {
			t.Fatalf("vitals %s: %v\n%s", strings.Join(arguments, " "), err, out)
		}
	}
	vitals("silence", "ComponentNotReady", "--for=1h", "--reason=new disk")
	d.shows(t, "#states", "ready why? ready ✓ ok")
	d.shows(t, "#rules", "1 failing", "ComponentNotReady")
	d.shows(t, "#history .events", "by root (uid 0): new disk")
	d.page.picture(t, "silenced")
	vitals("silence", "ComponentNotReady", "--remove")
	d.shows(t, "#states .fail", "ready", "ComponentNotReady")
	d.silent(t)
}

// An address with a filter opens the page with it.
func TestPageWithAFilterInItsAddress(t *testing.T) {
	t.Parallel()
	d := openDemo(t, "#q=status:failing")
	d.shows(t, "#rules", "No rule matches the filter.")
	d.press(t, "watcher", "not-ready")
	d.shows(t, "#rules", "Rules of ready · 1 failing", "ComponentNotReady")
	var value string
	d.page.eval(t, `document.querySelector("#filter").value`, &value)
	if got := d.page.text(t, "#rules h3"); value != "status:failing" || got != "ComponentNotReady" {
		t.Errorf("the filter is %q and shows %q", value, got)
	}
	d.page.eval(t, `[...document.querySelectorAll("#rules h2 a")].find((a) => a.innerText === "1 failing").click()`, nil)
	d.shows(t, "#rules", "Rules of ready · 1 failing, 12 ok")
	d.silent(t)
}
