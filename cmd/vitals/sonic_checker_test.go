package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/prometheus/common/promslog"

	"github.com/vitals-health/vitals/collectors/collectortest"
)

// checkerRules fail for user-defined checkers of SONiC's system health: in ready, and in
// started, which is evaluated until the start succeeds.
const checkerRules = `groups:
  - name: checkers
    rules:
      - alert: ObjectNotOK
        expr: vitals_script_object_ok == 0
        labels: {state: ready}
        annotations: {summary: "{{ $labels.category }}: {{ $labels.object }} is not OK."}
      - alert: CheckerNotOK
        expr: vitals_script_status{status="ok"} == 0
        labels: {state: ready}
        annotations: {summary: "The checker {{ $labels.script }} is not OK.", depends_on: ObjectNotOK}
      - alert: StillBooting
        expr: vitals_script_status{status="ok"} == 0
        labels: {state: started}
`

// startCheckers runs two checkers: platform, and other, which always succeeds.
func startCheckers(t *testing.T, platform string) *sonicLab {
	t.Helper()
	dir := collectortest.Dir(t)
	l := &sonicLab{dir: dir, log: &lines{}, socket: dir + "/v.sock"}
	l.checker(t, "platform", platform)
	l.checker(t, "other", "printf 'Other\\nO1:OK\\n'")
	writeFile(t, l.path("rules.yml"), checkerRules)
	config := "evaluation_interval: 100ms\nrule_files: [rules.yml]\ncollectors:\n"
	for _, name := range []string{"platform", "other"} {
		config += fmt.Sprintf("  - {name: %s, interval: 1s, timeout: 1s, script: {command: [/bin/sh, %s], convention: category-lines}}\n", name, l.path(name))
	}
	writeFile(t, l.path("vitals.yml"), config)
	l.run(t, &program{configFile: l.path("vitals.yml"), log: &promslog.Config{Writer: l.log}, levelGiven: true})
	return l
}

// checker replaces a checker's program.
func (l *sonicLab) checker(t *testing.T, name, text string) {
	t.Helper()
	writeFile(t, l.path(name+".next"), text+"\n")
	if err := os.Rename(l.path(name+".next"), l.path(name)); err != nil {
		t.Fatal(err)
	}
}

// rounds waits until a collector has finished n more collections.
func (l *sonicLab) rounds(t *testing.T, name string, count int) {
	t.Helper()
	last := l.lastRun(name)
	soon(t, func() string {
		if now := l.lastRun(name); now != last {
			last, count = now, count-1
		}
		if count > 0 {
			return fmt.Sprintf("%s is to finish %d more rounds", name, count)
		}
		return ""
	})
}

func (l *sonicLab) lastRun(name string) int64 {
	for _, c := range l.daemon.eval.Snapshot().Collectors {
		if c.Name == name {
			return c.LastRun.UnixNano()
		}
	}
	return 0
}

const wellPlatform = `printf 'Platform\nD1:OK\nD3:OK\n'`

// sonicCheckerCases are outputs of checkers, and the results of ready. The other checker
// is unaffected by all of it.
func sonicCheckerCases() []struct {
	id, name, checker string
	ready             sonicVerdict
	// objects are the values of those of platform, by name.
	objects string
	success float64
} {
	object := func(words ...string) sonicVerdict { return sonicVerdict{120, "ObjectNotOK", words} }
	checker := func(words ...string) sonicVerdict { return sonicVerdict{120, "CheckerNotOK", words} }
	return []struct {
		id, name, checker string
		ready             sonicVerdict
		objects           string
		success           float64
	}{
		{"E72", "checker prints D1:OK and D3:text", `printf 'Cat\nD1:OK\nD3:too hot\n'`, object("Cat: D3 is not OK", "D3: too hot"), "D1 1 D3 0", 1},
		{"E73", "checker prints OK and exits with 1", `printf 'Cat\nD1:OK\n'; exit 1`, checker("exit code 1"), "D1 1", 1},
		{"E74", "checker prints a category only", `echo Cat`, checker("expected at least one object"), "", 0},
		{"E74", "checker prints nothing", `true`, checker("no output"), "", 0},
		{"E75", "checker hangs", `sleep 1000 & sleep 1000`, checker("killed"), "", 0},
		{"E77", "checker crashes", `kill -11 $$`, checker("signal 11"), "", 0},
		{"E77", "checker is gone", `exec /no/such/checker 2>/dev/null`, checker("127"), "", 0},
	}
}

func TestSonicCheckers(t *testing.T) {
	t.Parallel()
	l := startCheckers(t, wellPlatform)
	for _, c := range sonicCheckerCases() {
		t.Run(c.id+" "+c.name, func(t *testing.T) {
			l.await(t, "ready", sonicVerdict{})
			l.checker(t, "platform", c.checker)
			l.await(t, "ready", c.ready)
			l.rounds(t, "other", 1)
			// On a busy machine a collection may be late, and its evidence missing for a moment.
			soon(t, func() string {
				if wrong := c.ready.differs(l.probe("ready")); wrong != "" {
					return wrong
				}
				return l.checked(c.objects, c.success == 1)
			})
			l.checker(t, "platform", wellPlatform)
			l.await(t, "ready", sonicVerdict{})
		})
	}
}

// checked returns how the results of the checkers differ: the objects of platform, whether
// its collector succeeds, and that the other one does. It returns "" for no difference.
func (l *sonicLab) checked(objects string, succeeds bool) string {
	var known []string
	for _, name := range []string{"D1", "D3"} {
		if v, ok := l.sample("vitals_script_object_ok", "script", "platform", "object", name); ok {
			known = append(known, fmt.Sprintf("%s %v", name, v))
		}
	}
	got := fmt.Sprintf("objects %q, platform %t, other %t", strings.Join(known, " "), l.succeeds("platform"), l.succeeds("other"))
	if want := fmt.Sprintf("objects %q, platform %t, other true", objects, succeeds); got != want {
		return got + ", want " + want
	}
	return ""
}

func (l *sonicLab) succeeds(name string) bool {
	for _, c := range l.daemon.eval.Snapshot().Collectors {
		if c.Name == name {
			return c.Success
		}
	}
	return false
}

// A lasting fault is reported as long as it lasts: SONiC reports a leak for one cycle only.
func TestSonicFaultThatLasts(t *testing.T) {
	t.Parallel()
	l := startCheckers(t, wellPlatform)
	t.Run("E71 a leak persists for three cycles", func(t *testing.T) {
		l.await(t, "ready", sonicVerdict{})
		l.checker(t, "platform", `printf 'Liquid cooling\nD1:leaks\n'`)
		leaks := sonicVerdict{120, "ObjectNotOK", []string{"Liquid cooling: D1 is not OK"}}
		l.await(t, "ready", leaks)
		before := l.transitions(t, "ready")
		for range 3 {
			l.rounds(t, "platform", 1)
			l.await(t, "ready", leaks)
		}
		if n := l.transitions(t, "ready") - before; n != 0 {
			t.Errorf("ready has changed %d times meanwhile, want never", n)
		}
	})
}

// A fault during the start is distinguished from a later one: SONiC's LED has a
// colour for it.
func TestSonicStartup(t *testing.T) {
	t.Parallel()
	const fault = `printf 'Platform\nD1:no power\n'`
	l := startCheckers(t, fault)
	booting := sonicVerdict{120, "StillBooting", nil}
	failing := sonicVerdict{120, "ObjectNotOK", []string{"D1 is not OK"}}
	t.Run("E78 faults while it starts, and later", func(t *testing.T) {
		l.await(t, "ready", failing)
		l.await(t, "started", booting)
		l.checker(t, "platform", wellPlatform)
		l.await(t, "ready", sonicVerdict{})
		l.await(t, "started", sonicVerdict{})
		l.checker(t, "platform", fault)
		l.await(t, "ready", failing)
		if wrong := (sonicVerdict{}).differs(l.probe("started")); wrong != "" {
			t.Error("started: " + wrong)
		}
	})
}
