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

	"github.com/vitals-health/vitals/collectors/kubernetes"
	"github.com/vitals-health/vitals/internal/config"
	"github.com/vitals-health/vitals/internal/listen"
)

// deployment is a file of deploy/kubernetes, and what Vitals runs there.
type deployment struct {
	file, profile string
	// mounts are directories that Vitals needs in addition to those that its flags name.
	mounts []string
}

func deployments() []deployment {
	return []deployment{
		{"deploy/kubernetes/kuryr-controller.yaml", "kuryr-controller", []string{"/tmp"}},
		{"deploy/kubernetes/kuryr-cni.yaml", "kuryr-cni", []string{"/host/sys/fs/cgroup"}},
	}
}

// eachDeployment runs a test for every deployment.
func eachDeployment(t *testing.T, test func(*testing.T, deployment)) {
	for _, d := range deployments() {
		t.Run(filepath.Base(d.file), func(t *testing.T) { test(t, d) })
	}
}

// load loads the profile of the deployment, with the variables that it sets.
func (d deployment) load(t *testing.T) *config.Loaded {
	t.Helper()
	p := &program{profile: d.profile, set: map[string]string{}}
	for _, a := range containers(t, d.file)["vitals"].Args {
		if name, value, ok := strings.Cut(strings.TrimPrefix(a, "--set="), "="); ok && strings.HasPrefix(a, "--set=") {
			p.set[name] = value
		}
	}
	l, errs := p.load()
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	return l
}

// kubeObject has the fields of a Kubernetes object that the tests read.
type kubeObject struct {
	Kind  string
	Rules []manifestRule
	Spec  struct {
		Template struct {
			Spec struct {
				HostNetwork           bool `yaml:"hostNetwork"`
				ShareProcessNamespace bool `yaml:"shareProcessNamespace"`
				Containers            []manifestContainer
				Volumes               []manifestVolume
			}
		}
	}
}

type manifestVolume struct {
	Name string
	Host struct{ Path string } `yaml:"hostPath"`
}

type manifestRule struct {
	APIGroups     []string `yaml:"apiGroups"`
	Resources     []string
	ResourceNames []string `yaml:"resourceNames"`
	Verbs         []string
}

type manifestContainer struct {
	Name     string
	Args     []string
	Env      []struct{ Name, Value string }
	Security struct {
		RunAsNonRoot bool  `yaml:"runAsNonRoot"`
		ReadOnlyRoot bool  `yaml:"readOnlyRootFilesystem"`
		Escalation   *bool `yaml:"allowPrivilegeEscalation"`
		Capabilities struct{ Add, Drop []string }
	} `yaml:"securityContext"`
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
	Name     string
	Path     string `yaml:"mountPath"`
	ReadOnly bool   `yaml:"readOnly"`
}

type manifestProbe struct {
	Get      struct{ Path, Port string } `yaml:"httpGet"`
	Period   int                         `yaml:"periodSeconds"`
	Failures int                         `yaml:"failureThreshold"`
}

// readManifests reads all objects of a file.
func readManifests(t *testing.T, file string) []kubeObject {
	t.Helper()
	var all []kubeObject
	d := yaml.NewDecoder(strings.NewReader(readDoc(t, file)))
	for {
		var m kubeObject
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

// grants returns the rights of rules, one per line, sorted.
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

// needs are the rights that a collector uses itself. Its access reviews for the workload
// is not among them: a right that came with Vitals would hide that the workload's
// own roles lack it.
func needs(k *kubernetes.Config) []string {
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
	eachDeployment(t, func(t *testing.T, d deployment) {
		var got []manifestRule
		for _, m := range readManifests(t, d.file) {
			got = append(got, m.Rules...)
		}
		if diff := cmp.Diff(needs(collectorNamed(d.load(t), "kubernetes").Kubernetes), grants(got)); diff != "" {
			t.Errorf("rights of %s (-needed +granted):\n%s", d.file, diff)
		}
	})
}

// Every probe uses the port on which Vitals listens for probes and a path that it serves there.
func TestDeploymentProbesWhatIsServed(t *testing.T) { eachDeployment(t, probesWhatIsServed) }

func probesWhatIsServed(t *testing.T, of deployment) {
	all := containers(t, of.file)
	port := flagOf(t, all["vitals"].Args, "probe.listen-address")
	names := []string{strings.TrimPrefix(port, ":")}
	for _, open := range all["vitals"].Ports {
		if ":"+open.Number != port {
			t.Errorf("containerPort %s, want that of --probe.listen-address=%s", open.Number, port)
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
	handler := d.newServer(p, nil).Probes()
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
		t.Errorf("%s has %d probes, want three of the workload and one of Vitals", of.file, probes)
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

// The arguments are a command and flags that exist, and what they and the profile name
// is mounted.
func TestDeploymentStartsVitals(t *testing.T) {
	eachDeployment(t, func(t *testing.T, d deployment) {
		vitals := containers(t, d.file)["vitals"]
		flags := docCommands(t)[vitals.Args[0]]
		for _, a := range vitals.Args[1:] {
			name, _, _ := strings.Cut(strings.TrimPrefix(a, "--"), "=")
			if !slices.Contains(flags, name) {
				t.Errorf("vitals %s %s: there is no such flag, want one of %v", vitals.Args[0], a, flags)
			}
		}
		if got := flagOf(t, vitals.Args, "profile"); got != d.profile {
			t.Errorf("profile = %q, want %q", got, d.profile)
		}
		want := append([]string{filepath.Dir(flagOf(t, vitals.Args, "kuryr.conf")), filepath.Dir(listen.DefaultSocket)}, d.mounts...)
		for _, c := range d.load(t).Config.Collectors {
			if c.File != nil {
				want = append(want, filepath.Dir(c.File.Path))
			}
		}
		for _, dir := range want {
			if !slices.ContainsFunc(vitals.Mounts, func(m manifestMount) bool { return m.Path == dir }) {
				t.Errorf("mounts = %v, want %s among them", vitals.Mounts, dir)
			}
		}
	})
}

// Vitals has no more rights than it needs: none over the node, and it changes nothing
// there but its own socket.
func TestDeploymentGivesVitalsTheLeastRights(t *testing.T) {
	eachDeployment(t, func(t *testing.T, d deployment) {
		c := containers(t, d.file)["vitals"]
		s := c.Security
		if !s.RunAsNonRoot || !s.ReadOnlyRoot || s.Escalation == nil || *s.Escalation || len(s.Capabilities.Add) > 0 || !slices.Equal(s.Capabilities.Drop, []string{"ALL"}) {
			t.Errorf("securityContext = %+v, want no root, no capability and no writable root", s)
		}
		for _, m := range c.Mounts {
			if !m.ReadOnly && m.Path != filepath.Dir(listen.DefaultSocket) {
				t.Errorf("mount %s may be written to, want it read-only", m.Path)
			}
		}
	})
}

// A fault of less than a minute, plus the "for" of the rules, does not restart the CNI
// daemon. Vitals measures it from within its pod.
func TestDeploymentOfTheCNIDaemon(t *testing.T) {
	const file = "deploy/kubernetes/kuryr-cni.yaml"
	all := containers(t, file)
	daemon, vitals := all["kuryr-cni"], all["vitals"]
	if alive := daemon.Alive; alive.Period*alive.Failures < 60 {
		t.Errorf("alive fails %d times every %d s before a restart, want a minute", alive.Failures, alive.Period)
	}
	for _, m := range readManifests(t, file) {
		spec := m.Spec.Template.Spec
		if m.Kind != "DaemonSet" || !spec.HostNetwork || !spec.ShareProcessNamespace {
			t.Errorf("%s with %+v, want a DaemonSet in the host's network whose containers see each other", m.Kind, spec)
		}
		for _, v := range spec.Volumes {
			if v.Name == "cgroup" && v.Host.Path != "/sys/fs/cgroup" {
				t.Errorf("cgroups are those of %q, want the host's", v.Host.Path)
			}
		}
	}
	if !slices.Contains(vitals.Args, "--set=process=kuryr-daemon") {
		t.Errorf("arguments = %q, want those that measure the daemon and not Vitals", vitals.Args)
	}
	// The benchmark of what the profile costs at rest sets the same.
	if !slices.ContainsFunc(vitals.Env, func(e struct{ Name, Value string }) bool { return e.Name+"="+e.Value == nodeProcessors }) {
		t.Errorf("environment of Vitals = %v, want %s", vitals.Env, nodeProcessors)
	}
	socket := ""
	for _, m := range daemon.Mounts {
		if m.Name == "vitals" {
			socket = filepath.Join(m.Path, filepath.Base(listen.DefaultSocket))
		}
	}
	if !slices.ContainsFunc(daemon.Env, func(e struct{ Name, Value string }) bool { return e.Name == "VITALS_SOCKET" && e.Value == socket }) {
		t.Errorf("environment of the daemon = %v, want VITALS_SOCKET=%s", daemon.Env, socket)
	}
}

// An unmodified Kuryr reports nothing, so the deployments take in its own health server, at
// the default port of kuryr.conf and not at that of Vitals.
func TestDeploymentTakesInTheOriginal(t *testing.T) {
	for _, d := range deployments() {
		l := d.load(t)
		alive := collectorNamed(l, "original-alive").HTTP
		want := map[string]string{"kuryr-controller": "http://127.0.0.1:8082/alive", "kuryr-cni": "http://127.0.0.1:8090/alive"}[d.profile]
		if alive == nil || alive.URL != want {
			t.Errorf("%s: the original's alive is %+v, want %s", d.file, alive, want)
		}
		if port := flagOf(t, containers(t, d.file)["vitals"].Args, "probe.listen-address"); port != l.Config.Server.ListenAddress {
			t.Errorf("%s: probes of %s, want %s as without the flag", d.file, port, l.Config.Server.ListenAddress)
		}
	}
}

// The image is built with the version of Go that the module requires, runs as user 65534
// special, and starts a command that exists.
func TestDockerfile(t *testing.T) {
	text := readDoc(t, "deploy/Dockerfile")
	version := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(readDoc(t, "go.mod"))[1]
	for _, line := range []string{
		"FROM golang:" + version + " AS build", "FROM scratch", "USER 65532:65532",
		"COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/",
		"COPY --from=build /src/bin/LICENSE /src/bin/THIRD_PARTY_NOTICES /licenses/vitals/",
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
