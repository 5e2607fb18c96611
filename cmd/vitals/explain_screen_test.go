package main

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/vitals-health/vitals/internal/demo"
)

// columns is how wide the terminal is that an explanation has to fit.
const columns = 80

// fits explains ready and counts the lines on a terminal.
func (l *kuryrLab) fits(t *testing.T, lines int) string {
	t.Helper()
	var out, errs bytes.Buffer
	if code := run([]string{"explain", "ready", "--url=" + l.web.URL}, &out, &errs); code != exitOK {
		t.Fatalf("vitals explain ready = %d %s, want 0", code, &errs)
	}
	got := 0
	for line := range strings.Lines(out.String()) {
		got += max(1, (utf8.RuneCountInString(strings.TrimRight(line, "\n"))+columns-1)/columns)
	}
	if got > lines {
		t.Errorf("vitals explain ready fills %d lines of %d columns, want at most %d:\n%s", got, columns, lines, &out)
	}
	return out.String()
}

// Three rules that decide independently of each other, among them the longest
// expression of the profile, fit one screen.
func TestExplanationOfThreeRulesFitsOneScreen(t *testing.T) {
	t.Parallel()
	lab := startDemoLab(t, demoPace, 0)
	lab.awaitVerdicts(t, demoPass, demoPass)
	for _, fault := range [][2]string{{"neutron", "exhaust-ports"}, {"kubernetes", "remove-crd"}, {"vif-handler", demo.FaultNotReady}} {
		lab.press(t, fault[0], fault[1])
	}
	soon(t, func() string {
		if body := lab.get(t, "/ready").body; strings.Count(body, " failing: ") != 3 {
			return "three rules do not decide:\n" + body
		}
		return ""
	})
	var text string
	soon(t, func() string {
		if text = lab.fits(t, 40); strings.Contains(text, "query timed out") { // on a busy machine
			return "the explanation is not complete:\n" + text
		}
		return ""
	})
	for _, want := range []string{
		"decided by 3 of ", "\nCRDMissing failing ", "vitals_kubernetes_crd_present == 0", "\nQuotaExhausted failing ",
		`{resource="port"} 10, `, "\nComponentNotReady failing ", `{component="vif-handler"} 0, `, "collector components",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("vitals explain ready does not contain %q:\n%s", want, text)
		}
	}
}
