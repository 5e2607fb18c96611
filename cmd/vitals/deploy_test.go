package main

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"github.com/vitals-health/vitals/collectors"
)

const kuryrDeployment = "deploy/kubernetes/kuryr-controller.yaml"

// manifest is what the tests read of a Kubernetes object.
type manifest struct {
	Kind  string
	Rules []manifestRule
	Spec  struct {
		Template struct {
			Spec struct{ Containers []manifestContainer }
		}
	}
}

type manifestRule struct {
	APIGroups     []string `yaml:"apiGroups"`
	Resources     []string
	ResourceNames []string `yaml:"resourceNames"`
	Verbs         []string
}

type manifestContainer struct {
	Name    string
	Args    []string
	Ports   []manifestPort
	Mounts  []manifestMount `yaml:"volumeMounts"`
	Started manifestProbe   `yaml:"startupProbe"`
	Ready   manifestProbe   `yaml:"readinessProbe"`
	Alive   manifestProbe   `yaml:"livenessProbe"`
}

type manifestPort struct {
	Name   string
	Number string `yaml:"containerPort"`
}

type manifestMount struct {
	Name string
	Path string `yaml:"mountPath"`
}

type manifestProbe struct {
	Get struct{ Path, Port string } `yaml:"httpGet"`
}

// readManifests reads all objects of a file.
func readManifests(t *testing.T, file string) []manifest {
	t.Helper()
	var all []manifest
	d := yaml.NewDecoder(strings.NewReader(readDoc(t, file)))
	for {
		var m manifest
		if err := d.Decode(&m); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		all = append(all, m)
	}
}

// containers returns the containers of the deployment, by their names.
func containers(t *testing.T, file string) map[string]manifestContainer {
	t.Helper()
	found := map[string]manifestContainer{}
	for _, m := range readManifests(t, file) {
		for _, c := range m.Spec.Template.Spec.Containers {
			found[c.Name] = c
		}
	}
	if len(found["vitals"].Args) == 0 {
		t.Fatalf("%s has the containers %v, want one that is named vitals and has arguments", file, found)
	}
	return found
}

// grants writes every right of rules on a line of its own, sorted.
func grants(all []manifestRule) []string {
	var lines []string
	for _, r := range all {
		for _, group := range r.APIGroups {
			for _, resource := range r.Resources {
				for _, verb := range r.Verbs {
					if len(r.ResourceNames) == 0 {
						lines = append(lines, verb+" "+group+"/"+resource)
					}
					for _, name := range r.ResourceNames {
						lines = append(lines, verb+" "+group+"/"+resource+" "+name)
					}
				}
			}
		}
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}

// needs are the rights that a collector uses itself. What it asks about the workload
// is not among them: a right that came with Vitals would hide that the workload's
// own roles lack it.
func needs(k *collectors.KubernetesConfig) []string {
	var lines []string
	for _, resource := range k.Watch {
		if !strings.Contains(resource, "/") {
			resource = "/" + resource
		}
		lines = append(lines, "list "+resource, "watch "+resource)
	}
	for _, name := range k.CRDs {
		lines = append(lines, "get apiextensions.k8s.io/customresourcedefinitions "+name)
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}

func TestDeploymentGrantsWhatTheProfileNeeds(t *testing.T) {
	var got []manifestRule
	for _, m := range readManifests(t, kuryrDeployment) {
		got = append(got, m.Rules...)
	}
	p := &program{profile: "kuryr-controller"}
	l, errs := p.load()
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	if diff := cmp.Diff(needs(l.collector("kubernetes").Kubernetes), grants(got)); diff != "" {
		t.Errorf("rights of %s (-needed +granted):\n%s", kuryrDeployment, diff)
	}
}

// Every probe asks a port on which Vitals listens and a path that it serves.
func TestDeploymentProbesWhatIsServed(t *testing.T) {
	all := containers(t, kuryrDeployment)
	port := flagOf(t, all["vitals"].Args, "web.listen-address")
	names := []string{strings.TrimPrefix(port, ":")}
	for _, open := range all["vitals"].Ports {
		if ":"+open.Number != port {
			t.Errorf("containerPort %s, want that of --web.listen-address=%s", open.Number, port)
		}
	}
	_, config := markerConfig(t)
	p := &program{configFile: config}
	l, errs := p.load()
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	d, err := p.newDaemon(l, discard())
	if err != nil {
		t.Fatal(err)
	}
	handler := d.newServer(p, nil).Handler()
	probes := 0
	for _, c := range all {
		for _, probe := range []manifestProbe{c.Started, c.Ready, c.Alive} {
			if probe.Get.Path == "" {
				continue
			}
			probes++
			// Only the container's own ports have names.
			if ok := slices.Contains(names, probe.Get.Port) || slices.ContainsFunc(c.Ports, func(p manifestPort) bool { return p.Name == probe.Get.Port }); !ok {
				t.Errorf("%s: probe of port %q, want %v or a named port of the container", c.Name, probe.Get.Port, names)
			}
			answer := httptest.NewRecorder()
			handler.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, probe.Get.Path, nil))
			if answer.Code == http.StatusNotFound {
				t.Errorf("%s: probe of %s: %d, want a path that exists", c.Name, probe.Get.Path, answer.Code)
			}
		}
	}
	if probes < 4 {
		t.Errorf("%s has %d probes, want three of the workload and one of Vitals", kuryrDeployment, probes)
	}
}

// flagOf returns the value of a flag among arguments.
func flagOf(t *testing.T, args []string, name string) string {
	t.Helper()
	for _, a := range args {
		if value, ok := strings.CutPrefix(a, "--"+name+"="); ok {
			return value
		}
	}
	t.Fatalf("arguments %q, want --%s=... among them", args, name)
	return ""
}

// The arguments are a command and flags that exist, and what they name is mounted.
func TestDeploymentStartsVitals(t *testing.T) {
	vitals := containers(t, kuryrDeployment)["vitals"]
	flags := docCommands(t)[vitals.Args[0]]
	for _, a := range vitals.Args[1:] {
		name, _, _ := strings.Cut(strings.TrimPrefix(a, "--"), "=")
		if !slices.Contains(flags, name) {
			t.Errorf("vitals %s %s: there is no such flag, want one of %v", vitals.Args[0], a, flags)
		}
	}
	want := []string{filepath.Dir(flagOf(t, vitals.Args, "kuryr.conf")), filepath.Dir(poolsMarker), filepath.Dir(defaultSocket)}
	for _, dir := range want {
		if !slices.ContainsFunc(vitals.Mounts, func(m manifestMount) bool { return m.Path == dir }) {
			t.Errorf("mounts = %v, want %s among them", vitals.Mounts, dir)
		}
	}
}

// The image is built with the version of Go that the module asks for, runs as nobody
// special, and starts a command that exists.
func TestDockerfile(t *testing.T) {
	text := readDoc(t, "deploy/Dockerfile")
	version := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(readDoc(t, "go.mod"))[1]
	for _, line := range []string{
		"FROM golang:" + version + " AS build", "FROM scratch", "USER 65532:65532",
		"COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/",
	} {
		if !strings.Contains(text, "\n"+line+"\n") {
			t.Errorf("deploy/Dockerfile has no line %q, want it", line)
		}
	}
	command := regexp.MustCompile(`(?m)^CMD \["(\w+)", "--([a-z.]+)=`).FindStringSubmatch(text)
	if command == nil || !slices.Contains(docCommands(t)[command[1]], command[2]) {
		t.Errorf("deploy/Dockerfile starts %q, want a command with a flag that it has", command)
	}
}
