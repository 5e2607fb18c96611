package probes

import (
	"slices"

	"github.com/vitals-health/vitals/internal/manifest"
)

// probeAbsence finds workloads that are restarted because Vitals is not there: an exec probe
// that fails without a daemon, and a Vitals that exits if its configuration is invalid.
func probeAbsence(p *checker) {
	var reported []*manifest.Container
	for _, a := range p.all {
		if a.Kind == manifest.Readiness || a.own() || a.state == "" {
			continue
		}
		if a.failsAlone && a.passes == "" {
			p.atProbe(a, a.key, "add --no-daemon=pass", "%s fails without a daemon: while Vitals is away, the kubelet restarts this container", a.program)
		}
		v := a.vitals.container
		if v == nil || !exitsOnConfigError(v) || slices.Contains(reported, v) {
			continue
		}
		reported = append(reported, v)
		p.atContainer(a.file, a.pod, v, "add --on-config-error=serve to vitals run: ready then fails with the mistake, and alive passes",
			"Vitals exits if its configuration is invalid: the kubelet then restarts the container "+a.container.Name)
	}
}

// exitsOnConfigError reports whether a container is known to run Vitals with the default of
// --on-config-error.
func exitsOnConfigError(c *manifest.Container) bool {
	runs := len(flagValues(c, "config.file"))+len(flagValues(c, "profile")) > 0
	return runs && !slices.Contains(flagValues(c, "on-config-error"), "serve")
}
