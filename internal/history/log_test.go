//go:build !race

package history

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// logged returns the lines of the log of a history, without their times.
func (f *failures) logged() (lines func() []string) {
	var log bytes.Buffer
	f.history.Log(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}})))
	return func() (all []string) {
		for line := range strings.Lines(log.String()) {
			all = append(all, strings.TrimSpace(line))
		}
		return all
	}
}

func TestStatesAreLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFailures("A", "B", "C")
		lines := f.logged()
		f.observe(time.Second)
		f.observe(time.Second, "A", "B")
		f.observe(time.Second, "B", "C") // B still decides
		f.observe(time.Second, "C")
		f.observe(time.Second)
		equal(t, []string{
			`level=WARN msg="state failing" state=ready rules="[A B]" summary="A fails."`,
			`level=WARN msg="state failing" state=ready rules=[C] summary="C fails."`,
			`level=INFO msg="state ok" state=ready`,
		}, lines())
	})
}

// A state that flaps for an hour is logged 30 times, and then once each 20 s. The lines have all changes and all
// seconds of failure, and the last one has the verdict.
func TestStateThatFlapsIsSummedUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFailures("Empty")
		lines := f.logged()
		f.observe(time.Second)
		for range 900 {
			f.observe(time.Second, "Empty")
			f.observe(3 * time.Second)
		}
		f.observe(time.Second, "Empty")
		f.history.End(time.Now())
		got := lines()
		if n := len(got); n < 180 || n > 180+stateChanges+5 {
			t.Fatalf("%d lines about an hour, want %d and one each 20 s", n, stateChanges)
		}
		total, failing, single := 0, 0.0, ""
		for _, line := range got {
			if _, text, ok := strings.Cut(line, "changes="); ok {
				var n int
				if _, err := fmt.Sscan(text, &n); err != nil {
					t.Fatal(err)
				}
				total += n
				_, text, _ = strings.Cut(line, "failing=")
				text, _, _ = strings.Cut(text, " ")
				d, err := time.ParseDuration(text)
				if err != nil || !strings.Contains(line, "worst=failing rules=[Empty]") {
					t.Fatalf("%s: %v, want the rule and for how long it failed", line, err)
				}
				failing += d.Seconds()
			} else if total++; strings.Contains(line, "state failing") {
				single = line
			}
		}
		equal(t, 1801, total)
		if passed := 900*3 - failing; passed < 0 || passed > 3*(stateChanges/2+180) {
			t.Errorf("the lines have %.0f s of failure, want those of %d s that are within one line", failing, 900*3)
		}
		if single == "" {
			t.Error("no change has a line of its own")
		}
		if last := got[len(got)-1]; !strings.Contains(last, "state failing") || !strings.Contains(last, "rules=[Empty]") {
			t.Errorf("the last line is %q, want the verdict", last)
		}
	})
}
