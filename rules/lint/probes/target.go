package probes

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vitals-health/vitals/internal/manifest"
	"github.com/vitals-health/vitals/internal/strictyaml"
)

// target returns the port of a probe; ok is false for a probe that connects to none.
func (a *probed) target() (t manifest.Target, ok bool) {
	switch {
	case a.HTTP != nil:
		return a.HTTP.Target, true
	case a.TCP != nil:
		return *a.TCP, true
	case a.GRPC != nil:
		return *a.GRPC, true
	case a.connects != 0:
		return manifest.Target{Port: a.connects}, true
	}
	return manifest.Target{}, false
}

// port returns the number of the port that a probe connects to; 0 if there is none or it is
// unknown.
func (a *probed) port() int {
	t, _ := a.target()
	return portNumber(a.container, t)
}

// queriedPorts returns the ports of Vitals at which a probe of a pod requests a state, or
// what resembles one. Where no container is known to run Vitals, all probes at these ports
// use it.
func (p *checker) queriedPorts(all []*probed) []int {
	var ports []int
	for _, a := range all {
		if _, here := a.vitals.at(a.port()); here && p.resembles(a) {
			ports = append(ports, a.port())
		}
	}
	return ports
}

// resembles reports whether a probe requests a state, or a path similar to that of a state.
func (p *checker) resembles(a *probed) bool {
	if a.GRPC != nil && a.Service == "" {
		return false // any server may have it
	}
	if a.given != "" {
		return true
	}
	return a.path != "" && p.nearState(a.path) != ""
}

// nearState returns the path of a state that is similar to a path, or "".
func (p *checker) nearState(path string) string {
	var known []string
	for _, name := range p.names() {
		known = append(known, "/"+name)
	}
	return strictyaml.Nearest(strings.TrimRight(strings.ToLower(path), "/"), known)
}

// targetsVitals reports whether a probe uses Vitals, or is intended to: by a port on which
// Vitals listens, by a path of Vitals on a port that no other container has, or by a
// program of Vitals. queried are the ports of queriedPorts.
func (p *checker) targetsVitals(a *probed, queried []int) bool {
	_, connects := a.target()
	port := a.port()
	_, here := a.vitals.at(port)
	switch {
	case !connects:
		return a.program != "" || a.passes != "" && a.vitals.container != nil
	case a.vitals.container == nil:
		return here && slices.Contains(queried, port)
	case a.TCP != nil:
		return here && !a.own()
	case a.own(), here:
		return true
	}
	return p.reachesVitals(a, port)
}

// reachesVitals reports whether a probe at a port on which Vitals is not known to listen is
// intended to use it.
func (p *checker) reachesVitals(a *probed, port int) bool {
	ours := a.given != "" && (a.GRPC == nil || a.Service != "") || strings.HasPrefix(a.path, "/-/")
	if port == 0 {
		return ours || a.HTTP != nil && slices.ContainsFunc(a.vitals.container.Ports, func(port manifest.Port) bool { return port.Name == a.HTTP.Name })
	}
	holder := opened(a.pod, port, nil)
	return holder != nil && holder == a.vitals.container || ours && holder == nil
}

// unrelated explains why a probe does not use Vitals.
func (p *checker) unrelated(a *probed) string {
	t, connects := a.target()
	port := a.port()
	_, here := a.vitals.at(port)
	switch {
	case len(a.Exec) > 0 && !connects:
		return "its command is not known to query Vitals"
	case !connects:
		return "it has no handler"
	case port == 0:
		return fmt.Sprintf("its port %q is none of Vitals", t.Name)
	case here && a.vitals.container == nil:
		return fmt.Sprintf("no container is known to run Vitals, and no probe at port %d requests a state", port)
	case here:
		return "it belongs to Vitals itself, and only opens a connection"
	}
	if holder := opened(a.pod, port, nil); holder != nil {
		return fmt.Sprintf("port %d belongs to the container %s", port, holder.Name)
	}
	return fmt.Sprintf("port %d is none of Vitals: %s", port, addresses(a.vitals.listen))
}
