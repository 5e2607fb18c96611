package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vitals-health/vitals/internal/config"
	"github.com/vitals-health/vitals/internal/fakes"
)

// kuryrDependencyCases are the scenarios that need no more than the profile as it
// is: no port pools, no component that reports.
func kuryrDependencyCases() []kuryrCase {
	return slices.Concat(kuryrHealthyCases(), kuryrControllerCases(), kuryrClientCases(), kuryrRetryCases())
}

// kuryrHealthyCases are those in which nothing is broken.
func kuryrHealthyCases() []kuryrCase {
	return []kuryrCase{
		{id: "C01", name: "everything answers", check: probesReadMemory},
		{id: "C11", name: "no port pools, no marker", given: []step{noMarker}},
		{id: "C17", name: "no component reports"},
		{id: "A04", name: "the definitions are served", check: series(
			`vitals_kubernetes_crd_present{crd="kuryrports.openstack.org",dependency="kubernetes"}`, "1",
			`vitals_kubernetes_crd_present{crd="kuryrloadbalancers.openstack.org",dependency="kubernetes"}`, "1")},
		{id: "A06", name: "the watch delivers events", check: watchDelivers},
	}
}

// kuryrControllerCases are those of the controller's own health manager.
func kuryrControllerCases() []kuryrCase {
	return []kuryrCase{
		{id: "C03", name: "Kubernetes answers 500", given: []step{fault("kubernetes", "500")},
			ready: fails(kubernetesDown, watchFollows)},
		{id: "C04", name: "Keystone answers 401", given: []step{fault("keystone", "401")},
			ready: fails(keystoneDown, neutronFollows)},
		{id: "C05", name: "Neutron answers 500", given: []step{fault("neutron", "500")},
			ready: fails(neutronDown)},
		{id: "C12", name: "everything fails at once",
			given: []step{fault("kubernetes", "503"), fault("keystone", "503"), fault("neutron", "503")},
			ready: fails(kubernetesDown, watchFollows, keystoneDown, neutronFollows)},
		{id: "C13", name: "Kubernetes refuses the credentials", given: []step{fault("kubernetes", "401")},
			ready: fails(kubernetesDown, watchFollows), check: failure("kubernetes", "auth")},
		{id: "C14", name: "the password is wrong", given: []step{fault("keystone", "wrong-password")},
			ready: fails(keystoneDown, neutronFollows), check: both(failure("keystone", "auth"), noSecrets)},
		{id: "C15", name: "Neutron forbids the quota", given: []step{fault("neutron", "403")},
			ready: fails(neutronDown), check: both(failure("neutron", "forbidden"), noSecrets)},
		{id: "C20", name: "no port left, with the default handlers", given: []step{fault("neutron", "exhaust-ports")},
			ready: fails(quotaExhausted("port", 0))},
		{id: "C21", name: "the definitions are gone", given: []step{fault("kubernetes", "remove-crd")},
			ready: fails("CRDMissing failing: The custom resource definition kuryrloadbalancers.openstack.org is not installed.")},
		{id: "C22", name: "the custom resources are forbidden", given: []step{fault("kubernetes", "deny-access")},
			ready: fails(accessDenied, watchFollows), check: series(
				`vitals_kubernetes_access_allowed{dependency="kubernetes",resource="openstack.org/kuryrports",verb="list"}`, "0")},
	}
}

// kuryrClientCases are those of the controller's watcher, of its client of the
// Kubernetes API and of its check of the definitions.
func kuryrClientCases() []kuryrCase {
	return []kuryrCase{
		{id: "A05", name: "the definitions get a client error", given: []step{fault("kubernetes", "deny-access")},
			ready: fails(accessDenied, watchFollows), check: series(
				`vitals_kubernetes_crd_present{crd="kuryrports.openstack.org",dependency="kubernetes"}`, "")},
		{id: "A10", name: "a watch request fails", given: []step{fault("kubernetes", "empty")},
			ready: fails(kubernetesDown, watchFollows), check: series(
				`vitals_kubernetes_watch_connected{dependency="kubernetes",resource="pods"}`, "0")},
		{id: "A12", name: "the API goes away and the watch is opened again", given: []step{fault("kubernetes", "refuse")},
			ready: fails(kubernetesDown, watchFollows), after: watchDelivers},
		{id: "A27", name: "a GET is forbidden", given: []step{fault("kubernetes", "403")},
			ready: fails(kubernetesDown, watchFollows), check: failure("kubernetes", "forbidden")},
		{id: "A28", name: "the server cuts the watch and is away for a moment", given: []step{fault("kubernetes", "503")},
			ready: fails(kubernetesDown, watchFollows), after: watchDelivers},
		{id: "A30", name: "a watch is forbidden", given: []step{fault("kubernetes", "deny-access")},
			ready: fails(accessDenied, watchFollows), check: series(
				`vitals_kubernetes_watch_failure{dependency="kubernetes",reason="forbidden",resource="pods"}`, "1")},
		{id: "A32", name: "404 is an answer and not an outage", given: []step{fault("kubernetes", "remove-crd")},
			ready: fails("CRDMissing failing: The custom resource definition kuryrloadbalancers.openstack.org is not installed."),
			check: series(
				`vitals_dependency_up{dependency="kubernetes"}`, "1",
				`vitals_kubernetes_crd_present{crd="kuryrports.openstack.org",dependency="kubernetes"}`, "0")},
		{id: "A33", name: "a GET gets 500", given: []step{fault("kubernetes", "500")},
			ready: fails(kubernetesDown, watchFollows), check: failure("kubernetes", "server_error")},
	}
}

// kuryrRetryCases are the errors of dependencies that the original's handlers meet,
// most of which make it restart.
func kuryrRetryCases() []kuryrCase {
	return []kuryrCase{
		{id: "L02", name: "Keystone refuses connections", given: []step{fault("keystone", "refuse")},
			ready: fails(keystoneDown), check: failure("keystone", "refused")},
		{id: "L03", name: "Keystone is silent", given: []step{fault("keystone", "hang")},
			ready: fails(keystoneDown), check: failure("keystone", "timeout")},
		{id: "L04", name: "Kubernetes refuses connections", given: []step{fault("kubernetes", "refuse")},
			ready: fails(kubernetesDown, watchFollows), check: failure("kubernetes", "refused")},
		{id: "L10", name: "Neutron answers 500", given: []step{fault("neutron", "500")},
			ready: fails(neutronDown), check: failure("neutron", "server_error")},
		{id: "L10", name: "Neutron answers 503", given: []step{fault("neutron", "503")},
			ready: fails(neutronDown), check: failure("neutron", "server_error")},
		{id: "L11", name: "Neutron closes without an answer", given: []step{fault("neutron", "empty")},
			ready: fails(neutronDown), check: failure("neutron", "protocol")},
		{id: "L12", name: "the catalog has no Neutron", given: []step{fault("keystone", "no-network-endpoint")},
			ready: fails(neutronDown), check: failure("neutron", "missing_endpoint")},
		{id: "L14", name: "Keystone closes without an answer", given: []step{fault("keystone", "empty")},
			ready: fails(keystoneDown), check: failure("keystone", "protocol")},
		{id: "L15", name: "Kubernetes answers 403", given: []step{fault("kubernetes", "403")},
			ready: fails(kubernetesDown, watchFollows)},
		{id: "L15", name: "Kubernetes answers 503", given: []step{fault("kubernetes", "503")},
			ready: fails(kubernetesDown, watchFollows), check: failure("kubernetes", "server_error")},
	}
}

func TestKuryrDependencies(t *testing.T) {
	t.Parallel()
	startKuryrLab(t, labOptions{}).runCases(t, kuryrDependencyCases())
}

// kuryrForbiddenCases are those of a lab in which nothing was ever allowed, so that
// nothing is known that could be held.
func kuryrForbiddenCases() []kuryrCase {
	return []kuryrCase{{id: "A05", name: "the definitions were never allowed to be read",
		ready: fails(accessDenied, "... and 2 consequences: KubernetesWatchDown, KubernetesWatchStale",
			"CRDMissing unknown: no data for vitals_kubernetes_crd_present")}}
}

func TestKuryrForbidden(t *testing.T) {
	t.Parallel()
	lab := newKuryrLab(t, labOptions{})
	heal := fault("kubernetes", "deny-access")(t, lab)
	lab.run(t)
	for _, c := range kuryrForbiddenCases() {
		t.Run(c.id+" "+c.name, func(t *testing.T) {
			lab.await(t, "ready", c.ready)
			lab.await(t, "alive", c.alive)
			heal()
			lab.await(t, "ready", verdict{})
			if got := lab.transitions(t, "alive"); got != 1 {
				t.Errorf("alive changed %d times, want once, at the start", got)
			}
		})
	}
}

// kuryrTLSCases are those of a lab in which Keystone's address is wrong from the start.
func kuryrTLSCases() []kuryrCase {
	return []kuryrCase{{id: "L13", name: "Keystone does not speak TLS", ready: fails(keystoneDown, neutronFollows)}}
}

func TestKuryrKeystoneWithoutTLS(t *testing.T) {
	t.Parallel()
	lab := startKuryrLab(t, labOptions{adjust: func(c *config.Config) {
		for i := range c.Collectors {
			if k := c.Collectors[i].Keystone; k != nil {
				k.AuthURL = "https" + strings.TrimPrefix(k.AuthURL, "http")
			}
		}
	}})
	for _, c := range kuryrTLSCases() {
		t.Run(c.id+" "+c.name, func(t *testing.T) {
			lab.await(t, "ready", c.ready)
			lab.await(t, "alive", c.alive)
			failure("keystone", "tls")(t, lab)
			if got := lab.transitions(t, "alive"); got != 1 {
				t.Errorf("alive changed %d times, want once, at the start", got)
			}
		})
	}
}

// probesReadMemory checks that probes read memory: the dependencies see the rounds
// of the collectors and nothing else.
func probesReadMemory(t *testing.T, l *kuryrLab) {
	const probes = 500
	count := func() (all uint64) {
		for _, d := range []string{"kubernetes", "keystone", "neutron"} {
			_, requests := l.cloud.Traffic(d)
			all += requests
		}
		return all
	}
	l.round(t)
	before, earlier := count(), l.daemon.eval.Snapshot().Collectors[0].LastRun
	for range probes {
		l.get(t, "/ready")
	}
	rounds := uint64(l.daemon.eval.Snapshot().Collectors[0].LastRun.Sub(earlier)/l.pace) + 2
	if got, most := count()-before, rounds*20; got > most {
		t.Errorf("%d probes went with %d requests to the dependencies, want at most %d: those of %d rounds", probes, got, most, rounds)
	}
}

// watchDelivers checks that the watch is open and that something comes through it.
func watchDelivers(t *testing.T, l *kuryrLab) {
	contact := func() string {
		return l.metric(t, `vitals_kubernetes_watch_last_contact_timestamp_seconds{dependency="kubernetes",resource="pods"}`)
	}
	series(`vitals_kubernetes_watch_connected{dependency="kubernetes",resource="pods"}`, "1")(t, l)
	before := contact()
	soon(t, func() string {
		if now := contact(); now == before {
			return "the last contact stays at " + now
		}
		return ""
	})
}

// series checks series on /metrics, each with its value; "" means absent.
func series(pairs ...string) func(*testing.T, *kuryrLab) {
	return func(t *testing.T, l *kuryrLab) {
		t.Helper()
		for i := 0; i < len(pairs); i += 2 {
			soon(t, func() string {
				if got := l.metric(t, pairs[i]); got != pairs[i+1] {
					return fmt.Sprintf("%s = %q, want %q", pairs[i], got, pairs[i+1])
				}
				return ""
			})
		}
	}
}

// both checks two things.
func both(a, b func(*testing.T, *kuryrLab)) func(*testing.T, *kuryrLab) {
	return func(t *testing.T, l *kuryrLab) {
		t.Helper()
		a(t, l)
		b(t, l)
	}
}

// noSecrets checks that no answer shows what the original's error texts did: passwords and
// tokens.
func noSecrets(t *testing.T, l *kuryrLab) {
	secrets := []string{l.cloud.Password(), l.cloud.Token()}
	for _, path := range []string{"/ready", "/ready?verbose", "/alive?verbose", "/metrics", "/api/v1/status", "/config", "/"} {
		got := l.get(t, path)
		for _, secret := range secrets {
			if strings.Contains(got.body, secret) {
				t.Errorf("GET %s shows a secret", path)
			}
		}
		if want := " fails: "; strings.HasPrefix(path, "/ready") && !strings.Contains(got.body, want) {
			t.Errorf("GET %s = %s, want the error %q...", path, got.body, want)
		}
	}
	if faults := l.cloud.Faults(); len(faults) == 0 || faults[1].Active == fakes.None && faults[2].Active == fakes.None {
		t.Error("nothing is broken, want a failure whose text could leak something")
	}
}
