package main

import (
	"testing"
	"time"

	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/internal/config"
)

// labComponents are the components that the labs of this file expect.
const labComponents = "watcher,vif,kuryrport"

// kuryrComponentCases are the scenarios in which the controller's parts report.
func kuryrComponentCases() []kuryrCase {
	poison := func(id, name, reason string) kuryrCase {
		return kuryrCase{id: id, name: name, given: []step{notReady("vif", reason)},
			ready: fails(componentNotReady("vif")), check: reasonShown("vif", reason)}
	}
	dead := func(reason string) []step { return []step{reports("kuryrport", false, false, reason)} }
	return []kuryrCase{
		{id: "C07", name: "a component is ready", given: []step{reports("vif", true, true, "")}},
		{id: "C09", name: "a component is alive", given: []step{reports("watcher", true, true, "")}},
		{id: "C06", name: "a component is not ready", given: []step{notReady("vif", "")},
			ready: fails(componentNotReady("vif"))},
		{id: "C08", name: "one of three is not ready", given: []step{notReady("kuryrport", "waits for Neutron")},
			ready: fails(componentNotReady("kuryrport"))},
		{id: "C10", name: "a component is dead", given: dead(""),
			ready: fails(componentNotReady("kuryrport")), alive: fails(componentDead("kuryrport"))},
		{id: "C16", name: "the answer names the component", given: []step{notReady("watcher", "")},
			ready: fails(componentNotReady("watcher"))},
		{id: "C18", name: "dead without an exception", given: dead(""),
			ready: fails(componentNotReady("kuryrport")), alive: fails(componentDead("kuryrport")), check: reasonShown("kuryrport", "")},
		{id: "C19", name: "dead with an exception", given: dead("KeyError: 'spec'"),
			ready: fails(componentNotReady("kuryrport")), alive: fails(componentDead("kuryrport")), check: reasonShown("kuryrport", "KeyError: 'spec'")},
		{id: "R01", name: "an unexpected component reports", given: []step{reports("pod_label", true, true, "")},
			check: listedOnce("pod_label")},
		{id: "R02", name: "a component reports twice", given: []step{reports("vif", true, true, ""), reports("vif", true, true, "")},
			check: listedOnce("vif")},

		poison("L01", "a handler reports ResourceNotReady", "ResourceNotReady: subnet is out of addresses"),
		poison("L05", "a handler reports LoadBalancerNotReady", "LoadBalancerNotReady: PENDING_UPDATE"),
		poison("L06", "a handler reports PortNotReady", "PortNotReady: port is DOWN"),
		poison("L09", "a handler reports a Conflict", "ConflictException: 409"),
		poison("L12", "a handler reports NotFound", "NotFoundException: 404"),
		poison("L15", "a handler reports a 409 of Kubernetes", "K8sConflict: the object has been modified"),
		poison("L16", "a handler reports a KeyError", "KeyError: 'metadata'"),
		poison("L17", "a handler reports any other exception", "TypeError: 'NoneType' object is not iterable"),
	}
}

func TestKuryrComponents(t *testing.T) {
	t.Parallel()
	lab := startKuryrLab(t, labOptions{set: map[string]string{"components": labComponents}})
	for _, name := range []string{"watcher", "vif", "kuryrport"} {
		lab.report(t, name, true, true, "")
	}
	lab.runCases(t, kuryrComponentCases())
}

// kuryrMissingCases are those of a component that never reports: a constructor that
// forgets to register, which the original cannot notice.
func kuryrMissingCases() []kuryrCase {
	return []kuryrCase{{id: "R01", name: "an expected component never reports",
		ready: fails("ComponentMissing failing: The component vif is expected and has never reported.")}}
}

func TestKuryrMissingComponent(t *testing.T) {
	t.Parallel()
	lab := startKuryrLab(t, labOptions{set: map[string]string{"components": "watcher,vif"}})
	lab.report(t, "watcher", true, true, "")
	for _, c := range kuryrMissingCases() {
		t.Run(c.id+" "+c.name, func(t *testing.T) {
			lab.await(t, "ready", c.ready)
			lab.await(t, "alive", c.alive)
			lab.report(t, "vif", true, true, "")
			lab.await(t, "ready", verdict{})
			if got := lab.transitions(t, "alive"); got != 1 {
				t.Errorf("alive changed %d times, want once, at the start", got)
			}
		})
	}
}

// kuryrSilentCases are those of a component that stops reporting: a hung handler or
// a deadlock, which the original calls alive.
func kuryrSilentCases() []kuryrCase {
	return []kuryrCase{{id: "C10", name: "a component falls silent",
		ready: fails(componentNotReady("vif")), alive: fails(componentDead("vif"))}}
}

func TestKuryrSilentComponent(t *testing.T) {
	t.Parallel()
	const deadline = 300 * time.Millisecond
	lab := startKuryrLab(t, labOptions{adjust: func(c *config.Config) {
		componentsOf(t, c).Deadlines = map[string]model.Duration{"vif": model.Duration(deadline)}
	}})
	lab.await(t, "ready", verdict{})
	for _, c := range kuryrSilentCases() {
		t.Run(c.id+" "+c.name, func(t *testing.T) {
			reported := time.Now()
			lab.report(t, "vif", true, true, "")
			lab.await(t, "ready", c.ready)
			lab.await(t, "alive", c.alive)
			if took := time.Since(reported); took < deadline {
				t.Errorf("dead after %s, want not before %s", took, deadline)
			}
			// It recovers with its next report, however short that lasts. On a busy machine a
			// report may expire before it is evaluated: then another one follows.
			before := lab.transitions(t, "alive")
			reported = time.Time{}
			soon(t, func() string {
				if time.Since(reported) > 2*deadline {
					reported = time.Now()
					lab.report(t, "vif", true, true, "")
				}
				if lab.transitions(t, "alive") == before {
					return "alive has not recovered"
				}
				return ""
			})
		})
	}
}

// reasonShown checks that a component's own words are on the status API, where the
// original writes them to its log.
func reasonShown(component, reason string) func(*testing.T, *kuryrLab) {
	return func(t *testing.T, l *kuryrLab) {
		t.Helper()
		if got := l.component(t, component); len(got) != 1 || got[0].Reason != reason {
			t.Errorf("component %s = %+v, want it once with the reason %q", component, got, reason)
		}
	}
}

func listedOnce(component string) func(*testing.T, *kuryrLab) {
	return func(t *testing.T, l *kuryrLab) {
		t.Helper()
		got := l.component(t, component)
		if len(got) != 1 || got[0].Alive == nil || got[0].Ready == nil || !*got[0].Alive || !*got[0].Ready {
			t.Errorf("component %s = %+v, want it once, alive and ready", component, got)
		}
		series(`vitals_component_alive{component="`+component+`"}`, "1", `vitals_component_ready{component="`+component+`"}`, "1")(t, l)
	}
}
