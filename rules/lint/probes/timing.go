package probes

import (
	"fmt"
	"slices"
	"time"

	"github.com/vitals-health/vitals/internal/manifest"
)

// absence is the time that a restart of Vitals, or a lack of CPU, may take.
const absence = 5 * time.Second

// probePatience finds probes whose failure threshold repeats the waiting of the rules, and
// liveness probes that act too early.
func probePatience(p *checker) {
	for _, a := range p.all {
		switch {
		case a.state == "":
		case a.Kind == manifest.Readiness:
			p.waitsTwice(a)
		case a.Kind == manifest.Liveness:
			p.actsAtOnce(a)
			for _, other := range p.all {
				if other.container == a.container && other.Kind == manifest.Readiness && other.state != "" {
					p.soonerThan(a, other)
				}
			}
		}
	}
}

// waitsTwice reports a readiness probe that waits for several failures although the rules
// wait already.
func (p *checker) waitsTwice(a *probed) {
	name, wait, interval := p.longest(a)
	if wait == 0 || a.FailureThreshold < 2 {
		return
	}
	collection := ""
	if interval > 0 {
		collection = fmt.Sprintf("up to %s until the next collection, ", formatDuration(interval))
	}
	p.atProbe(a, "failureThreshold", "set failureThreshold: 1 for readiness: the rules already wait (\"for\")",
		"readiness waits twice: %s%s in the rule %s, then %d failures every %s: after a fault the pod stays in service for up to %s",
		collection, formatDuration(wait), name, a.FailureThreshold, formatDuration(a.Period), formatDuration(interval+wait+patience(a.Probe)))
}

// longest returns the rule with the longest "for" among those that decide the probe's
// result, its "for", and the interval of its collectors, if that is known.
func (p *checker) longest(a *probed) (name string, wait, interval time.Duration) {
	for _, r := range p.in.Rules {
		decides := r.Enforced && r.State == a.state && (a.rule == "" || a.rule == r.Name) && !slices.Contains(a.query["exclude"], r.Name)
		if decides && r.For > wait {
			name, wait, interval = r.Name, r.For, r.Interval
		}
	}
	return name, wait, interval
}

// actsAtOnce reports a liveness probe that restarts the workload because Vitals does not
// answer for a moment. The "for" of a rule does not cover that.
func (p *checker) actsAtOnce(a *probed) {
	without := a.Period * time.Duration(a.FailureThreshold-1)
	if a.own() || without >= absence || a.program == "vitals once" {
		return
	}
	key := "failureThreshold"
	if !a.Has(key) {
		key = "periodSeconds"
	}
	when := "at the first failure"
	if a.FailureThreshold > 1 {
		when = fmt.Sprintf("after %d failures within %s", a.FailureThreshold, formatDuration(without))
	}
	p.atProbe(a, key, "allow several failures over a longer time, such as periodSeconds: 10, failureThreshold: 3",
		"liveness restarts the container %s: a restart of Vitals, or %s without CPU, restarts the workload as well", when, formatDuration(absence))
}

// soonerThan reports a liveness probe that acts before the readiness probe. A workload that
// is not alive is not ready at the same moment, so only the kubelet's thresholds count.
func (p *checker) soonerThan(a, readiness *probed) {
	if patience(a.Probe) >= patience(readiness.Probe) {
		return
	}
	p.atProbe(a, "", "make readiness faster than liveness",
		"liveness restarts the container after %s, and readiness takes the pod out of service only after %s: requests still arrive when it is killed",
		formatDuration(patience(a.Probe)), formatDuration(patience(readiness.Probe)))
}

// probeTimeout finds probes whose timeout does not fit their period or their command.
func probeTimeout(p *checker) {
	for _, a := range p.all {
		if a.Timeout > a.Period {
			p.atProbe(a, "timeoutSeconds", "set timeoutSeconds to at most periodSeconds",
				"the timeout of %s is longer than the period of %s: a hang is detected after %s instead of %s",
				formatDuration(a.Timeout), formatDuration(a.Period), formatDuration(a.Timeout*time.Duration(a.FailureThreshold)), formatDuration(patience(a.Probe)))
		}
		if a.timeout >= a.Timeout {
			p.atProbe(a, a.key, fmt.Sprintf("set --timeout=%s, or a longer timeoutSeconds", a.Timeout-a.Timeout/10),
				"%s times out after %s, and the kubelet kills it after %s: it fails without a message", a.program, a.timeout, formatDuration(a.Timeout))
		}
	}
}

// probeMissing finds workloads that use Vitals only in part or not at all.
func probeMissing(p *checker) {
	for _, f := range p.in.Manifests {
		for i := range f.Pods {
			p.missingIn(f, &f.Pods[i])
		}
	}
	if len(p.all) == 0 && len(p.in.Manifests) > 0 && !p.runsSomewhere() {
		at := Finding{File: p.in.Manifests[0].Name, Line: 1, Col: 1}
		if i := slices.IndexFunc(p.in.Manifests, func(f *manifest.File) bool { return len(f.Pods) > 0 }); i >= 0 {
			pod := p.in.Manifests[i].Pods[0]
			at = Finding{File: p.in.Manifests[i].Name, Line: pod.Line, Col: pod.Col, Where: pod.Where}
		}
		p.report(Finding{
			File: at.File, Line: at.Line, Col: at.Col, Where: at.Where,
			Text: "no container is known to run Vitals, and no probe uses it: no probe was checked",
			Cure: "pass the manifest in which Vitals runs, or the configuration with its listen address (--config.file)",
		})
	}
}

// missingIn reports the probes that a pod lacks.
func (p *checker) missingIn(f *manifest.File, pod *manifest.Pod) {
	ready, any := false, false
	usesVitals := map[*manifest.Container]bool{}
	for _, a := range p.all {
		if a.pod == pod && a.state != "" {
			any = true
			ready = ready || a.Kind == manifest.Readiness
			usesVitals[a.container] = usesVitals[a.container] || !a.own()
		}
	}
	vitals := vitalsOf(pod)
	if vitals != nil && !any {
		p.atContainer(f, pod, vitals, "point the probes of the workload to /started, /alive and /ready", "no probe of the pod uses a state: the verdicts of Vitals have no effect")
	}
	for i := range pod.Containers {
		c := &pod.Containers[i]
		if !usesVitals[c] {
			continue
		}
		has := func(kind string) bool {
			return slices.ContainsFunc(c.Probes, func(probe manifest.Probe) bool { return probe.Kind == kind })
		}
		if !has(manifest.Readiness) && !ready {
			p.atContainer(f, pod, c, "add a readinessProbe with the path /ready", "there is no readinessProbe: the pod always stays in service")
		}
		switch {
		case !has(manifest.Liveness):
			p.atContainer(f, pod, c, "add a livenessProbe with the path /alive", "there is no livenessProbe: the container is not restarted when it is not alive")
		case !has(manifest.Startup):
			p.atContainer(f, pod, c, "add a startupProbe with the path /started", "there is no startupProbe: liveness starts before every collector has run once")
		}
	}
}

// atContainer reports a finding of the current check at a container.
func (p *checker) atContainer(f *manifest.File, pod *manifest.Pod, c *manifest.Container, cure, text string) {
	p.report(Finding{File: f.Name, Line: c.Line, Col: c.Col, Where: whereIn(pod, c), Text: text, Cure: cure})
}
