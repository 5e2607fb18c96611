package targets_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/targets"
)

// Each target is checked once an interval, in a phase of its own, and never twice at a time.
func TestChecksSpreadOverTheInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 200
		f := newFleet(addresses(n)...)
		l := start(t, f, false, 20, 0, addresses(n)...)
		defer l.stop()
		text, err := l.collect()
		if got := strings.Count(text, "} 1\n"); got != n || err != nil {
			t.Fatalf("the first collection has %d targets that are up, %v, want %d", got, err, n)
		}
		if most, twice := f.atATime(); most > 20 || twice {
			t.Errorf("%d checks at a time, twice: %t, want at most 20 and none of one target", most, twice)
		}
		time.Sleep(interval)
		from := time.Now()
		time.Sleep(10 * interval)
		perTenth := make([]int, 10)
		for _, name := range addresses(n) {
			var within []time.Time
			for _, at := range f.begins(name) {
				if at.After(from) && !at.After(from.Add(10*interval)) {
					within = append(within, at)
				}
			}
			if len(within) != 10 {
				t.Fatalf("%s was checked %d times in 10 intervals, want 10", name, len(within))
			}
			for i := range within[1:] {
				if got := within[i+1].Sub(within[i]); got != interval {
					t.Fatalf("%s was checked after %s, want %s", name, got, interval)
				}
			}
			perTenth[within[0].Sub(from)%interval*10/interval]++
		}
		for i, got := range perTenth {
			if got < n/40 || got > n/4 {
				t.Errorf("%d targets are checked in tenth %d of the interval, want about %d: %v", got, i, n/10, perTenth)
			}
		}
	})
}

// A target that hangs delays no other, whether it ends at its deadline or not.
func TestFrozenTargetsDelayNoOther(t *testing.T) {
	for name, delay := range map[string]time.Duration{"until the deadline": time.Hour, "beyond the deadline": -1} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet("a", "b", "c")
				f.set("b", delay, false)
				l := start(t, f, false, 2, 0, "a", "b", "c")
				defer l.stop()
				_, _ = l.collect()
				time.Sleep(2*interval + time.Second)
				text, err := l.collect()
				for _, up := range []string{`up{dependency="a"} 1`, `up{dependency="c"} 1`} {
					if !strings.Contains(text, up) {
						t.Errorf("Collect() = %s, want %s", text, up)
					}
				}
				if err == nil || !strings.Contains(err.Error(), "1 of 3 targets failed: b: ") {
					t.Errorf("Collect() = %v, want the failure of b", err)
				}
				if got := len(f.begins("c")); got < 3 {
					t.Errorf("c was checked %d times in two intervals, want at least 3", got)
				}
				if _, twice := f.atATime(); twice {
					t.Error("two checks of b at a time, want one")
				}
			})
		})
	}
}

// Checks that ignore their deadline occupy no place for ever.
func TestHangingTargetsGiveUpTheirPlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet("a", "b", "c", "d")
		for _, a := range []string{"a", "b", "c"} {
			f.set(a, -1, false)
		}
		l := start(t, f, false, 2, 0, "a", "b", "c", "d")
		defer l.stop()
		time.Sleep(3 * interval)
		text, _ := l.collect()
		if !strings.Contains(text, `up{dependency="d"} 1`) {
			t.Errorf("Collect() = %q, want d up: the places of the others are free after their timeout", text)
		}
	})
}

// A change of a target is reported soon, and several changes at once.
func TestChangesAreReportedSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 100
		f := newFleet(addresses(n)...)
		l := start(t, f, false, n, 0, addresses(n)...)
		defer l.stop()
		_, _ = l.collect()
		time.Sleep(interval)
		if got := l.requested(); got > 1 {
			t.Errorf("%d collections requested while nothing changes, want at most that for the targets of the start", got)
		}
		for _, a := range addresses(n) {
			f.set(a, time.Millisecond, true)
		}
		begin := time.Now()
		for l.requested() == 0 {
			time.Sleep(time.Millisecond)
		}
		if took := time.Since(begin); took > interval/2 {
			t.Errorf("the first change was reported after %s, want it after the first check", took)
		}
		text, err := l.collect()
		if !strings.Contains(text, "} 0\n") || err == nil {
			t.Errorf("Collect() = %s, %v, want a target that is down", text, err)
		}
		time.Sleep(interval)
		if got := l.requested(); got < 5 || got > 25 {
			t.Errorf("%d collections requested for %d changes in an interval, want one in half a second", got, n)
		}
		_, err = l.collect()
		if want := "100 of 100 targets failed: s000: refused; s001: refused; s002: refused; and 97 more"; err == nil || err.Error() != want {
			t.Errorf("Collect() = %v, want %s", err, want)
		}
	})
}

// A target that leaves has no series; one that joins has none until it was checked, within an interval.
func TestTargetsJoinAndLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet("a", "b", "c")
		l := start(t, f, true, 10, 100, "a")
		defer l.stop()
		l.found(nil, "b")
		if text, err := l.collect(); err != nil || !strings.Contains(text, `up{dependency="b"} 1`) {
			t.Fatalf("Collect() = %s, %v, want b up", text, err)
		}
		l.requested()
		l.found(nil, "c")
		time.Sleep(time.Second)
		if l.requested() == 0 {
			t.Error("no collection requested, want one for the change of the targets")
		}
		if text, err := l.collect(); err != nil || strings.Contains(text, `"b"`) {
			t.Errorf("Collect() = %s, %v, want no series of b", text, err)
		}
		for range 20 {
			text, err := l.collect()
			if err != nil || strings.Contains(text, `"c"} 0`) {
				t.Fatalf("Collect() = %s, %v, want c not to fail before its first check", text, err)
			}
			time.Sleep(interval / 20)
		}
		if text, _ := l.collect(); !strings.Contains(text, `up{dependency="c"} 1`) {
			t.Errorf("Collect() = %s, want c up within one interval", text)
		}
	})
}

// An error of the discovery keeps the last targets.
func TestDiscoveryErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet("a", "b")
		l := start(t, f, true, 10, 2, "a")
		defer l.stop()
		l.found(nil, "b")
		_, _ = l.collect()
		l.found(errors.New("line 3: broken"))
		text, err := l.collect()
		if !strings.Contains(text, `up{dependency="b"} 1`) || !strings.Contains(text, `vitals_discovery_up{collector="web"} 0`) {
			t.Errorf("Collect() = %s, want the last targets and no success", text)
		}
		if want := "discover targets: line 3: broken"; err == nil || err.Error() != want {
			t.Errorf("Collect() = %v, want %s", err, want)
		}
		l.found(nil, "b", "c", "d", "e e", "a=z", "a")
		text, err = l.collect()
		want := "vitals_discovery_up{collector=\"web\"} 1\nvitals_discovery_targets{collector=\"web\"} 3\nvitals_discovery_dropped_targets{collector=\"web\"} 3\n"
		if !strings.HasSuffix(text, want) {
			t.Errorf("Collect() = %s, want %s", text, want)
		}
		if want := "3 targets dropped: a is the name of two targets, a and z"; err == nil || err.Error() != want {
			t.Errorf("Collect() = %v, want %s", err, want)
		}
	})
}

// A panic in a check fails that target only.
func TestPanicOfATarget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet("a", "panics")
		l := start(t, f, false, 10, 0, "a", "panics")
		defer l.stop()
		text, err := l.collect()
		if text != "up{dependency=\"a\"} 1\n" || err == nil || err.Error() != "1 of 2 targets failed: panics: panic: boom" {
			t.Errorf("Collect() = %s, %v, want a up and the panic", text, err)
		}
	})
}

// What people see of the targets.
func TestNotes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet("a", "b")
		f.set("b", time.Millisecond, true)
		l := start(t, f, false, 10, 0, "a", "b")
		defer l.stop()
		_, _ = l.collect()
		if got := collectortest.Note(l.collector); got != "2 targets, 1 failed" {
			t.Errorf("Note() = %q, want the number of targets and failures", got)
		}
		label, notes := l.collector.(collectors.PartNoter).PartNotes()
		if diff := cmp.Diff(map[string]string{"a": "server a", "b": "server b"}, notes); label != "dependency" || diff != "" {
			t.Errorf("PartNotes() = %q (-want +got):\n%s", label, diff)
		}
		if got := l.collector.Describe(); len(got) != 1 || got[0].Name != "up" {
			t.Errorf("Describe() = %v, want the metric once", got)
		}
	})
}

func TestName(t *testing.T) {
	long := "https://" + strings.Repeat("a", 80) + ".example/"
	for address, want := range map[string]string{
		"10.0.0.1:80":       "web-10.0.0.1-80",
		"[2001:db8::1]:443": "web-2001-db8-1-443",
		"https://a.example:8443/health/?token=abc": "web-a.example-8443-health",
		"unix:/run/a.sock":                         "web-run-a.sock",
		"http://a.example#fragment":                "web-a.example",
		long:                                       "web-" + strings.Repeat("a", 50) + "-5750f42e",
	} {
		got := targets.Name("web", address)
		if got != want || collectors.NameProblem("", got) != nil {
			t.Errorf("Name(%q) = %q, want %q", address, got, want)
		}
	}
}
