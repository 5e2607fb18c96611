//go:build e2e

package e2e_test

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// staleWithin is after how long a page without an answer is out of date: the time for a request and
// the longest pause between two, as in source.js, and a second until the next drawing.
const staleWithin = 10 * time.Second

// A page of a process that was killed is out of date within its bound, and follows the next one.
func TestPageAfterKill(t *testing.T) {
	t.Parallel()
	d := openDemo(t, "#why=alive")
	d.shows(t, "#why", "Why is alive ok?")
	d.watchContact(t)
	killed := time.Now()
	if err := d.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = d.cmd.Wait() // the signal is its error
	d.lost(t, killed, "it was killed")
	d.gone(t)
	d.start(t)
	d.recovers(t)
	// What happens in the new process is shown, its events as well.
	d.press(t, "watcher", "not-ready")
	d.shows(t, "#states .fail", "ready", "ComponentNotReady")
	d.shows(t, "#history .events", "✕ failing ready")
	d.refused(t)
}

// A page of a process that hangs is out of date within its bound as well, and recovers with it.
func TestPageWhileFrozen(t *testing.T) {
	t.Parallel()
	d := openDemo(t, "")
	d.watchContact(t)
	t.Cleanup(func() { _ = d.cmd.Process.Signal(syscall.SIGCONT) }) // before its end
	frozen := time.Now()
	if err := d.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	d.lost(t, frozen, "it was frozen")
	d.shows(t, "#banner", "No contact with Vitals (timeout).")
	d.page.picture(t, "frozen")
	if err := d.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	d.recovers(t)
}

// watchContact notes when the page turns grey, and how late its timers are meanwhile.
func (d demo) watchContact(t *testing.T) {
	t.Helper()
	d.page.eval(t, `{
		let last = Date.now();
		Object.assign(window, { late: 0, staleAt: 0 });
		setInterval(() => { late = Math.max(late, Date.now() - last - 50); last = Date.now(); }, 50);
		new MutationObserver(() => { if (document.body.classList.contains("stale")) staleAt ||= Date.now(); }).observe(document.body, { attributeFilter: ["class"] });
	}`, nil)
}

// lost waits until the page is out of date, which it has to be within its bound. What the machine
// withheld from the timers of the page is no time of its own.
func (d demo) lost(t *testing.T, since time.Time, why string) {
	t.Helper()
	var times struct{ StaleAt, Late int64 }
	await(t, "the page is out of date", time.Minute, func() error {
		d.page.eval(t, `({ StaleAt: staleAt, Late: late })`, &times)
		if times.StaleAt == 0 {
			return fmt.Errorf("it is not, %s after %s", time.Since(since), why)
		}
		return nil
	})
	took, late := time.UnixMilli(times.StaleAt).Sub(since), time.Duration(times.Late)*time.Millisecond
	t.Logf("out of date %s after %s; the timers of the page were at most %s late", took.Round(time.Millisecond), why, late)
	if took > staleWithin+late {
		t.Errorf("the page is out of date %s after %s, want at most %s", took, why, staleWithin)
	}
}

// recovers waits until the page shows the status of now, without a trace of the time without contact.
func (d demo) recovers(t *testing.T) {
	t.Helper()
	await(t, "the page is up to date", time.Minute, func() error {
		var stale string
		d.page.eval(t, `document.body.className + document.querySelector("#banner").innerText`, &stale)
		if stale != "" {
			return fmt.Errorf("it shows %q", stale)
		}
		return nil
	})
	d.shows(t, "#states", "ready why? ready ✓ ok", "alive why? alive ✓ ok")
	d.evaluations(t, 2)
}

// refused fails if the browser complains about more than refused connections.
func (d demo) refused(t *testing.T) {
	t.Helper()
	_, complaints := d.page.noted()
	complaints = slices.DeleteFunc(complaints, func(c string) bool {
		return tooBusy(c) || strings.Contains(c, "net::ERR_CONNECTION_REFUSED") || strings.Contains(c, "net::ERR_CONNECTION_RESET") || strings.Contains(c, "net::ERR_INCOMPLETE_CHUNKED_ENCODING") || strings.Contains(c, "net::ERR_EMPTY_RESPONSE")
	})
	if len(complaints) > 0 {
		t.Errorf("the browser complains:\n%s", strings.Join(complaints, "\n"))
	}
}
