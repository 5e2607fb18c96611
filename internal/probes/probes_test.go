package probes_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/vitals-health/vitals/internal/manifest"
	"github.com/vitals-health/vitals/internal/probes"
)

// defaults are the times of a configuration without settings.
func defaults(rules ...probes.Rule) probes.Facts {
	return probes.Facts{
		Interval: time.Second, StalledAfter: 5 * time.Second, StalledAliveAfter: time.Minute, FirstResult: 5 * time.Second, Rules: rules,
	}
}

func of(t testing.TB, f probes.Facts, o probes.Options) probes.Set {
	t.Helper()
	s, err := probes.Of(f, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const workload = `# started passes after one collection of each collector, which takes up to 5s,
# and two evaluations. The kubelet restarts the container after 1m.
startupProbe:
  httpGet: {path: /started, port: 8080}
  periodSeconds: 2
  timeoutSeconds: 1
  failureThreshold: 30
# One failure is enough, as the rules wait ("for").
# Out of service up to 33s after a fault: 15s collection, 10s for of Slow, 2s evaluation, 6s probe.
readinessProbe:
  httpGet: {path: /ready, port: 8080}
  periodSeconds: 5
  timeoutSeconds: 1
  failureThreshold: 1
# Acts after 25s to 31s without a success. A hung Vitals is restarted before that,
# within 21s. Vitals may be away for 25s.
# Restarts up to 1m33s after a fault: 1m for of Dead, 2s evaluation, 31s probe.
livenessProbe:
  httpGet: {path: /alive, port: 8080}
  periodSeconds: 5
  timeoutSeconds: 1
  failureThreshold: 6
`

const own = `# A Vitals that does not answer runs again within 21s, and one that does not
# evaluate within 26s, with 5s for the start. No liveness of the workload acts before.
livenessProbe:
  httpGet: {path: /-/healthy, port: 8080}
  periodSeconds: 2
  timeoutSeconds: 1
  failureThreshold: 5
  terminationGracePeriodSeconds: 5
`

func TestYAML(t *testing.T) {
	s := of(t, defaults(
		probes.Rule{Name: "Fast", State: "ready", For: 5 * time.Second, Collection: 15 * time.Second},
		probes.Rule{Name: "Slow", State: "ready", For: 10 * time.Second, Collection: 15 * time.Second},
		probes.Rule{Name: "Dead", State: "alive", For: time.Minute},
	), probes.Options{Port: 8080})
	if diff := cmp.Diff(workload, s.Workload()); diff != "" {
		t.Errorf("Workload() differs (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(own, s.Vitals()); diff != "" {
		t.Errorf("Vitals() differs (-want +got):\n%s", diff)
	}
}

// The probes follow the times of the configuration.
func TestTimes(t *testing.T) {
	ready := func(collection, wait time.Duration) probes.Rule {
		return probes.Rule{Name: "R", State: "ready", For: wait, Collection: collection}
	}
	slow := defaults()
	slow.FirstResult = 2 * time.Minute
	late := defaults()
	late.Interval, late.StalledAfter, late.StalledAliveAfter = time.Minute, 3*time.Minute, 6*time.Minute
	tight := late
	tight.StalledAliveAfter = 3*time.Minute + time.Second
	for name, c := range map[string]struct {
		facts                        probes.Facts
		startup, readiness, liveness int // thresholds of startup and liveness, period of readiness
	}{
		"no rules":                        {defaults(), 30, 5, 6},
		"a rule without for":              {defaults(ready(2*time.Second, 0)), 30, 1, 6},
		"a rule that takes 6 s":           {defaults(ready(5*time.Second, time.Second)), 30, 3, 6},
		"a rule that takes long":          {defaults(ready(time.Minute, time.Hour)), 30, 5, 6},
		"a rule of another state":         {defaults(probes.Rule{Name: "A", State: "alive"}), 30, 5, 6},
		"a collector with a long timeout": {slow, 64, 5, 6},
		"a long interval":                 {late, 65, 5, 6},
		"alive fails soon after ready":    {tight, 65, 5, 6},
	} {
		s := of(t, c.facts, probes.Options{Port: 8080})
		if s.Startup.FailureThreshold != c.startup || s.Readiness.Period != c.readiness || s.Liveness.FailureThreshold != c.liveness {
			t.Errorf("%s: startup %d, readiness %d, liveness %d, want %d, %d, %d", name,
				s.Startup.FailureThreshold, s.Readiness.Period, s.Liveness.FailureThreshold, c.startup, c.readiness, c.liveness)
		}
	}
}

// The kubelet reads what was calculated, for each type.
func TestKubeletReadsThem(t *testing.T) {
	for name, c := range map[string]struct {
		options probes.Options
		started manifest.Probe
		healthy manifest.HTTP
	}{
		"http": {
			probes.Options{Port: 8083, Host: "127.0.0.1"},
			manifest.Probe{HTTP: &manifest.HTTP{Target: manifest.Target{Host: "127.0.0.1", Port: 8083}, Scheme: "HTTP", Path: "/started"}},
			manifest.HTTP{Target: manifest.Target{Host: "127.0.0.1", Port: 8083}, Scheme: "HTTP", Path: "/-/healthy"},
		},
		"IPv6": {
			probes.Options{Port: 8083, Host: "::1"},
			manifest.Probe{HTTP: &manifest.HTTP{Target: manifest.Target{Host: "::1", Port: 8083}, Scheme: "HTTP", Path: "/started"}},
			manifest.HTTP{Target: manifest.Target{Host: "::1", Port: 8083}, Scheme: "HTTP", Path: "/-/healthy"},
		},
		"grpc": {
			probes.Options{Type: probes.GRPC, Port: 9090, OwnPort: 8080},
			manifest.Probe{GRPC: &manifest.Target{Port: 9090}},
			manifest.HTTP{Target: manifest.Target{Port: 8080}, Scheme: "HTTP", Path: "/-/healthy"},
		},
		"exec": {
			probes.Options{Type: probes.Exec, OwnPort: 8080, Command: "/opt/my app/healthcheck"},
			manifest.Probe{Exec: []string{"/opt/my app/healthcheck", "--state=started", "--no-daemon=pass", "--timeout=900ms"}},
			manifest.HTTP{Target: manifest.Target{Port: 8080}, Scheme: "HTTP", Path: "/-/healthy"},
		},
	} {
		s := of(t, defaults(), c.options)
		app, vitals := read(t, s)
		got := manifest.Probe{HTTP: app[0].HTTP, GRPC: app[0].GRPC, Exec: app[0].Exec}
		if diff := cmp.Diff(c.started, got, cmp.AllowUnexported(manifest.Probe{})); diff != "" {
			t.Errorf("%s: the startup probe differs (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(&c.healthy, vitals[0].HTTP); diff != "" {
			t.Errorf("%s: Vitals' probe differs (-want +got):\n%s", name, diff)
		}
		for i, p := range []probes.Probe{s.Startup, s.Liveness, s.Readiness} {
			if p.FailureThreshold != app[i].FailureThreshold || time.Duration(p.Period)*time.Second != app[i].Period || time.Duration(p.Timeout)*time.Second != app[i].Timeout {
				t.Errorf("%s: the kubelet reads %+v, want %+v", name, app[i], p)
			}
		}
	}
}

// read returns the probes of the two containers of a patch, in the order of package manifest.
func read(t testing.TB, s probes.Set) (app, vitals []manifest.Probe) {
	t.Helper()
	m, errs := manifest.Read("patch.yaml", []byte(s.Patch("app", "vitals")))
	if len(errs) > 0 || len(m.Pods) != 1 || len(m.Pods[0].Containers) != 2 {
		t.Fatalf("Read() = %+v, %v, want two containers in\n%s", m, errs, s.Patch("app", "vitals"))
	}
	app, vitals = m.Pods[0].Containers[0].Probes, m.Pods[0].Containers[1].Probes
	if len(app) != 3 || len(vitals) != 1 {
		t.Fatalf("%d and %d probes, want 3 and 1", len(app), len(vitals))
	}
	return app, vitals
}

func TestPatchWithoutVitals(t *testing.T) {
	if got := of(t, defaults(), probes.Options{Port: 8080}).Patch("app", ""); strings.Contains(got, "/-/healthy") {
		t.Errorf("Patch() = %s, want no probe of Vitals", got)
	}
}

func TestPorts(t *testing.T) {
	for _, o := range []probes.Options{{}, {Port: 65536}, {Type: probes.GRPC}, {Type: probes.Exec}, {Port: 1, OwnPort: -1}} {
		if _, err := probes.Of(defaults(), o); err == nil || !strings.Contains(err.Error(), "expected 1 to 65535") {
			t.Errorf("Of(%+v) = %v, want an error about the port", o, err)
		}
	}
}

// For any configuration, a hung Vitals runs again before liveness of the workload acts, the
// startup waits for every collector, and readiness acts no later than liveness.
func TestTheyFitAnyConfiguration(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		duration := func(name string, least, most time.Duration) time.Duration {
			return time.Duration(rapid.Int64Range(int64(least), int64(most)).Draw(t, name))
		}
		f := probes.Facts{Interval: duration("interval", 100*time.Millisecond, 10*time.Minute)}
		f.StalledAfter = max(5*time.Second, 3*f.Interval)
		f.StalledAliveAfter = f.StalledAfter + duration("beyond", time.Millisecond, time.Hour)
		f.FirstResult = duration("timeout", time.Millisecond, time.Hour)
		for range rapid.IntRange(0, 3).Draw(t, "rules") {
			f.Rules = append(f.Rules, probes.Rule{
				Name: "R", State: rapid.SampledFrom([]string{"ready", "alive", "started", "degraded"}).Draw(t, "state"),
				For: duration("for", 0, time.Hour), Collection: duration("collection", 0, time.Hour),
			})
		}
		s, err := probes.Of(f, probes.Options{Port: 8080})
		if err != nil {
			t.Fatal(err)
		}
		if s.Liveness.Soonest() < s.HungProcess() {
			t.Errorf("liveness acts after %s, and a hung Vitals runs again after %s", s.Liveness.Soonest(), s.HungProcess())
		}
		if at := f.StalledAliveAfter + s.Liveness.Soonest(); at < s.HungEvaluator() {
			t.Errorf("liveness acts %s after the last evaluation, and a hung Vitals runs again after %s", at, s.HungEvaluator())
		}
		if s.Startup.Soonest() < f.FirstResult {
			t.Errorf("startup fails after %s, and the first result takes %s", s.Startup.Soonest(), f.FirstResult)
		}
		if s.Liveness.Latest() < s.Readiness.Latest() {
			t.Errorf("liveness acts after %s, readiness after %s", s.Liveness.Latest(), s.Readiness.Latest())
		}
	})
}
