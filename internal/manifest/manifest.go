// Package manifest reads the probes of containers from Kubernetes manifests, with the
// containers' arguments and ports and the positions in the file. It does not validate the
// rest of a manifest.
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
	// Pods are the pods and pod templates in the order of the file.
	Pods []Pod
	// Blocks are the texts of literal blocks, such as the files of a ConfigMap. Their lines are
	// no comments of the manifest.
	Blocks []Lines
}

// Pod is a pod, or the template of one.
type Pod struct {
	// Where is the object that contains the pod, such as "Deployment my-app".
	Where string
	Lines
	HostNetwork bool
	// Containers are the sidecars, that is init containers with restartPolicy Always, and
	// then the other containers. Other init containers have no probes.
	Containers []Container
}

// Lines are the position of a node: its first line and column, and its last line. The
// first line and column of a file are 1.
type Lines struct {
	Line, Col, Last int
}

// Container is a container.
type Container struct {
	Name, Image string
	Lines
	// Command is the command and its arguments. If the command is that of the image, it has
	// the arguments only.
	Command []string
	// Env is the environment, without variables that refer to other objects.
	Env map[string]string
	// Variables are the names of all variables. AnyVariable is set if there may be more of them, from
	// an object that the file does not have.
	Variables   []string
	AnyVariable bool
	WorkingDir  string
	Mounts      []Mount
	Ports       []Port
	Probes      []Probe
}

// Port is a port of a container.
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

// Probe is a probe with the API server's defaults for missing keys: see
// SetDefaults_Probe in k8s.io/kubernetes/pkg/apis/core/v1/defaults.go.
type Probe struct {
	// Kind is Startup, Liveness or Readiness.
	Kind string
	Lines
	// At most one of these is set; none for a handler that this package does not support.
	HTTP *HTTP
	Exec []string
	TCP  *Target
	GRPC *Target
	// Service is that of GRPC. Empty is the service of the server itself.
	Service string

	InitialDelay, Period, Timeout      time.Duration
	FailureThreshold, SuccessThreshold int

	places map[string]Lines
}

// Target is the address of a probe.
type Target struct {
	// Host is empty for the address of the pod.
	Host string
	// Port is the number, or 0 if the probe has the Name of a port.
	Port int
	Name string
}

// HTTP is an HTTP probe. Statuses from 200 to 399 are a success.
type HTTP struct {
	Target
	// Scheme is HTTP or HTTPS. The default of Path is "/".
	Scheme, Path string
}

// At returns the position of a key of the probe, such as "httpGet.path", or that of the
// probe if it has no such key.
func (p *Probe) At(key string) (line, col int) {
	at, ok := p.places[key]
	if !ok {
		at = p.Lines
	}
	return at.Line, at.Col
}

// Has reports whether the probe has a key, such as "failureThreshold".
func (p *Probe) Has(key string) bool {
	_, ok := p.places[key]
	return ok
}

// Read reads the objects with containers from a file. Mistakes are probes that cannot be
// parsed and a file without containers. The file is never nil.
func Read(name string, data []byte) (*File, []error) {
	f := &File{Name: name, Text: data}
	roots, err := strictyaml.Documents(name, data)
	r := &reader{file: f, objects: map[string][]string{}}
	for _, root := range roots {
		r.index(root)
	}
	for _, root := range roots {
		r.object(root)
		r.blocks(root)
	}
	switch {
	case err != nil:
		r.errs = append(r.errs, err)
	case len(f.Pods) == 0 && len(r.errs) == 0:
		r.errs = append(r.errs, &strictyaml.Error{File: name, Line: 1, Col: 1, Text: "no object with containers, expected a Pod, Deployment, DaemonSet, StatefulSet, ReplicaSet, Job, CronJob or a List of them"})
	}
	return f, r.errs
}

// reader reads a file and collects its mistakes.
type reader struct {
	file *File
	// objects are the keys of the ConfigMaps and Secrets, by KIND/NAME.
	objects map[string][]string
	errs    []error
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

// blocks collects the literal blocks of a node. It does not follow aliases.
func (r *reader) blocks(n *yaml.Node) {
	if n.Kind == yaml.ScalarNode && n.Style&yaml.LiteralStyle != 0 {
		last := n.Line + strings.Count(strings.TrimSuffix(n.Value, "\n"), "\n") + 1
		r.file.Blocks = append(r.file.Blocks, Lines{Line: n.Line + 1, Col: 1, Last: last})
	}
	for _, c := range n.Content {
		r.blocks(c)
	}
}

func (r *reader) pod(spec *yaml.Node, where string) {
	pod := Pod{Where: where, Lines: lines(spec, spec), HostNetwork: text(get(spec, "hostNetwork")) == "true"}
	for _, c := range elements(get(spec, "initContainers")) {
		if text(get(c, "restartPolicy")) == "Always" {
			pod.Containers = append(pod.Containers, r.container(c, spec))
		}
	}
	for _, c := range elements(get(spec, "containers")) {
		pod.Containers = append(pod.Containers, r.container(c, spec))
	}
	r.file.Pods = append(r.file.Pods, pod)
}

func (r *reader) container(n, pod *yaml.Node) Container {
	c := Container{
		Name: text(get(n, "name")), Image: text(get(n, "image")), Lines: lines(n, n),
		Command: append(texts(get(n, "command")), texts(get(n, "args"))...), Env: map[string]string{},
		WorkingDir: text(get(n, "workingDir")), Mounts: r.mounts(n, pod),
	}
	r.variables(&c, n)
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
