//go:build e2e

package e2e_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// manifestsNamespace is the namespace of the objects. It allows only pods of the level
// "restricted" of the Pod Security Standards.
const manifestsNamespace = "generated"

const manifestsConfig = `
rule_files: [app.yml]
collectors:
  - {name: kubernetes, kubernetes: {watch: [pods], crds: [kuryrports.openstack.org]}}
`

const manifestsRules = `
groups:
  - name: app
    rules:
      - alert: ApiDown
        expr: vitals_dependency_up{dependency="kubernetes"} == 0
        for: 30s
        labels: {state: ready}
        annotations: {summary: The API server does not answer.}
`

// manifestsWorkload is what a sidecar is added to.
const manifestsWorkload = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: my-app, namespace: generated}
spec:
  selector: {matchLabels: {app: my-app}}
  template:
    metadata: {labels: {app: my-app}}
    spec:
      containers:
        - name: app
          image: my-app:1
          securityContext:
            runAsNonRoot: true
            runAsUser: 1000
            allowPrivilegeEscalation: false
            capabilities: {drop: [ALL]}
            seccompProfile: {type: RuntimeDefault}
`

// applied sends an object with server-side apply, strictly, and returns the result.
func (a apiServer) applied(t *testing.T, manager, text string) (o identity, object map[string]any) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(text), &o); err != nil {
		t.Fatal(err)
	}
	path, err := a.collection(o)
	if err != nil {
		t.Fatal(err)
	}
	path += "/" + o.Metadata.Name
	req, err := http.NewRequest(http.MethodPatch, a.url+path+"?fieldValidation=Strict&fieldManager="+manager, strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	req.Header = http.Header{"Authorization": {"Bearer admin-test-token"}, "Content-Type": {"application/apply-patch+yaml"}, "Accept": {"application/json"}}
	res, err := a.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK && res.StatusCode != http.StatusCreated {
		t.Fatalf("PATCH %s = %d %s, %v, want it applied\n%s", path, res.StatusCode, body, err, text)
	}
	t.Cleanup(func() { _, _, _ = a.send(http.MethodDelete, path, "") })
	if err := json.Unmarshal(body, &object); err != nil {
		t.Fatal(err)
	}
	return o, object
}

// admitted creates, as a dry run, the pod of a workload. The standards are enforced for pods.
func (a apiServer) admitted(t *testing.T, workload map[string]any) {
	t.Helper()
	template := workload["spec"].(map[string]any)["template"].(map[string]any)
	pod, err := json.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "generated", "labels": template["metadata"].(map[string]any)["labels"]}, "spec": template["spec"],
	})
	if err != nil {
		t.Fatal(err)
	}
	path := "/api/v1/namespaces/" + manifestsNamespace + "/pods?dryRun=All"
	if status, body, err := a.send(http.MethodPost, path, string(pod)); err != nil || status != http.StatusCreated {
		t.Errorf("POST %s = %d %s, %v, want a pod that the standard admits\n%s", path, status, body, err, pod)
	}
}

// Each form is applied as it is printed, and its pods are admitted under the standard
// "restricted". A sidecar leaves the rest of its workload as it was.
func TestGeneratedManifestsAreApplied(t *testing.T) {
	a := newAPIServer(t, env(t).state, nil)
	a.makeNamespace(t, manifestsNamespace, restricted)
	a.applied(t, "e2e", "{apiVersion: v1, kind: ServiceAccount, metadata: {name: default, namespace: generated}}")
	dir := shortDirectory(t, "")
	write(t, filepath.Join(dir, "vitals.yml"), manifestsConfig)
	write(t, filepath.Join(dir, "app.yml"), manifestsRules)
	for form, flags := range map[string][]string{
		"sidecar": {"--workload=deployment/my-app", "--container=app", "--kubernetes.events"}, "daemonset": {"--kubernetes.node-condition=example.com/Ready"}, "deployment": {"--kubernetes.readiness-gate=example.com/Ready"},
	} {
		t.Run(form, func(t *testing.T) {
			if form == "sidecar" {
				a.applied(t, "e2e", manifestsWorkload)
			}
			args := slices.Concat([]string{"generate", "manifests", "--config.file=" + filepath.Join(dir, "vitals.yml"), "--as=" + form, "--namespace=" + manifestsNamespace}, flags)
			var errs bytes.Buffer
			cmd := exec.Command(env(t).vitals, args...)
			cmd.Stderr = &errs
			printed, err := cmd.Output()
			if err != nil {
				t.Fatalf("vitals %q = %v, %s", args, err, errs.String())
			}
			var kinds []string
			for _, text := range strings.Split(string(printed), "\n---\n") {
				o, object := a.applied(t, "vitals", text)
				kinds = append(kinds, o.Kind)
				if spec, ok := object["spec"].(map[string]any); ok && spec["template"] != nil {
					a.admitted(t, object)
					sidecarKept(t, form, spec["template"].(map[string]any)["spec"].(map[string]any))
				}
			}
			if len(kinds) < 4 || !slices.Contains(kinds, "ConfigMap") || !slices.Contains(kinds, "ClusterRole") {
				t.Errorf("the objects are %v, want a ConfigMap, roles and a workload", kinds)
			}
		})
	}
}

// sidecarKept compares the containers of a merged pod.
func sidecarKept(t *testing.T, form string, spec map[string]any) {
	t.Helper()
	if form != "sidecar" {
		return
	}
	app, ok := spec["containers"].([]any)[0].(map[string]any)
	if !ok || app["image"] != "my-app:1" || app["livenessProbe"] == nil || len(spec["containers"].([]any)) != 1 {
		t.Errorf("the containers are %v, want the workload's with its image, and probes", spec["containers"])
	}
	if got := fmt.Sprint(spec["initContainers"].([]any)[0].(map[string]any)["restartPolicy"]); got != "Always" {
		t.Errorf("restartPolicy of the sidecar is %s, want Always", got)
	}
}
