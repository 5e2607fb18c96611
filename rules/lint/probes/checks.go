package probes

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/vitals-health/vitals/internal/manifest"
	"github.com/vitals-health/vitals/internal/strictyaml"
)

// probePath finds probes that request a path, a state or a rule that does not exist.
func probePath(p *checker) {
	for _, a := range p.all {
		switch {
		case a.key == "" || a.key == "exec.command" && a.given == "" && a.path == "":
		case a.GRPC != nil:
			p.serviceOf(a)
		case a.state == "" && a.key == "exec.command" && a.path == "":
			p.atProbe(a, a.key, p.in.Suggest(a.given, p.names()), "there is no state %q: %s always fails", a.given, a.program)
		case a.state == "":
			p.unknownPath(a)
		case a.path != "":
			p.ruleOfPath(a)
			p.excludedRules(a)
		}
	}
}

// serviceOf reports a service of gRPC that does not exist.
func (p *checker) serviceOf(a *probed) {
	rules := p.rulesOf(a.state)
	switch {
	case strings.HasPrefix(a.Service, "component/"): // components report when Vitals runs
	case a.state == "":
		p.atProbe(a, a.key, p.in.Suggest(a.given, p.names()), "there is no service %q: Vitals always answers NOT_FOUND", a.Service)
	case a.given != a.Service && a.Service != "" && !slices.Contains(rules, a.rule):
		p.atProbe(a, a.key, p.in.Suggest(a.rule, rules), "%s has no rule %q: Vitals always answers NOT_FOUND", a.state, a.rule)
	}
}

// unknownPath reports a path that Vitals does not serve. Requests to another port are not
// checked.
func (p *checker) unknownPath(a *probed) {
	if _, here := a.vitals.at(a.port()); !here || alwaysAnswers(a.path) {
		return
	}
	if a.path == "/-/reload" || strings.HasPrefix(a.path, "/api/v1/components/") {
		p.atProbe(a, a.key, "use the path of a state, such as /ready", "%s does not accept GET: it always answers 405", a.path)
		return
	}
	known := []string{"/metrics", "/-/healthy", "/-/ready"}
	for _, name := range p.names() {
		known = append(known, "/"+name)
	}
	cure := "use a state that is configured: " + strings.Join(p.in.States, ", ")
	if near := strictyaml.Nearest(strings.TrimRight(strings.ToLower(a.path), "/"), known); near != "" {
		cure = fmt.Sprintf("did you mean %q?", near)
	}
	p.atProbe(a, a.key, cure, "there is no page %s: Vitals always answers 404", a.path)
}

// ruleOfPath reports a rule in the path that the state does not have.
func (p *checker) ruleOfPath(a *probed) {
	rest, one := strings.CutPrefix(a.path, "/"+a.given+"/")
	rules := p.rulesOf(a.state)
	switch {
	case !one || slices.Contains(rules, rest):
	case rest == "":
		p.atProbe(a, a.key, fmt.Sprintf("write /%s", a.given), "%s ends with a slash: Vitals reads an empty rule name and always answers 404", a.path)
	default:
		p.atProbe(a, a.key, p.in.Suggest(rest, rules), "%s has no rule %q: Vitals always answers 404", a.state, rest)
	}
}

// excludedRules reports excluded rules that the state does not have.
func (p *checker) excludedRules(a *probed) {
	rules := p.rulesOf(a.state)
	for _, name := range a.query["exclude"] {
		if !slices.Contains(rules, name) {
			p.atProbe(a, a.key, p.in.Suggest(name, rules), "%s has no rule %q to exclude: the parameter has no effect", a.state, name).Warning = true
		}
	}
}

// rulesOf returns the names of the rules of a state.
func (p *checker) rulesOf(state string) []string {
	var names []string
	for _, r := range p.in.Rules {
		if r.State == state {
			names = append(names, r.Name)
		}
	}
	return names
}

// alwaysAnswers reports whether a path of no state answers 200 whatever the verdicts are.
func alwaysAnswers(path string) bool {
	if slices.Contains([]string{"/", "/metrics", "/metrics/slis", "/config", "/-/healthy", "/-/ready", "/api/v1/status"}, path) {
		return true
	}
	for _, below := range []string{"/assets/", "/api/v1/verdict/", "/api/v1/explain/"} {
		if strings.HasPrefix(path, below) {
			return true
		}
	}
	return false
}

// probePort finds probes that do not reach Vitals.
func probePort(p *checker) {
	for _, a := range p.all {
		switch {
		case a.HTTP != nil && portNumber(a.container, a.HTTP.Target) == 0:
			p.unnamedPort(a)
		case a.HTTP != nil:
			p.listens(a)
		case a.GRPC != nil:
			p.servesGRPC(a)
		}
	}
}

// unnamedPort reports a port name that the container does not have. The kubelet then has no
// result and keeps its initial one (doProbe in
// k8s.io/kubernetes/pkg/kubelet/prober/worker.go).
func (p *checker) unnamedPort(a *probed) {
	effect := map[string]string{
		manifest.Startup: "the container never counts as started", manifest.Liveness: "liveness never restarts it",
		manifest.Readiness: "the pod never becomes ready",
	}[a.Kind]
	whose := ""
	if v := a.vitals.container; v != nil && v != a.container && slices.ContainsFunc(v.Ports, func(port manifest.Port) bool { return port.Name == a.HTTP.Name }) {
		whose = fmt.Sprintf(", and a probe cannot use the name of a port of the container %s", v.Name)
	}
	p.atProbe(a, "httpGet.port", "use the number of the port on which Vitals listens",
		"no port of the container %s is named %q%s: the kubelet cannot send a request, and %s", a.container.Name, a.HTTP.Name, whose, effect)
}

// listens reports a probe that does not reach Vitals.
func (p *checker) listens(a *probed) {
	at, here := a.vitals.at(portNumber(a.container, a.HTTP.Target))
	switch {
	case !here && a.vitals.sure:
		p.atProbe(a, "httpGet.port", "use a port on which it listens, or change --web.listen-address",
			"Vitals does not listen on port %d but on %s", portNumber(a.container, a.HTTP.Target), addresses(a.vitals.listen))
	case a.HTTP.Host != "" && !(a.pod.HostNetwork && loopback(a.HTTP.Host)):
		p.atProbe(a, "httpGet.host", "remove the host: the kubelet then uses the pod's address",
			"the kubelet connects to %s from the node, not to the pod: the answer does not depend on this pod", a.HTTP.Host)
	case here && at.grpc:
		p.atProbe(a, "httpGet.port", "use the port of --probe.listen-address, or a probe by gRPC",
			"Vitals serves only gRPC on %s, and answers 415 to other requests: the probe always fails", at)
	case here && loopback(at.host) && !loopback(a.HTTP.Host):
		p.atProbe(a, "httpGet.port", fmt.Sprintf("listen on all addresses, such as :%d", at.port),
			"Vitals listens on %s only, and the kubelet connects to the pod's address", at)
	case here && a.HTTP.Scheme == "HTTPS" && (at.probes || a.vitals.container != nil && len(flagValues(a.vitals.container, "web.config.file")) == 0):
		p.atProbe(a, "httpGet.scheme", "remove the scheme, or serve TLS with --web.config.file",
			"Vitals serves HTTP on %s, without TLS: the probe always fails", at)
	}
}

// servesGRPC reports a probe by gRPC that does not reach Vitals, which serves gRPC on each of
// its ports. The kubelet connects without TLS (Probe in k8s.io/kubernetes/pkg/probe/grpc).
func (p *checker) servesGRPC(a *probed) {
	at, here := a.vitals.at(a.port())
	switch {
	case !here && a.vitals.sure:
		p.atProbe(a, "grpc.port", "use a port on which it listens, or add --grpc.listen-address",
			"Vitals does not listen on port %d but on %s", a.port(), addresses(a.vitals.listen))
	case here && loopback(at.host):
		p.atProbe(a, "grpc.port", fmt.Sprintf("listen on all addresses, such as :%d", at.port),
			"Vitals listens on %s only, and the kubelet connects to the pod's address", at)
	case here && !at.probes && !at.grpc && a.vitals.container != nil && len(flagValues(a.vitals.container, "web.config.file")) > 0:
		p.atProbe(a, "grpc.port", "use the port of --probe.listen-address or --grpc.listen-address",
			"Vitals serves TLS on %s, and the kubelet's probe by gRPC uses none: the probe always fails", at)
	}
}

func loopback(host string) bool {
	return slices.Contains([]string{"127.0.0.1", "localhost", "::1"}, host)
}

func addresses(all []listener) string {
	var texts []string
	for _, l := range all {
		texts = append(texts, l.String())
	}
	return strings.Join(texts, ", ")
}

// probeVacuous finds probes that pass whatever the verdicts are.
func probeVacuous(p *checker) {
	for _, a := range p.all {
		switch cure := "use the path of a state: " + pathFor(a.Kind); {
		case a.own() && a.passes == "":
			// The container of Vitals itself needs only a probe that Vitals answers.
		case a.TCP != nil:
			p.atProbe(a, "tcpSocket", cure, "the probe passes while Vitals accepts connections, whatever the verdicts are")
		case a.passes != "":
			p.atProbe(a, a.key, cure, "the probe always passes: %s", a.passes)
		case a.passesAlone && a.Kind == manifest.Readiness:
			p.atProbe(a, a.key, "use --no-daemon=pass for startup and liveness only", "readiness passes while Vitals is away, whatever the state of the workload is").Warning = true
		case strings.HasPrefix(a.path, "/-/") && alwaysAnswers(a.path):
			p.atProbe(a, a.key, cure, "%s reports the health of Vitals, not of the workload", a.path)
		case a.state == "" && alwaysAnswers(a.path):
			p.atProbe(a, a.key, cure, "%s answers 200 whatever the verdicts are", a.path)
		}
	}
}

// pathFor returns the path for a kind of probe.
func pathFor(kind string) string {
	return map[string]string{manifest.Startup: "/started", manifest.Liveness: "/alive", manifest.Readiness: "/ready"}[kind]
}

// probeWrongState finds probes that use the state of another kind of probe.
func probeWrongState(p *checker) {
	for _, a := range p.all {
		cure := "use " + pathFor(a.Kind)
		switch {
		case a.Kind == manifest.Liveness && a.state == "ready":
			p.atProbe(a, a.key, cure, "liveness uses ready (%s): an outage of a dependency would restart the container, and a restart does not fix it", a.given)
		case a.Kind == manifest.Liveness && a.own() && a.state != "" && len(a.pod.Containers) > 1:
			p.atProbe(a, a.key, "use /-/healthy here, and /alive in the container of the workload",
				"the probe restarts Vitals, not the workload, when the workload is not alive").Warning = true
		case a.Kind != manifest.Startup && a.state == "started":
			p.atProbe(a, a.key, cure, "%s uses started, which never fails again once it has passed", a.Kind).Warning = true
		case a.Kind == manifest.Readiness && a.state == "alive":
			p.atProbe(a, a.key, cure, "readiness uses alive (%s): the pod stays in service while its dependencies are down", a.given).Warning = true
		case a.Kind == manifest.Startup && a.state == "ready":
			p.atProbe(a, a.key, cure, "startup uses ready (%s): during an outage of a dependency, a new container is killed after %s, again and again",
				a.given, formatDuration(patience(a.Probe))).Warning = true
		}
	}
}

// patience returns the longest time for which a probe fails before the kubelet acts.
func patience(p *manifest.Probe) time.Duration { return p.Period * time.Duration(p.FailureThreshold) }
