package probes

import (
	"fmt"
	"slices"

	"github.com/vitals-health/vitals/internal/manifest"
)

// defaultPort is where Vitals listens if neither a flag nor the configuration sets a port.
const defaultPort = 8080

// probeFallback finds a Vitals that goes on with an invalid configuration
// (--on-config-error=serve) while probes use a port that only the configuration sets. It then
// listens on the default port, and each of these probes fails.
func probeFallback(p *checker) {
	var reported []*manifest.Container
	for _, a := range p.all {
		v := a.vitals.container
		port := a.port()
		if a.Kind == manifest.Readiness || v == nil || slices.Contains(reported, v) || !a.vitals.fallsBack(port) {
			continue
		}
		reported = append(reported, v)
		p.atContainer(a.file, a.pod, v, fmt.Sprintf("add --web.listen-address=:%d, or --probe.listen-address=:%d", port, port), fmt.Sprintf(
			"no flag sets port %d: while the configuration is invalid, Vitals listens on port %d, and the kubelet restarts the container %s", port, defaultPort, a.container.Name))
	}
}

// fallsBack reports whether Vitals certainly does not listen on a port while its
// configuration is invalid, and may listen on it otherwise.
func (r runner) fallsBack(port int) bool {
	at, here := r.at(port)
	if at.probes || at.grpc || len(flagValues(r.container, "web.listen-address")) > 0 || slices.Contains(r.container.Command, "--web.systemd-socket") {
		return false
	}
	if len(flagValues(r.container, "probe.listen-address")) > 0 && !slices.ContainsFunc(r.listen, func(l listener) bool { return l.probes }) {
		return false // its address is a variable
	}
	serves := slices.Contains(flagValues(r.container, "on-config-error"), "serve")
	return serves && port != 0 && port != defaultPort && (here || !r.sure)
}
