//go:build e2e

package e2e_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"gopkg.in/yaml.v3"
)

const (
	serviceImage = "docker.io/library/your-service:stable"
	// warmupAddress answers the first collection of every pod, once the test lets it.
	warmupAddress  = "198.51.100.1:5433"
	workloadConfig = `
rule_files: [rules.yml]
collectors:
  - {name: database, interval: 1s, tcp: {address: "` + databaseAddress + `"}}
  - {name: warmup, interval: 2m, timeout: 2m, http: {url: "http://` + warmupAddress + `/"}}
  - {name: parts, components: {expect: [worker], deadline: 5s}}
`
	workloadRules = `
groups:
  - name: app
    rules:
      - alert: DatabaseDown
        expr: vitals_dependency_up{dependency="database"} == 0
        for: 2s
        labels: {state: ready, severity: critical}
        annotations: {summary: The database does not answer.}
      - alert: WorkerDead
        expr: vitals_component_alive{component="worker"} == 0
        labels: {state: alive, severity: critical}
        annotations: {summary: The worker reports nothing.}
`
	// databaseReason is what the exec probe prints of the first rule.
	databaseReason = "failing 1 DatabaseDown failing: The database does not answer. (value 0, since "
)

// workload is an example of deploy/kubernetes on the node.
type workload struct {
	*node
	// file is that of deploy/kubernetes, config the ConfigMap that it needs, and label the value
	// of the label "app" of its pod.
	file, config, label string
}

// workloads are the examples, which all run at a time.
func workloads(n *node) map[string]workload {
	all := map[string]workload{}
	for _, w := range []workload{
		{n, "native-sidecar", "my-app-vitals", "my-app"},
		{n, "grpc-probe", "api-vitals", "api"},
		{n, "standalone", "vitals", "vitals"},
		{n, "daemonset", "vitals-node", "vitals-node"},
		{n, "job", "my-job-vitals", "my-job"},
	} {
		all[w.file] = w
	}
	return all
}

// startWorkloads starts the pods of all examples.
func startWorkloads(t *testing.T) map[string]workload {
	t.Helper()
	n := startNode(t)
	if out, err := n.command("./kubelet.sh", "controllers").CombinedOutput(); err != nil {
		t.Fatalf("kubelet.sh controllers: %v\n%s", err, out)
	}
	n.projectImage(t)
	n.serviceImage(t)
	all := workloads(n)
	t.Cleanup(func() {
		for _, w := range all {
			if p, err := w.pod(); t.Failed() {
				t.Logf("%s: %v %+v\n%v", w.file, err, p.Status, n.event(p.Metadata.Name, "none", ""))
			}
		}
	})
	for _, w := range all {
		w.apply(t)
	}
	return all
}

// projectImage gives the node the image that the project's own program makes.
func (n *node) projectImage(t *testing.T) {
	t.Helper()
	file := filepath.Join(shortDirectory(t, ""), "vitals.tar")
	build := exec.Command("go", "run", "-C", "../.ci/release", ".", "image", "-platforms=linux/"+architecture(t), "-tag=latest", "-out="+file)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("make the image: %v\n%s", err, out)
	}
	n.ctr(t, "images", "import", file)
}

// architecture is that of the programs that go builds.
func architecture(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOARCH").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// serviceImage gives the node the image of the workload.
func (n *node) serviceImage(t *testing.T) {
	t.Helper()
	program := filepath.Join(shortDirectory(t, ""), "service")
	build := exec.Command("go", "build", "-tags", "e2e", "-trimpath", "-o", program, "./kubelet/service")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the service: %v\n%s", err, out)
	}
	if out, err := n.command("./kubelet.sh", "image", serviceImage, program).CombinedOutput(); err != nil {
		t.Fatalf("kubelet.sh image: %v\n%s", err, out)
	}
}

// apply makes the objects of the example as they stand, but for the node that a scheduler would
// choose.
func (w workload) apply(t *testing.T) {
	t.Helper()
	w.create(t, "/api/v1/namespaces/default/configmaps", configMap(t, w.config, map[string]string{"vitals.yml": workloadConfig, "rules.yml": workloadRules}))
	for _, text := range strings.Split(read(t, "../deploy/kubernetes/"+w.file+".yaml"), "\n---\n") {
		var o identity
		if err := yaml.Unmarshal([]byte(text), &o); err != nil {
			t.Fatal(err)
		}
		path, err := w.collection(o)
		if err != nil {
			t.Fatal(err)
		}
		w.create(t, path, onNode(text))
	}
}

// onNode names the node in the specification of the pod. Every example has the line before which
// it does so.
func onNode(text string) string {
	const line = "automountServiceAccountToken: false\n"
	return strings.Replace(text, line, line+strings.Repeat(" ", indentOf(text, line))+"nodeName: e2e\n", 1)
}

// indentOf returns how many spaces precede the line.
func indentOf(text, line string) int {
	before, _, _ := strings.Cut(text, line)
	return len(before) - strings.LastIndex(before, "\n") - 1
}

// pod returns the pod of the example that does not end. Without one, it has no name.
func (w workload) pod() (pod, error) {
	var list struct{ Items []pod }
	err := w.get("/api/v1/namespaces/default/pods?labelSelector=app="+w.label, &list)
	for _, p := range list.Items {
		if p.Metadata.DeletionTimestamp == "" {
			return p, err
		}
	}
	return pod{}, errors.Join(err, fmt.Errorf("%s has no pod", w.file))
}

// holdWarmup starts the server that all pods wait for, and returns what lets it answer.
func (n *node) holdWarmup(t *testing.T) (release func()) {
	t.Helper()
	l, err := there(n.network, func() (net.Listener, error) { return net.Listen("tcp", warmupAddress) })
	if err != nil {
		t.Fatal(err)
	}
	released := make(chan struct{})
	server := &http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-released:
		case <-r.Context().Done():
		}
	})}
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(l) })
	t.Cleanup(func() {
		_ = server.Close()
		serving.Wait()
	})
	return sync.OnceFunc(func() { close(released) })
}

// answer returns what the pod answers to a request of its port.
func (w workload) answer(p pod, port, path string) (int, string, error) {
	client := http.Client{Transport: &http.Transport{DialContext: w.dial, DisableKeepAlives: true}, Timeout: podSlack}
	res, err := client.Get("http://" + net.JoinHostPort(p.Status.PodIP, port) + path)
	if err != nil {
		return 0, "", err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return res.StatusCode, string(body), err
}

// endpoint is the state of a pod in an EndpointSlice.
type endpoint struct {
	Conditions struct{ Ready, Serving, Terminating bool }
	TargetRef  struct{ Name string }
}

// endpoint returns that of a pod of the Service.
func (n *node) endpoint(service, pod string) (endpoint, error) {
	var list struct {
		Items []struct{ Endpoints []endpoint }
	}
	if err := n.get("/apis/discovery.k8s.io/v1/namespaces/default/endpointslices?labelSelector=kubernetes.io/service-name="+service, &list); err != nil {
		return endpoint{}, err
	}
	for _, slice := range list.Items {
		for _, e := range slice.Endpoints {
			if e.TargetRef.Name == pod {
				return e, nil
			}
		}
	}
	return endpoint{}, fmt.Errorf("the Service %s has no endpoint for %s", service, pod)
}
