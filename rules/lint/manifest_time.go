package lint

import (
	"fmt"
	"slices"
	"time"

	"github.com/vitals-health/vitals/internal/manifest"
)

// stallLimit is how old a verdict may be before Vitals calls its evaluator stalled; with
// long intervals it may be older.
const stallLimit = 5 * time.Second

// probePatience finds probes whose patience adds to that of the rules, or that lack it.
func probePatience(p *pass) {
	all := p.probes()
	for _, a := range all {
		switch {
		case a.state == "":
		case a.Kind == manifest.Readiness:
			p.waitsTwice(a)
		case a.Kind == manifest.Liveness:
			p.actsAtOnce(a)
			for _, other := range all {
				if other.container == a.container && other.Kind == manifest.Readiness && other.state != "" {
					p.soonerThan(a, other)
				}
			}
		}
	}
}

// waitsTwice reports readiness that waits for several failures of rules that have waited.
func (p *pass) waitsTwice(a *probed) {
	name, wait, interval := p.longest(a)
	if wait == 0 || a.FailureThreshold < 2 {
		return
	}
	round := ""
	if interval > 0 {
		round = fmt.Sprintf("up to %s until the next collection, ", lasts(interval))
	}
	p.atProbe(a, "failureThreshold", "set failureThreshold: 1 for readiness: the rules already wait (\"for\")",
		"readiness waits twice: %s%s in the rule %s, then %d failures every %s: after a fault the pod stays in service for up to %s",
		round, lasts(wait), name, a.FailureThreshold, lasts(a.Period), lasts(interval+wait+patience(a.Probe)))
}

// longest returns the rule that waits longest of those that decide what a probe asks for,
// its for, and how long its collectors take until they measure again, where that is known.
func (p *pass) longest(a *probed) (name string, wait, interval time.Duration) {
	for _, s := range p.subjects {
		r := s.rule
		asked := s.obeyed() && r.State == a.state && (a.rule == "" || a.rule == r.Alert) && !slices.Contains(a.query["exclude"], r.Alert)
		if !asked || r.For <= wait {
			continue
		}
		name, wait, interval = r.Alert, r.For, 0
		for _, l := range p.leaves(r) {
			for _, m := range p.sources(l.selector) {
				interval = max(interval, m.Interval)
			}
		}
	}
	return name, wait, interval
}

// actsAtOnce reports liveness that restarts the workload for a Vitals that does not
// answer: no rule's for covers that.
func (p *pass) actsAtOnce(a *probed) {
	without := a.Period * time.Duration(a.FailureThreshold-1)
	if a.own() || without >= stallLimit || a.program == "vitals once" {
		return
	}
	key := "failureThreshold"
	if !a.Has(key) {
		key = "periodSeconds"
	}
	when := "at the first failure"
	if a.FailureThreshold > 1 {
		when = fmt.Sprintf("after %d failures within %s", a.FailureThreshold, lasts(without))
	}
	p.atProbe(a, key, "allow several failures over a longer time, such as periodSeconds: 10, failureThreshold: 3",
		"liveness restarts the container %s: a restart of Vitals, or a stall of %s, restarts the workload as well", when, lasts(stallLimit))
}

// soonerThan reports liveness that acts before readiness does. What is not alive is not
// ready at the same moment, so only the kubelet's own patience counts.
func (p *pass) soonerThan(a, readiness *probed) {
	if patience(a.Probe) >= patience(readiness.Probe) {
		return
	}
	p.atProbe(a, "", "make readiness faster than liveness",
		"liveness restarts the container after %s, and readiness takes the pod out of service only after %s: requests still arrive when it is killed",
		lasts(patience(a.Probe)), lasts(patience(readiness.Probe)))
}

// probeTimeout finds probes whose timeout does not fit their period or their program.
func probeTimeout(p *pass) {
	for _, a := range p.probes() {
		if a.Timeout > a.Period {
			p.atProbe(a, "timeoutSeconds", "set timeoutSeconds to at most periodSeconds",
				"the timeout of %s is longer than the period of %s: a hang is detected after %s instead of %s",
				lasts(a.Timeout), lasts(a.Period), lasts(a.Timeout*time.Duration(a.FailureThreshold)), lasts(patience(a.Probe)))
		}
		if a.timeout >= a.Timeout {
			p.atProbe(a, a.key, fmt.Sprintf("set --timeout=%s, or a longer timeoutSeconds", a.Timeout-a.Timeout/10),
				"%s times out after %s, and the kubelet kills it after %s: it fails without a message", a.program, a.timeout, lasts(a.Timeout))
		}
	}
}

// probeMissing finds workloads that use only a part of what Vitals has to say, or nothing.
func probeMissing(p *pass) {
	all := p.probes()
	for _, f := range p.opts.Manifests {
		for i := range f.Pods {
			p.missingIn(f, &f.Pods[i], all)
		}
	}
	if len(all) == 0 && len(p.opts.Manifests) > 0 && !p.runsSomewhere() {
		f := p.opts.Manifests[0]
		p.report(Finding{
			File: f.Name, Line: f.Pods[0].Line, Col: f.Pods[0].Col, Where: f.Pods[0].Where,
			Text: "no container is known to run Vitals, and no probe uses it: no probe was checked",
			Cure: "pass the manifest in which Vitals runs, or the configuration with its listen address (--config.file)",
		})
	}
}

// missingIn reports what the probes of a pod leave out.
func (p *pass) missingIn(f *manifest.File, pod *manifest.Pod, all []*probed) {
	ready, any := false, false
	asking := map[*manifest.Container]bool{}
	for _, a := range all {
		if a.pod == pod && a.state != "" {
			any = true
			ready = ready || a.Kind == manifest.Readiness
			asking[a.container] = asking[a.container] || !a.own()
		}
	}
	vitals := vitalsOf(pod)
	if vitals != nil && !any {
		p.atContainer(f, pod, vitals, "point the probes of the workload to /started, /alive and /ready", "no probe of the pod uses a state: the verdicts of Vitals have no effect")
	}
	for i := range pod.Containers {
		c := &pod.Containers[i]
		if !asking[c] {
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
func (p *pass) atContainer(f *manifest.File, pod *manifest.Pod, c *manifest.Container, cure, text string) {
	p.report(Finding{File: f.Name, Line: c.Line, Col: c.Col, Where: whereIn(pod, c), Text: text, Cure: cure})
}
