// Package manifest reads of Kubernetes manifests what decides how a container is probed:
// its arguments, its ports and its probes, each with its place in the file. All else is
// left to the API server.
package manifest

import (
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/vitals-health/vitals/internal/strictyaml"
)

// File is a file of manifests.
type File struct {
	Name string
	Text []byte
	// Pods are the pods, and the templates of pods, in the order of the file.
	Pods []Pod
}

// Pod is a pod, or the template of one.
type Pod struct {
	// Where names the object that it stands in, such as "Deployment my-app".
	Where string
	Lines
	HostNetwork bool
	// Containers are those that run all the time: init containers that are restarted for
	// ever, which are sidecars, and then the others.
	Containers []Container
}

// Lines are where something stands: its beginning, and its last line. They count from 1.
type Lines struct {
	Line, Col, Last int
}

// Container is a container.
type Container struct {
	Name, Image string
	Lines
	// Command is what is started: the command and its arguments. Where the command is
	// that of the image, it has the arguments only.
	Command []string
	// Env is the environment as far as it is written down here.
	Env    map[string]string
	Ports  []Port
	Probes []Probe
}

// Port is a port that a container says to open.
type Port struct {
	Name   string
	Number int
}

// The kinds of probes.
const (
	Startup   = "startup"
	Liveness  = "liveness"
	Readiness = "readiness"
)

// Probe is a probe with the defaults of the API server for what it leaves out: see
// SetDefaults_Probe in k8s.io/kubernetes/pkg/apis/core/v1/defaults.go.
type Probe struct {
	// Kind is Startup, Liveness or Readiness.
	Kind string
	Lines
	// Exactly one of these says what is asked; none where the probe says nothing that is
	// known here.
	HTTP *HTTP
	Exec []string
	TCP  *Target
	GRPC *Target

	InitialDelay, Period, Timeout      time.Duration
	FailureThreshold, SuccessThreshold int

	places map[string]Lines
}

// Target is where a probe asks.
type Target struct {
	// Host is empty for the address of the pod.
	Host string
	// Port is the number as it is written, or 0; then Name is the name of a port.
	Port int
	Name string
}

// HTTP is a request. Any answer from 200 to 399 is a success.
type HTTP struct {
	Target
	// Scheme is HTTP or HTTPS, and Path is "/" where it is left out.
	Scheme, Path string
}

// At returns where a key of the probe stands, such as "httpGet.path", or the probe itself
// where it has no such key.
func (p *Probe) At(key string) (line, col int) {
	at, ok := p.places[key]
	if !ok {
		at = p.Lines
	}
	return at.Line, at.Col
}

// Has says whether the probe has a key, such as "failureThreshold".
func (p *Probe) Has(key string) bool {
	_, ok := p.places[key]
	return ok
}

// Read reads the objects of a file that have containers. The mistakes are those that keep
// a probe from being understood, and a file without any container. The file is never nil.
func Read(name string, data []byte) (*File, []error) {
	f := &File{Name: name, Text: data}
	roots, err := strictyaml.Documents(name, data)
	r := &reader{file: f}
	for _, root := range roots {
		r.object(root)
	}
	switch {
	case err != nil:
		r.errs = append(r.errs, err)
	case len(f.Pods) == 0 && len(r.errs) == 0:
		r.errs = append(r.errs, &strictyaml.Error{File: name, Line: 1, Col: 1, Text: "no object with containers, expected a Pod, Deployment, DaemonSet, StatefulSet, ReplicaSet, Job, CronJob or a List of them"})
	}
	return f, r.errs
}

// reader reads one file and gathers its mistakes.
type reader struct {
	file *File
	errs []error
}

// object reads an object, or the items of a list.
func (r *reader) object(n *yaml.Node) {
	kind := text(get(n, "kind"))
	if items := get(n, "items"); strings.HasSuffix(kind, "List") && items != nil {
		for _, item := range elements(items) {
			r.object(item)
		}
		return
	}
	where := strings.TrimSpace(kind + " " + text(get(n, "metadata", "name")))
	for _, path := range [][]string{{"spec"}, {"spec", "template", "spec"}, {"spec", "jobTemplate", "spec", "template", "spec"}, {"template", "spec"}} {
		if spec := get(n, path...); get(spec, "containers") != nil {
			r.pod(spec, where)
		}
	}
}

func (r *reader) pod(spec *yaml.Node, where string) {
	pod := Pod{Where: where, Lines: lines(spec, spec), HostNetwork: text(get(spec, "hostNetwork")) == "true"}
	for _, c := range elements(get(spec, "initContainers")) {
		if text(get(c, "restartPolicy")) == "Always" {
			pod.Containers = append(pod.Containers, r.container(c))
		}
	}
	for _, c := range elements(get(spec, "containers")) {
		pod.Containers = append(pod.Containers, r.container(c))
	}
	r.file.Pods = append(r.file.Pods, pod)
}

func (r *reader) container(n *yaml.Node) Container {
	c := Container{
		Name: text(get(n, "name")), Image: text(get(n, "image")), Lines: lines(n, n),
		Command: append(texts(get(n, "command")), texts(get(n, "args"))...), Env: map[string]string{},
	}
	for _, e := range elements(get(n, "env")) {
		if value := get(e, "value"); value != nil {
			c.Env[text(get(e, "name"))] = text(value)
		}
	}
	for _, p := range elements(get(n, "ports")) {
		number, ok := r.number(get(p, "containerPort"), "containerPort")
		if ok {
			r.port(get(p, "containerPort"), "containerPort", number)
		}
		c.Ports = append(c.Ports, Port{text(get(p, "name")), number})
	}
	for _, kind := range []string{Startup, Liveness, Readiness} {
		if key, value := entry(n, kind+"Probe"); value != nil {
			c.Probes = append(c.Probes, r.probe(kind, key, value))
		}
	}
	return c
}
