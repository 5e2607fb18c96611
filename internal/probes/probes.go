package probes

import (
	"fmt"
	"time"
)

// Type is how the kubelet queries Vitals.
type Type string

// The types.
const (
	HTTP Type = "http"
	GRPC Type = "grpc"
	Exec Type = "exec"
)

// Types returns all types, the default first.
func Types() []string { return []string{string(HTTP), string(GRPC), string(Exec)} }

// Facts are the times of a configuration.
type Facts struct {
	// Interval is the time between two evaluations.
	Interval time.Duration
	// StalledAfter is the age of the last evaluation beyond which ready and /-/healthy
	// fail, and StalledAliveAfter that beyond which alive fails.
	StalledAfter, StalledAliveAfter time.Duration
	// FirstResult is the longest timeout of a collector: started waits for one collection
	// of each.
	FirstResult time.Duration
	// Rules are those that can make a state fail.
	Rules []Rule
}

// Rule is a rule that can make its state fail.
type Rule struct {
	Name, State string
	// For is the rule's "for".
	For time.Duration
	// Collection is the longest time until the rule's collectors have noticed a fault:
	// interval and timeout. It is zero if unknown.
	Collection time.Duration
}

// Options are the choices of a user.
type Options struct {
	// Type is HTTP if empty.
	Type Type
	// Port is the port of the probes, from 1 to 65535. Exec does not use it.
	Port int
	// OwnPort is the port of /-/healthy; Port if zero.
	OwnPort int
	// Host is the host of HTTP probes: empty for the address of the pod.
	Host string
	// Command is the path of the exec probe in the container; "healthcheck" if empty.
	Command string
}

// Probe is one probe. Times are whole seconds.
type Probe struct {
	// Handler is what the kubelet does, in YAML: "httpGet: {...}".
	Handler string
	// Period and Timeout are in seconds.
	Period, Timeout  int
	FailureThreshold int
	// Grace is the time in seconds between SIGTERM and SIGKILL after failures of this probe;
	// zero for that of the pod.
	Grace int
}

// Latest is the longest time from a fault, which the first probe after it sees, until the
// kubelet acts. The last probe may take its whole timeout.
func (p Probe) Latest() time.Duration {
	return time.Duration(p.FailureThreshold*p.Period+p.Timeout) * time.Second
}

// Soonest is the shortest such time.
func (p Probe) Soonest() time.Duration {
	return time.Duration((p.FailureThreshold-1)*p.Period) * time.Second
}

// Set is the probes of a pod with Vitals.
type Set struct {
	// Startup, Readiness and Liveness belong to the container that Vitals judges.
	Startup, Readiness, Liveness Probe
	// Own is the liveness probe of Vitals' own container.
	Own Probe

	facts Facts
	exec  bool
}

const (
	// restart is the time between the end of Vitals' container and its next answer: the
	// kubelet notices the end within 1 s (genericPlegRelistPeriod in
	// k8s.io/kubernetes/pkg/kubelet/kubelet.go) and starts the container at once the first
	// time. The rest is for the container runtime and the start of Vitals.
	restart = 5 * time.Second
	// leastStartup is the shortest time for a start.
	leastStartup = time.Minute
	// leastLiveness is the smallest threshold of liveness: 25 s to 30 s with its period.
	leastLiveness = 6
)

// Of returns the probes that fit a configuration. It returns an error for a port that the
// type needs and the options lack.
func Of(f Facts, o Options) (Set, error) {
	if o.Type == "" {
		o.Type = HTTP
	}
	if o.OwnPort == 0 {
		o.OwnPort = o.Port
	}
	for _, port := range []int{o.Port, o.OwnPort} {
		if unused := o.Type == Exec && port == 0 && o.OwnPort != 0; !unused && (port < 1 || port > 65535) {
			return Set{}, fmt.Errorf("port %d: expected 1 to 65535", port)
		}
	}
	s := Set{facts: f, exec: o.Type == Exec}
	s.Startup = Probe{Handler: o.handler("started"), Period: 2, Timeout: 1}
	s.Startup.FailureThreshold = ceil(max(leastStartup, f.FirstResult+2*f.Interval+restart), s.Startup.Period)
	s.Readiness = Probe{Handler: o.handler("ready"), Period: readinessPeriod(f), Timeout: 1, FailureThreshold: 1}
	s.Own = Probe{Handler: o.path("/-/healthy", o.OwnPort), Period: 2, Timeout: 1, FailureThreshold: 5, Grace: 5}
	s.Liveness = Probe{Handler: o.handler("alive"), Period: 5, Timeout: 1}
	s.Liveness.FailureThreshold = max(leastLiveness, ceil(s.mustBridge(), s.Liveness.Period)+1)
	return s, nil
}

// ceil returns how many periods of so many seconds a time takes.
func ceil(d time.Duration, seconds int) int {
	period := time.Duration(seconds) * time.Second
	return int((d + period - 1) / period)
}

// readinessPeriod returns the period of readiness in seconds. A probe adds at most half of
// the time that the fastest rule takes, and at most 5 s.
func readinessPeriod(f Facts) int {
	fastest := 10 * time.Second
	for _, r := range f.Rules {
		if r.State == "ready" {
			fastest = min(fastest, r.Collection+r.For)
		}
	}
	return max(1, int(fastest/2/time.Second))
}

// HungProcess is the longest time in which a Vitals that does not answer is restarted and
// answers again.
func (s Set) HungProcess() time.Duration {
	return s.Own.Latest() + time.Duration(s.Own.Grace)*time.Second + restart
}

// HungEvaluator is the same for a Vitals that answers and no longer evaluates.
func (s Set) HungEvaluator() time.Duration { return s.facts.StalledAfter + s.HungProcess() }

// mustBridge is the time for which liveness fails because Vitals hangs. A probe of liveness
// must not act within it. While the evaluator hangs, alive fails only after
// StalledAliveAfter.
func (s Set) mustBridge() time.Duration {
	return max(s.HungProcess(), s.HungEvaluator()-s.facts.StalledAliveAfter)
}

// Slowest returns the rule of a state whose failure takes the longest time to have an effect,
// and that time: the collection, the rule's "for", up to two evaluations, and the probe. ok
// is false if the state has no such rule.
func (s Set) Slowest(state string) (r Rule, after time.Duration, ok bool) {
	probe := s.Readiness
	if state == "alive" {
		probe = s.Liveness
	}
	for _, of := range s.facts.Rules {
		if of.State == state && (!ok || of.Collection+of.For > r.Collection+r.For) {
			r, ok = of, true
		}
	}
	return r, r.Collection + r.For + 2*s.facts.Interval + probe.Latest(), ok
}
