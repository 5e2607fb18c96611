//go:build e2e

package e2e_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

const (
	gateNode   = "/api/v1/nodes/e2e"
	gateConfig = `
rule_files: [rules.yml]
collectors:
  - {name: database, interval: 1s, tcp: {address: "` + databaseAddress + `"}}
`
	gateRules = `
groups:
  - name: my-app
    rules:
      - alert: DatabaseDown
        expr: vitals_dependency_up{dependency="database"} == 0
        labels: {state: ready, severity: critical}
        annotations: {summary: The database does not answer.}
`
)

// gatePod is the pod of docs/guides/kubernetes.md that has a gate, on the node, with its
// configuration, and with the condition of the node. The API server is on loopback, which is
// that of the node.
func gatePod(t *testing.T) string {
	t.Helper()
	var pod struct {
		APIVersion string         `yaml:"apiVersion" json:"apiVersion"`
		Kind       string         `json:"kind"`
		Metadata   map[string]any `json:"metadata"`
		Spec       map[string]any `json:"spec"`
	}
	blocks := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(read(t, "../docs/guides/kubernetes.md"), -1)
	i := slices.IndexFunc(blocks, func(block []string) bool { return strings.Contains(block[1], "readinessGates:") })
	if i < 0 {
		t.Fatal("docs/guides/kubernetes.md has no pod with a gate")
	}
	if err := yaml.Unmarshal([]byte(blocks[i][1]), &pod); err != nil || pod.Kind != "Pod" {
		t.Fatalf("docs/guides/kubernetes.md has the kind %q with a gate, %v, want a Pod", pod.Kind, err)
	}
	pod.Spec["nodeName"], pod.Spec["hostNetwork"] = "e2e", true
	pod.Spec["volumes"] = []any{map[string]any{"name": "config", "configMap": map[string]any{"name": "my-app-vitals"}}}
	vitals := pod.Spec["containers"].([]any)[0].(map[string]any)
	vitals["image"], vitals["imagePullPolicy"] = vitalsImage, "Never"
	vitals["args"] = append(vitals["args"].([]any), "--kubernetes.node-condition="+reportsGate)
	vitals["volumeMounts"] = []any{map[string]any{"name": "config", "mountPath": "/etc/vitals"}}
	for name, value := range map[string]string{"KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": apiPort()} {
		vitals["env"] = append(vitals["env"].([]any), map[string]any{"name": name, "value": value})
	}
	text, err := json.Marshal(pod)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// gated is the pod with a gate.
type gated struct{ *node }

// startGated starts the pod.
func startGated(t *testing.T) gated {
	t.Helper()
	g := gated{startNode(t)}
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(g.event("my-app", "none", ""))
		}
	})
	g.exampleImages(t, probes(t))
	g.makeAccount(t, guideRoles(t))
	g.create(t, "/api/v1/namespaces/default/configmaps", configMap(t, "my-app-vitals", map[string]string{"vitals.yml": gateConfig, "rules.yml": gateRules}))
	g.create(t, "/api/v1/namespaces/default/pods", gatePod(t))
	return g
}

// becomes waits until the kubelet reports the pod as ready, or not, and the conditions of the
// pod and the node have the text. The container, which has no readiness probe, stays ready.
func (g gated) becomes(t *testing.T, what, ready, condition string) {
	t.Helper()
	took := await(t, what, 2*podWithin, func() error {
		p, err := g.pod("my-app")
		if err != nil {
			return err
		}
		if c := p.container("vitals"); p.ready() != ready || !c.Ready || c.RestartCount != 0 {
			err = fmt.Errorf("ready of the pod is %s, that of the container %t after %d restarts, want %s, true after 0", p.ready(), c.Ready, c.RestartCount, ready)
		}
		return errors.Join(err, g.condition(reportsPod, condition), g.condition(gateNode, condition))
	})
	t.Logf("%s: after %s", what, took)
}

// reported waits for an event of Vitals about the pod.
func (g gated) reported(t *testing.T, pattern string) {
	t.Helper()
	await(t, "the event", podWithin, func() error {
		if got := g.events(t); !regexp.MustCompile(pattern).MatchString(got) {
			return fmt.Errorf("events of Vitals are\n%s\nwant %s", got, pattern)
		}
		return nil
	})
}

// described waits until kubectl describes the pod with the gate, its condition and the reason of the
// verdict, as the guide shows it.
func (g gated) described(t *testing.T) {
	t.Helper()
	c := newConsole(t, g.node, nil)
	c.prints(t, "kubectl describe pod my-app", `(?m)^Readiness Gates:\n +Type +Status\n +example\.com/VitalsReady +False`, `(?m)^ +Ready +False`,
		`(?m)^ +Warning +DatabaseDown +\S+( \(x\d+ over \S+\))? +vitals +The database does not answer\., ready failing.* since \S+Z$`)
	got := c.sh(t, `kubectl get pod my-app --output=jsonpath='{range .status.conditions[?(@.type=="example.com/VitalsReady")]}{.status} {.reason} {.message}{end}'`)
	if want := "False DatabaseDown The database does not answer., ready failing"; !strings.HasPrefix(got, want) {
		t.Errorf("the condition is %q, want %q", got, want)
	}
}

// On a real kubelet, a pod with a gate is ready while Vitals' verdict is, though its container
// always is. The conditions have the rule that decides, the pod has an event for each change,
// and the end of the pod leaves no condition that is True.
func TestKubeletReadinessGate(t *testing.T) {
	g := startGated(t)
	g.becomes(t, "without its database, the pod is not ready", "False", "False DatabaseDown The database does not answer., ready failing")
	database := g.listen(t, databaseAddress)
	g.becomes(t, "with its database, the pod is ready", "True", "True ReadyOk ready ok")
	g.reported(t, `(?m)^Normal ReadyOk ready ok`)
	_ = database.Close()
	g.becomes(t, "without it again, the pod is not ready", "False", "False DatabaseDown The database does not answer., ready failing")
	g.reported(t, `(?m)^Warning DatabaseDown The database does not answer\., ready failing(, \d+ changes)? since \S+Z$`)
	g.described(t)
	g.listen(t, databaseAddress)
	g.becomes(t, "with it again, the pod is ready", "True", "True ReadyOk ready ok")

	if status, body, err := g.node.apiServer.send(http.MethodDelete, reportsPod, ""); err != nil || status != http.StatusOK {
		t.Fatalf("DELETE %s = %d %s, %v, want 200", reportsPod, status, body, err)
	}
	await(t, "the pod has ended", 2*podWithin, func() error {
		if status, _, err := g.node.apiServer.send(http.MethodGet, reportsPod, ""); err != nil || status != http.StatusNotFound {
			return fmt.Errorf("GET %s = %d, %w, want 404", reportsPod, status, err)
		}
		return nil
	})
	if err := g.condition(gateNode, "False "); err != nil {
		t.Errorf("after the end of the pod: %v", err)
	}
}
