//go:build e2e

package e2e_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
)

// The value that a rule compares and how long a collector takes are drawn, with the threshold
// as a line and the numbers as text.
func TestPageDrawsValues(t *testing.T) {
	t.Parallel()
	d := openDemo(t, "")
	labels := func(selector string) (all string) {
		d.page.eval(t, fmt.Sprintf(`[...document.querySelectorAll(%q)].map((e) => e.getAttribute("aria-label")).join("\n")`, selector), &all)
		return all
	}
	await(t, "the values are drawn", time.Minute, func() error {
		if got := labels("#rules svg.spark"); !strings.Contains(got, "KeystoneDown, value in the last 1 h: min 1, max 1, last 1, failing if == 0\n") || !strings.Contains(got, "QuotaExhausted, value in") {
			return fmt.Errorf("the curves of rules are %q", got)
		}
		return nil
	})
	if got := labels("#collectors svg.spark"); !regexp.MustCompile(`keystone, took in the last 1 h: min \d.*s, max \d.*s, last \d.*s`).MatchString(got) {
		t.Errorf("the curves of collectors are %q", got)
	}
	d.press(t, "keystone", "refuse")
	await(t, "the value meets its threshold", time.Minute, func() error {
		if got := labels("#rules svg.spark"); !strings.Contains(got, "KeystoneDown, value in the last 1 h: min 0, ") {
			return fmt.Errorf("the curves of rules are %q", got)
		}
		return nil
	})
	var unlike int
	d.page.eval(t, `[...document.querySelectorAll("#rules svg.spark")].filter((e) => e.querySelectorAll("line.limit").length !== 1 || !/^M[\d.]+ [\d.]+h/.test(e.querySelector("path").getAttribute("d"))).length`, &unlike)
	if unlike > 0 {
		t.Errorf("%d curves of rules lack the line of their threshold or a value", unlike)
	}
	d.page.eval(t, `document.querySelector("#rules").scrollIntoView()`, nil)
	d.page.picture(t, "curves")
	d.page.eval(t, `document.querySelector("#collectors").scrollIntoView()`, nil)
	d.page.picture(t, "curves-collectors")
	d.fitsTelephone(t, "curves")
	d.page.prefer(t, "prefers-color-scheme", "dark")
	d.page.resize(t, 1920, 1080)
	d.page.eval(t, `document.querySelector("#rules").scrollIntoView()`, nil)
	d.page.picture(t, "curves-dark")
	d.silent(t)
}
