package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vitals-health/vitals/internal/fakes"
)

// kuryrCase is one scenario of the controller's acceptance suite: what is given,
// and what the probes then answer. A lab is ready and alive before a case and has
// to be so again after it: nothing latches.
type kuryrCase struct {
	id, name string
	given    []step
	// ready and alive are the verdicts; the zero value is 200 "ok".
	ready, alive verdict
	// check runs further checks while the verdicts hold, and after runs once all is healthy again.
	check, after func(*testing.T, *kuryrLab)
}

// verdict is the answer of a probe.
type verdict struct {
	// lines are the body of a failing probe, each without the facts in brackets at
	// its end; none means 200 and "ok".
	lines []string
	// warns names the rule that warns while the probe passes.
	warns string
}

func fails(lines ...string) verdict { return verdict{lines: lines} }
func warns(rule string) verdict     { return verdict{warns: rule} }

// code is the status: the original's 500 where the state fails.
func (v verdict) code() int {
	if len(v.lines) > 0 {
		return http.StatusInternalServerError
	}
	return http.StatusOK
}

func (v verdict) body() string {
	if len(v.lines) > 0 {
		return strings.Join(v.lines, "\n") + "\n"
	}
	return "ok"
}

// short is the verdict as the documentation writes it, such as "500 KeystoneDown".
func (v verdict) short() string {
	text := fmt.Sprint(v.code())
	if v.warns != "" {
		text += ", warning `" + v.warns + "`"
	}
	var rules []string
	for _, line := range v.lines {
		name, _, _ := strings.Cut(line, " ")
		switch {
		case line == notAlive:
			text += ", not alive"
		case name != "...":
			rules = append(rules, "`"+name+"`")
		}
	}
	return strings.TrimSpace(text + " " + strings.Join(rules, ", "))
}

// facts are what a line ends in: the value, since when, how many alerts, and what the
// collectors found; of "not alive", the rules of alive, which its own verdict shows.
var facts = regexp.MustCompile(`(?m)^(not alive): .*$| \((?:value|since) [^()]*\)(?:: .*)?$|: collector \S+ fails: .*$`)

// watched are the resources of the profile's watches. The alert that is active for the
// longest is shown: if both watches end, that of the one whose end was noticed first; if a role is
// removed during a collection, that of a right that it checks later.
var watched = regexp.MustCompile(`(The watch of |The service account may not watch )(?:pods|services|openstack\.org/kuryrports)( is|\.)`)

// differs returns how the response of the state's probe differs from v, or "".
func (v verdict) differs(t *testing.T, l *kuryrLab, state string) string {
	t.Helper()
	got := l.get(t, "/"+state)
	body := watched.ReplaceAllString(facts.ReplaceAllString(got.body, "$1"), "${1}RESOURCE$2")
	if got.code != v.code() || body != v.body() {
		return fmt.Sprintf("GET /%s = %d, want %d (-want +got):\n%s", state, got.code, v.code(), cmp.Diff(v.body(), body))
	}
	if v.code() != http.StatusOK {
		return ""
	}
	want := "pass"
	if v.warns != "" {
		want = "warn"
	}
	if status, checks := l.health(t, state); status != want || v.warns != "" && checks[v.warns] != "warn" {
		return fmt.Sprintf("GET /%s as JSON has status %q with %v, want %q by %q", state, status, checks, want, v.warns)
	}
	return ""
}

// health is the state's answer as JSON: its status, and that of each rule.
func (l *kuryrLab) health(t *testing.T, state string) (status string, checks map[string]string) {
	t.Helper()
	var health struct {
		Status string
		Checks map[string][]struct{ Status string }
	}
	got := l.get(t, "/"+state, "Accept", "application/json")
	if err := json.Unmarshal([]byte(got.body), &health); err != nil {
		t.Fatalf("GET /%s as JSON = %v in %s", state, err, got.body)
	}
	checks = map[string]string{}
	for rule, all := range health.Checks {
		checks[rule] = all[0].Status
	}
	return health.Status, checks
}

// await waits until the response of a probe matches v.
func (l *kuryrLab) await(t *testing.T, state string, v verdict) {
	t.Helper()
	soon(t, func() string { return v.differs(t, l, state) })
}

// runCases runs cases one after another in one lab.
func (l *kuryrLab) runCases(t *testing.T, cases []kuryrCase) {
	for _, c := range cases {
		ok := t.Run(c.id+" "+c.name, func(t *testing.T) { l.runCase(t, c) })
		if !ok {
			return // the lab is in no known state
		}
	}
}

func (l *kuryrLab) runCase(t *testing.T, c kuryrCase) {
	l.await(t, "ready", verdict{})
	l.await(t, "alive", verdict{})
	before := l.transitions(t, "alive")
	var undo []func()
	for _, step := range c.given {
		undo = append(undo, step(t, l))
	}
	if c.ready.code() == http.StatusOK {
		l.round(t) // or the answer might be from before
	}
	l.await(t, "ready", c.ready)
	l.await(t, "alive", c.alive)
	if c.check != nil {
		c.check(t, l)
	}
	for _, f := range undo {
		f()
	}
	l.await(t, "ready", verdict{})
	l.await(t, "alive", verdict{})
	if c.after != nil {
		c.after(t, l)
	}
	if after := l.transitions(t, "alive"); c.alive.code() == http.StatusOK && after != before {
		t.Errorf("alive changed %d times, want never: a restart cures nothing here", after-before)
	}
}

// step changes something, and returns a function that reverts the change.
type step func(t *testing.T, l *kuryrLab) (undo func())

// fault breaks a dependency.
func fault(dependency, name string) step {
	return func(t *testing.T, l *kuryrLab) func() {
		t.Helper()
		set := func(name string) {
			if err := l.cloud.Set(dependency, name); err != nil {
				t.Fatalf("Set(%q, %q) = %v, want nil", dependency, name, err)
			}
		}
		set(name)
		return func() { set(fakes.None) }
	}
}

// quota sets a quota of Neutron; a limit of -1 is none.
func quota(resource string, limit, used, reserved int) step {
	return func(_ *testing.T, l *kuryrLab) func() { return l.cloud.SetQuota(resource, limit, used, reserved) }
}

// reports has a component report; later it reports that it is alive and ready.
func reports(component string, alive, ready bool, reason string) step {
	return func(t *testing.T, l *kuryrLab) func() {
		t.Helper()
		l.report(t, component, alive, ready, reason)
		return func() { l.report(t, component, true, true, "") }
	}
}

// notReady is a component that lives and cannot do its work.
func notReady(component, reason string) step { return reports(component, true, false, reason) }

// noMarker removes the pools' marker.
func noMarker(t *testing.T, l *kuryrLab) func() {
	t.Helper()
	if err := os.Remove(l.marker); err != nil {
		t.Fatal(err)
	}
	return func() { writeFile(t, l.marker, "") }
}

// failure checks the reason that a dependency's gauge gives.
func failure(dependency, reason string) func(*testing.T, *kuryrLab) {
	return series(fmt.Sprintf("vitals_dependency_failure{dependency=%q,reason=%q}", dependency, reason), "1")
}

// The lines of failing rules.
const (
	kubernetesDown = "KubernetesDown failing: The Kubernetes API does not answer or refuses the service account."
	watchFollows   = "... and 1 consequence: KubernetesWatchDown"
	keystoneDown   = "KeystoneDown failing: Keystone does not answer or rejects the credentials."
	neutronFollows = "... and 1 consequence: NeutronDown"
	neutronDown    = "NeutronDown failing: Neutron does not answer or refuses the project's quota."
	accessDenied   = "KubernetesAccessDenied failing: The service account may not list openstack.org/kuryrloadbalancers."
	poolsNotLoaded = "PoolsNotLoaded failing: The ports are not loaded into the pools yet."
)

func componentNotReady(name string) string {
	return "ComponentNotReady failing: The component " + name + " is not ready."
}

func componentDead(name string) string {
	return "ComponentDead failing: The component " + name + " is dead or has stopped reporting."
}

func quotaExhausted(resource string, left int) string {
	return fmt.Sprintf("QuotaExhausted failing: The quota of %s is exhausted: %d left.", resource, left)
}
