//go:build e2e

package e2e_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gopkg.in/yaml.v3"
)

const (
	// stallLine is the line of the evaluator before which the program of the test hangs.
	stallLine = "\te.core.evaluate(ctx, at)\n"
	// stallCode takes a file away once it exists, and then blocks for ever.
	stallCode = `package evaluator

import "os"

func stall() {
	if os.Remove("/stall/now") == nil {
		select {}
	}
}
`
	// stalledAliveAfter is how long alive keeps its verdict while the evaluator hangs.
	stalledAliveAfter = time.Minute
	hungConfig        = `
rule_files: [rules.yml]
collectors:
  - {name: app, interval: 1s, http: {url: "http://127.0.0.1:5000/"}}
`
	hungRules = `
groups:
  - name: app
    rules:
      - alert: AppNotReady
        expr: vitals_dependency_up{dependency="app"} == 0
        labels: {state: ready, severity: critical}
      - alert: AppDead
        expr: vitals_dependency_up{dependency="app"} == 0
        for: 5s
        labels: {state: alive, severity: critical}
`
)

// buildStalling builds Vitals with an evaluator that can hang. An overlay replaces the source,
// so that the product has no such switch.
func buildStalling(t *testing.T, to string) {
	t.Helper()
	folder, err := filepath.Abs("../evaluator")
	if err != nil {
		t.Fatal(err)
	}
	loop := filepath.Join(folder, "evaluator.go")
	source := read(t, loop)
	if n := strings.Count(source, stallLine); n != 1 {
		t.Fatalf("evaluator/evaluator.go has the line %q %d times, want it once: it is where this test makes the evaluator hang", stallLine, n)
	}
	dir := shortDirectory(t, "")
	replaced := map[string]string{loop: filepath.Join(dir, "evaluator.go"), filepath.Join(folder, "stall.go"): filepath.Join(dir, "stall.go")}
	write(t, replaced[loop], strings.Replace(source, stallLine, "\tstall()\n"+stallLine, 1))
	write(t, filepath.Join(dir, "stall.go"), stallCode)
	overlay, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "overlay.json"), string(overlay))
	build := exec.Command("go", "build", "-overlay="+filepath.Join(dir, "overlay.json"), "-tags", "grpcnotrace", "-trimpath", "-o", to, "../cmd/vitals")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build vitals with an overlay: %v\n%s", err, out)
	}
}

// guidePod is the pod of the Deployment in docs/guides/kubernetes.md, with the images of the
// node, on the node, and with the directory of the file that makes Vitals hang.
func guidePod(t *testing.T, stall string) string {
	t.Helper()
	_, rest, _ := strings.Cut(read(t, "../docs/guides/kubernetes.md"), "```yaml\n")
	text, _, _ := strings.Cut(rest, "```\n")
	var d struct {
		Kind string
		Spec struct{ Template struct{ Spec map[string]any } }
	}
	if err := yaml.Unmarshal([]byte(text), &d); err != nil || d.Kind != "Deployment" {
		t.Fatalf("docs/guides/kubernetes.md begins with %q, %v, want a Deployment", d.Kind, err)
	}
	spec := d.Spec.Template.Spec
	delete(spec, "serviceAccountName")
	spec["nodeName"] = "e2e"
	images := map[string]string{"app": checkedImage, "vitals": vitalsImage}
	for _, c := range spec["containers"].([]any) {
		c := c.(map[string]any)
		c["image"], c["imagePullPolicy"] = images[c["name"].(string)], "Never"
		c["volumeMounts"] = append(c["volumeMounts"].([]any), map[string]any{"name": "stall", "mountPath": "/stall"})
	}
	spec["volumes"] = append(spec["volumes"].([]any), map[string]any{"name": "stall", "hostPath": map[string]any{"path": stall}})
	pod, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]string{"name": "my-app"}, "spec": spec})
	if err != nil {
		t.Fatal(err)
	}
	return string(pod)
}

// startHanging starts the pod. The evaluator of its Vitals hangs, each time that the file is
// written.
func startHanging(t *testing.T) (e examplePod, file string) {
	t.Helper()
	n := startNode(t)
	e = examplePod{n, "my-app", "app"}
	e.logEvents(t)
	dir, stall := probes(t), shortDirectory(t, "")
	if err := os.Chmod(stall, 0o777); err != nil {
		t.Fatal(err)
	}
	buildStalling(t, filepath.Join(dir, "vitals"))
	n.exampleImages(t, dir)
	n.create(t, "/api/v1/namespaces/default/configmaps", configMap(t, "my-app-vitals", map[string]string{"vitals.yml": hungConfig, "rules.yml": hungRules}))
	n.create(t, "/api/v1/namespaces/default/pods", guidePod(t, stall))
	return e, filepath.Join(stall, "now")
}

// address returns an address of the pod.
func (e examplePod) address(t *testing.T, port string) string {
	t.Helper()
	p, err := e.pod(e.name)
	if err != nil {
		t.Fatal(err)
	}
	return net.JoinHostPort(p.Status.PodIP, port)
}

// When the evaluator hangs, the kubelet restarts the container of Vitals and never that of the
// workload. It does so with the pod of the guide, twice. The workload is still not restarted when
// the time has passed after which alive fails.
func TestKubeletRestartsAHungVitals(t *testing.T) {
	e, file := startHanging(t)
	e.becomes(t, "the pod is ready", "True", 0, 0)
	if c, err := e.dial(t.Context(), "tcp", e.address(t, "8081")); err == nil {
		_ = c.Close()
		t.Error("the network reaches the listener for everything, want it on loopback")
	}
	begin := time.Now()
	for restart := range 2 {
		write(t, file, "")
		await(t, "the evaluator hangs", podWithin, func() error {
			if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
				return fmt.Errorf("the file is not taken away: %w", err)
			}
			return nil
		})
		e.becomes(t, "with a hung Vitals, the pod is not ready", "False", 0, restart)
		e.send(t, http.MethodGet, "http://"+e.address(t, "8080")+"/alive")
		// The stall guard, the probes, the shutdown, and from the second time on the kubelet's wait.
		took := await(t, "Vitals runs again", 3*podWithin, func() error { return e.is("True", 0, restart+1) })
		t.Logf("Vitals runs again: after %s", took.Round(100*time.Millisecond))
	}
	await(t, "the time of alive passes", stalledAliveAfter+podWithin, func() error {
		if left := stalledAliveAfter - time.Since(begin); left > 0 {
			return fmt.Errorf("%s are left", left)
		}
		return e.is("True", 0, 2)
	})
	if err := e.event(e.name, "Killing", "Container vitals failed liveness probe, will be restarted"); err != nil {
		t.Error(err)
	}
	if e.event(e.name, "Killing", "Container app ") == nil {
		t.Error("the kubelet stopped the workload, want Vitals only")
	}
}
