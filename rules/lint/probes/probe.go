package probes

import (
	"fmt"
	"net"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/vitals-health/vitals/internal/manifest"
)

// probed is a probe that uses Vitals, or is intended to.
type probed struct {
	file      *manifest.File
	pod       *manifest.Pod
	container *manifest.Container
	*manifest.Probe
	request
	vitals runner
}

// runner describes the Vitals of a pod.
type runner struct {
	// container is the container that runs it; nil if it is unknown.
	container *manifest.Container
	// listen holds its listen addresses. If sure is false, they are defaults.
	listen []listener
	sure   bool
}

// listener is an address on which Vitals listens.
type listener struct {
	host string
	port int
	// probes is set for the listener that serves only the states, never with TLS, and grpc
	// for the one that serves only gRPC.
	probes, grpc bool
}

func (l listener) String() string { return net.JoinHostPort(l.host, strconv.Itoa(l.port)) }

func (a *probed) where() string {
	return whereIn(a.pod, a.container) + ", " + a.Kind + "Probe"
}

// whereIn names a container and its object.
func whereIn(pod *manifest.Pod, c *manifest.Container) string {
	return strings.TrimPrefix(pod.Where+", container "+c.Name, ", ")
}

// own reports whether the probe belongs to the container of Vitals.
func (a *probed) own() bool { return a.container == a.vitals.container }

// atProbe reports a finding of the current check at a key of a probe.
func (p *checker) atProbe(a *probed, key, cure, text string, args ...any) *Finding {
	line, col := a.At(key)
	return p.report(Finding{File: a.file.Name, Line: line, Col: col, Where: a.where(), Text: fmt.Sprintf(text, args...), Cure: cure})
}

// probes returns the probes of the manifests that use Vitals. If a pod is known to run
// Vitals, other pods are ignored.
func (p *checker) probes() []*probed {
	var all []*probed
	p.each(func(a *probed, reason string) {
		if reason == "" {
			all = append(all, a)
		}
	})
	return all
}

// each calls visit for each probe of the manifests. reason is why it is not checked; it
// is empty for a probe that uses Vitals, or is intended to.
func (p *checker) each(visit func(a *probed, reason string)) {
	somewhere := p.runsSomewhere()
	for _, f := range p.in.Manifests {
		for i := range f.Pods {
			pod := &f.Pods[i]
			vitals := p.runner(pod)
			var all []*probed
			for j := range pod.Containers {
				c := &pod.Containers[j]
				for k := range c.Probes {
					a := &probed{file: f, pod: pod, container: c, Probe: &c.Probes[k], vitals: vitals}
					a.request = p.request(c, a.Probe)
					all = append(all, a)
				}
			}
			queried := p.queriedPorts(all)
			for _, a := range all {
				reason := ""
				switch {
				case somewhere && vitals.container == nil:
					reason = "its pod does not run Vitals, and another one does"
				case !p.targetsVitals(a, queried):
					reason = p.unrelated(a)
				}
				visit(a, reason)
			}
		}
	}
}

// runsSomewhere reports whether a container of the manifests is known to run Vitals.
func (p *checker) runsSomewhere() bool {
	return slices.ContainsFunc(p.in.Manifests, func(f *manifest.File) bool {
		return slices.ContainsFunc(f.Pods, func(pod manifest.Pod) bool { return vitalsOf(&pod) != nil })
	})
}

// runsVitals matches a shell command that starts Vitals.
var runsVitals = regexp.MustCompile(`(^|[\s/])vitals\s+(run|demo)\b`)

// vitalsOf returns the container of a pod that runs Vitals, or nil. It is recognised by its
// command, its image, its arguments or, last, its name.
func vitalsOf(pod *manifest.Pod) *manifest.Container {
	for _, isVitals := range []func(*manifest.Container) bool{
		func(c *manifest.Container) bool {
			return len(c.Command) > 0 && (path.Base(c.Command[0]) == "vitals" || runsVitals.MatchString(strings.Join(c.Command, " ")))
		},
		func(c *manifest.Container) bool {
			image, _, _ := strings.Cut(path.Base(c.Image), "@")
			image, _, _ = strings.Cut(image, ":")
			return image == "vitals"
		},
		func(c *manifest.Container) bool {
			return slices.Contains([]string{"run", "demo"}, firstOf(c.Command)) && len(flagValues(c, "config.file"))+len(flagValues(c, "profile")) > 0
		},
		func(c *manifest.Container) bool { return c.Name == "vitals" },
	} {
		for i := range pod.Containers {
			if isVitals(&pod.Containers[i]) {
				return &pod.Containers[i]
			}
		}
	}
	return nil
}

func firstOf(all []string) string {
	if len(all) == 0 {
		return ""
	}
	return all[0]
}

// runner returns the Vitals of a pod and its listen addresses: those of its flags, of the
// configuration, or the defaults.
func (p *checker) runner(pod *manifest.Pod) runner {
	r := runner{container: vitalsOf(pod), sure: true}
	add := func(address string, only listener) {
		host, port, err := net.SplitHostPort(address)
		number, wrong := strconv.Atoi(port)
		if err != nil || wrong != nil {
			r.sure = false // a variable, or an address that Vitals rejects
			return
		}
		only.host, only.port = host, number
		r.listen = append(r.listen, only)
	}
	var web []string
	if c := r.container; c != nil {
		for _, address := range flagValues(c, "probe.listen-address") {
			add(address, listener{probes: true})
		}
		for _, address := range flagValues(c, "grpc.listen-address") {
			add(address, listener{grpc: true})
		}
		web = flagValues(c, "web.listen-address")
		if slices.Contains(c.Command, "--web.systemd-socket") {
			r.sure = false
			return r
		}
	}
	switch {
	case len(web) > 0:
		for _, address := range web {
			add(address, listener{})
		}
	case p.in.ListenAddress != "":
		add(p.in.ListenAddress, listener{})
	default:
		r.sure = false
		r.listen = append(r.listen, assumed(pod, r.container)...)
	}
	return r
}

// assumed returns the ports that Vitals is assumed to listen on: those of its container, or
// else the default, unless another container has it. Any container may run Vitals if none is
// known to.
func assumed(pod *manifest.Pod, c *manifest.Container) []listener {
	var all []listener
	if c != nil {
		for _, port := range c.Ports {
			all = append(all, listener{port: port.Number})
		}
	}
	if len(all) == 0 && (c == nil || opened(pod, defaultPort, c) == nil) {
		all = append(all, listener{port: defaultPort})
	}
	return all
}

// opened returns the container, other than but, that declares a port.
func opened(pod *manifest.Pod, number int, but *manifest.Container) *manifest.Container {
	for i := range pod.Containers {
		c := &pod.Containers[i]
		if c != but && slices.ContainsFunc(c.Ports, func(port manifest.Port) bool { return port.Number == number }) {
			return c
		}
	}
	return nil
}

// at returns the listener of a port.
func (r runner) at(port int) (listener, bool) {
	i := slices.IndexFunc(r.listen, func(l listener) bool { return l.port == port })
	if i < 0 {
		return listener{}, false
	}
	return r.listen[i], true
}

// flagValues returns the values of a flag in a container's command, with variables of its
// environment expanded.
func flagValues(c *manifest.Container, name string) []string {
	var values []string
	for i, arg := range c.Command {
		value, ok := strings.CutPrefix(arg, "--"+name+"=")
		if !ok && arg == "--"+name && i+1 < len(c.Command) {
			value, ok = c.Command[i+1], true
		}
		if ok {
			values = append(values, expanded(c, value))
		}
	}
	return values
}

// reference matches a reference to a variable in a command, in the syntax of Kubernetes.
var reference = regexp.MustCompile(`\$\(([-._a-zA-Z][-._a-zA-Z0-9]*)\)`)

// expanded replaces the variables that have a value in the manifest. Others stay.
func expanded(c *manifest.Container, value string) string {
	return reference.ReplaceAllStringFunc(value, func(ref string) string {
		if known, ok := c.Env[ref[2:len(ref)-1]]; ok {
			return known
		}
		return ref
	})
}

// portNumber returns the port number of a probe; 0 for a name that its own container does
// not have.
func portNumber(c *manifest.Container, t manifest.Target) int {
	if t.Name == "" {
		return t.Port
	}
	for _, port := range c.Ports {
		if port.Name == t.Name {
			return port.Number
		}
	}
	return 0
}
