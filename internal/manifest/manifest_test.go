package manifest_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/vitals-health/vitals/internal/manifest"
)

const deployment = `apiVersion: v1
kind: Service
metadata: {name: app}
spec: {ports: [{port: 80}]}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: app
spec:
  template:
    spec:
      hostNetwork: true
      initContainers:
        - {name: setup, image: setup}
        - name: sidecar
          restartPolicy: Always
      containers:
        - name: app
          image: my-app:1
          command: [/app, -v]
          args: [serve]
          env:
            - {name: A, value: "1"}
            - name: B
              valueFrom: {fieldRef: {fieldPath: status.podIP}}
          ports:
            - {name: http, containerPort: 8080}
            - containerPort: 9090
          startupProbe:
            httpGet: {path: /started, port: "8080"}
            periodSeconds: 2
            failureThreshold: 30
            initialDelaySeconds: 5
          livenessProbe:
            exec:
              command:
                - healthcheck
                - --state=alive
            timeoutSeconds: 3
            successThreshold: 1
            someday: {new: key}
          readinessProbe:
            httpGet:
              port: http
              host: 127.0.0.1
              scheme: HTTPS
`

func TestRead(t *testing.T) {
	f, errs := manifest.Read("app.yaml", []byte(deployment))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	want := []manifest.Pod{{
		Where: "Deployment app", Lines: manifest.Lines{Line: 13, Col: 7, Last: 48}, HostNetwork: true,
		Containers: []manifest.Container{
			{Name: "sidecar", Lines: manifest.Lines{Line: 16, Col: 11, Last: 17}},
			{
				Name: "app", Image: "my-app:1", Lines: manifest.Lines{Line: 19, Col: 11, Last: 48},
				Command: []string{"/app", "-v", "serve"}, Env: map[string]string{"A": "1"}, Variables: []string{"A", "B"},
				Ports: []manifest.Port{{Name: "http", Number: 8080}, {Number: 9090}},
				Probes: []manifest.Probe{
					{
						Kind: manifest.Startup, Lines: manifest.Lines{Line: 30, Col: 11, Last: 34},
						HTTP:         &manifest.HTTP{Target: manifest.Target{Port: 8080}, Scheme: "HTTP", Path: "/started"},
						InitialDelay: 5 * time.Second, Period: 2 * time.Second, Timeout: time.Second, FailureThreshold: 30, SuccessThreshold: 1,
					},
					{
						Kind: manifest.Liveness, Lines: manifest.Lines{Line: 35, Col: 11, Last: 42},
						Exec:   []string{"healthcheck", "--state=alive"},
						Period: 10 * time.Second, Timeout: 3 * time.Second, FailureThreshold: 3, SuccessThreshold: 1,
					},
					{
						Kind: manifest.Readiness, Lines: manifest.Lines{Line: 43, Col: 11, Last: 47},
						HTTP:   &manifest.HTTP{Target: manifest.Target{Name: "http", Host: "127.0.0.1"}, Scheme: "HTTPS", Path: "/"},
						Period: 10 * time.Second, Timeout: time.Second, FailureThreshold: 3, SuccessThreshold: 1,
					},
				},
			},
		},
	}}
	// The last lines are checked below.
	last := cmpopts.IgnoreFields(manifest.Lines{}, "Last")
	if diff := cmp.Diff(want, f.Pods, last, cmpopts.IgnoreUnexported(manifest.Probe{}), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("pods differ (-want +got):\n%s", diff)
	}
	probes := f.Pods[0].Containers[1].Probes
	for i, want := range []int{34, 42, 47} {
		if got := probes[i].Last; got != want {
			t.Errorf("%s ends in line %d, want %d", probes[i].Kind, got, want)
		}
	}
}

// Every key of a probe has a position; a missing key has the probe's.
func TestPlaces(t *testing.T) {
	f, errs := manifest.Read("app.yaml", []byte(deployment))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	probes := f.Pods[0].Containers[1].Probes
	for _, c := range []struct {
		probe int
		key   string
		has   bool
		want  string
	}{
		{0, "httpGet", true, "31:13"},
		{0, "httpGet.path", true, "31:29"},
		{0, "httpGet.port", true, "31:45"},
		{0, "httpGet.host", false, "30:11"},
		{0, "failureThreshold", true, "33:31"},
		{0, "timeoutSeconds", false, "30:11"},
		{1, "exec.command", true, "37:15"},
		{1, "timeoutSeconds", true, "40:29"},
		{2, "", false, "43:11"},
	} {
		line, col := probes[c.probe].At(c.key)
		if got := fmt.Sprintf("%d:%d", line, col); got != c.want || probes[c.probe].Has(c.key) != c.has {
			t.Errorf("%s of %s is at %s, there: %v; want %s, %v", c.key, probes[c.probe].Kind, got, probes[c.probe].Has(c.key), c.want, c.has)
		}
	}
}

// Every kind of object with containers, also within lists.
func TestKinds(t *testing.T) {
	const pod = "{containers: [{name: c}]}"
	for name, given := range map[string]string{
		"Pod":         "{kind: Pod, spec: " + pod + "}",
		"Deployment":  "{kind: Deployment, spec: {template: {spec: " + pod + "}}}",
		"DaemonSet":   "{kind: DaemonSet, spec: {template: {spec: " + pod + "}}}",
		"StatefulSet": "{kind: StatefulSet, spec: {template: {spec: " + pod + "}}}",
		"ReplicaSet":  "{kind: ReplicaSet, spec: {template: {spec: " + pod + "}}}",
		"Job":         "{kind: Job, spec: {template: {spec: " + pod + "}}}",
		"CronJob":     "{kind: CronJob, spec: {jobTemplate: {spec: {template: {spec: " + pod + "}}}}}",
		"PodTemplate": "{kind: PodTemplate, template: {spec: " + pod + "}}",
		"List":        "{kind: List, items: [{kind: Pod, spec: " + pod + "}]}",
		"of lists":    "{kind: List, items: [{kind: PodList, items: [{kind: Pod, spec: " + pod + "}]}]}",
		"custom kind": "{kind: Rollout, spec: {template: {spec: " + pod + "}}}",
		"by an alias": "{kind: List, items: [&p {kind: Pod, spec: " + pod + "}]}",
	} {
		f, errs := manifest.Read("x.yaml", []byte(given))
		if len(errs) > 0 || len(f.Pods) != 1 || len(f.Pods[0].Containers) != 1 || f.Pods[0].Containers[0].Name != "c" {
			t.Errorf("%s: Read() = %+v, %v, want one container", name, f.Pods, errs)
		}
	}
}

// A probe by gRPC has a service, or none for that of the server itself.
func TestGRPC(t *testing.T) {
	f, errs := manifest.Read("x.yaml", []byte("kind: Pod\nspec: {containers: [{readinessProbe: {grpc: {port: 8080, service: ready}}, livenessProbe: {grpc: {port: 8081}}}]}\n"))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	var got []manifest.Probe
	for _, p := range f.Pods[0].Containers[0].Probes {
		got = append(got, manifest.Probe{GRPC: p.GRPC, Service: p.Service})
	}
	want := []manifest.Probe{{GRPC: &manifest.Target{Port: 8081}}, {GRPC: &manifest.Target{Port: 8080}, Service: "ready"}}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(manifest.Probe{})); diff != "" {
		t.Errorf("probes differ (-want +got):\n%s", diff)
	}
}

func TestMistakes(t *testing.T) {
	probe := func(text string) string {
		return "kind: Pod\nspec:\n  containers:\n    - name: c\n      ports: [{containerPort: 1}]\n      livenessProbe:\n        " + text + "\n"
	}
	for name, c := range map[string]struct{ given, want string }{
		"a text for a number":     {probe(`periodSeconds: "10"`), `x.yaml:7:24: periodSeconds "10", expected a whole number from 0 to 2147483647, without quotes`},
		"a port beyond":           {probe("tcpSocket: {port: 80800}"), `x.yaml:7:27: port 80800, expected 1 to 65535`},
		"a port beyond in quotes": {probe("httpGet: {port: '65536'}"), `x.yaml:7:25: port 65536, expected 1 to 65535`},
		"port 0":                  {probe("httpGet: {port: 0}"), `x.yaml:7:25: port 0, expected 1 to 65535`},
		"a container's port":      {"kind: Pod\nspec:\n  containers:\n    - ports: [{containerPort: 80}, {containerPort: 80800}]\n", `x.yaml:4:52: containerPort 80800, expected 1 to 65535`},
		"a fraction":              {probe("timeoutSeconds: 0.5"), `x.yaml:7:25: timeoutSeconds "0.5", expected a whole number from 0 to 2147483647, without quotes`},
		"a negative number":       {probe("failureThreshold: -1"), `x.yaml:7:27: failureThreshold "-1", expected a whole number`},
		"a number that is large":  {probe("failureThreshold: 2147483648"), `x.yaml:7:27: failureThreshold "2147483648", expected a whole number`},
		"a long text":             {probe("failureThreshold: " + strings.Repeat("x", 90)), `x.yaml:7:27: failureThreshold "` + strings.Repeat("x", 40) + `", expected`},
		"no port":                 {probe("httpGet: {path: /ready}"), "x.yaml:7:18: expected a port, by number or by name"},
		"no objects":              {"kind: Service\n", "x.yaml:1:1: no object with containers, expected a Pod, Deployment"},
		"nothing":                 {"", "x.yaml:1:1: no object with containers"},
		"no mapping":              {"[1, 2]\n", "x.yaml:1:1: no object with containers"},
		"no YAML":                 {"kind: Pod\n  a: b\n", "x.yaml:2:1: not valid YAML"},
		"an alias of itself":      {"a: &a [*a]\n", "x.yaml:1:8: alias \"a\" contains itself"},
		"a byte that is no text":  {"a: \xff\n", "x.yaml:1:4: invalid byte 0xff"},
		"a port that is none":     {strings.Replace(probe("{}"), "containerPort: 1", "containerPort: http", 1), `x.yaml:5:31: containerPort "http", expected`},
	} {
		t.Run(name, func(t *testing.T) {
			f, errs := manifest.Read("x.yaml", []byte(c.given))
			if f == nil || len(errs) != 1 || !strings.HasPrefix(errs[0].Error(), c.want) {
				t.Errorf("Read() = %v, want %s...", errs, c.want)
			}
		})
	}
}

// The API server replaces a zero by the default.
func TestDefaultsForZero(t *testing.T) {
	f, errs := manifest.Read("x.yaml", []byte("kind: Pod\nspec: {containers: [{livenessProbe: {periodSeconds: 0, timeoutSeconds: null, failureThreshold: 0, successThreshold: 0, initialDelaySeconds: 0}}]}\n"))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	p := f.Pods[0].Containers[0].Probes[0]
	if p.Period != 10*time.Second || p.Timeout != time.Second || p.FailureThreshold != 3 || p.SuccessThreshold != 1 || p.InitialDelay != 0 {
		t.Errorf("probe = %+v, want the defaults", p)
	}
}

// Keys of merged mappings have the lowest precedence.
func TestMergedMappings(t *testing.T) {
	const given = `kind: Pod
spec:
  containers:
    - startupProbe: &a {httpGet: {port: 1}, periodSeconds: 5, timeoutSeconds: 2}
      livenessProbe: {<<: *a, timeoutSeconds: 3}
      readinessProbe: {<<: [{periodSeconds: 7}, *a]}
`
	f, errs := manifest.Read("x.yaml", []byte(given))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	probes := f.Pods[0].Containers[0].Probes
	if p := probes[1]; p.Period != 5*time.Second || p.Timeout != 3*time.Second || p.HTTP == nil {
		t.Errorf("liveness = %+v, want its own timeout and the merged period", p)
	}
	if line, col := probes[1].At("timeoutSeconds"); line != 5 || col != 47 {
		t.Errorf("timeoutSeconds of liveness is at %d:%d, want its own, 5:47", line, col)
	}
	if p := probes[2]; p.Period != 7*time.Second || p.Timeout != 2*time.Second {
		t.Errorf("readiness = %+v, want the first one of the list", p)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(deployment))
	f.Add([]byte("kind: List\nitems: [&a {kind: Pod, spec: {containers: [{livenessProbe: {<<: {httpGet: {}}}}]}}, *a]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, errs := manifest.Read("x.yaml", data)
		if m == nil || len(m.Pods) == 0 && len(errs) == 0 {
			t.Errorf("Read() = %v, %v, want a file, and pods or mistakes", m, errs)
		}
	})
}
