//go:build e2e

package e2e_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// restricted are the labels that enforce the Pod Security Standard on the pods of a namespace.
const restricted = "{pod-security.kubernetes.io/enforce: restricted}"

// The chart and the components are applied to the API server as they are rendered, in a namespace that
// enforces "restricted". No controller makes the pods here, so the test posts that of the template.
func TestChartsAreAccepted(t *testing.T) {
	a := newAPIServer(t, env(t).state, nil)
	files, err := filepath.Glob("../internal/charts/testdata/*.golden.yaml")
	if err != nil || len(files) < 8 {
		t.Fatalf("internal/charts/testdata has %q, %v, want what is rendered", files, err)
	}
	for i, file := range files {
		name, _, _ := strings.Cut(filepath.Base(file), ".")
		t.Run(name, func(t *testing.T) {
			c := chartCase{a, fmt.Sprintf("charts-%d", i)}
			c.makeNamespace(t, c.namespace, restricted)
			// What a controller would make, for pods without an account of their own.
			c.apply(t, c.parse(t, "apiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: default\n  namespace: shop\n"))
			var all []chartObject
			for _, text := range strings.Split("\n"+read(t, file), "\n---\n") {
				if o := c.parse(t, text); o.Kind != "" {
					all = append(all, o)
					c.apply(t, o)
				}
			}
			pods := 0
			for _, o := range all {
				pods += c.pod(t, o)
			}
			if pods != 1 {
				t.Errorf("%d workloads, want one", pods)
			}
		})
	}
}

// chartCase is a rendered chart in a namespace of its own.
type chartCase struct {
	apiServer
	namespace string
}

// chartObject is an object of a chart.
type chartObject struct {
	identity `yaml:",inline"`
	Spec     struct{ Template map[string]any }
	text     string
}

// parse reads an object and moves it to the namespace of the case.
func (c chartCase) parse(t *testing.T, text string) chartObject {
	t.Helper()
	text = regexp.MustCompile(`(?m)^( +namespace:) "?(?:shop|monitoring)"?$`).ReplaceAllString(text, "$1 "+c.namespace)
	var o chartObject
	if err := yaml.Unmarshal([]byte(text), &o); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	o.text = text
	return o
}

// apply applies an object as "kubectl apply --server-side" does, twice: the second time changes
// nothing. Then an unknown field is a mistake.
func (c chartCase) apply(t *testing.T, o chartObject) {
	t.Helper()
	collection, err := c.collection(o.identity)
	if err != nil {
		t.Fatal(err)
	}
	path := collection + "/" + o.Metadata.Name
	t.Cleanup(func() { c.remove(t, path) })
	const query = "?fieldManager=e2e&fieldValidation=Strict"
	for _, want := range []int{http.StatusCreated, http.StatusOK} {
		if status, body, err := c.patch(path+query, o.text); err != nil || status != want {
			t.Errorf("PATCH %s = %d %s, %v, want %d\n%s", path, status, body, err, want, o.text)
		}
	}
	if status, body, err := c.patch(path+query+"&dryRun=All", o.text+"\nnowhere: {}\n"); err != nil || status < 400 || !strings.Contains(string(body), "nowhere") {
		t.Errorf("PATCH %s with an unknown field = %d %s, %v, want a mistake", path, status, body, err)
	}
}

// patch applies an object.
func (c chartCase) patch(path, text string) (int, []byte, error) {
	return c.sendAs(http.MethodPatch, path, text, "application/apply-patch+yaml")
}

// remove deletes an object. That of another test may have the same name.
func (c chartCase) remove(t *testing.T, path string) {
	t.Helper()
	if status, body, err := c.send(http.MethodDelete, path, ""); err != nil || status >= 400 && status != http.StatusNotFound {
		t.Errorf("DELETE %s = %d %s, %v, want that it is gone", path, status, body, err)
	}
}

// pod posts the pod of a workload as a dry run: it is admitted, and is not with one right more. It
// returns the number of pods.
func (c chartCase) pod(t *testing.T, o chartObject) int {
	t.Helper()
	if len(o.Spec.Template) == 0 {
		return 0
	}
	template := o.Spec.Template
	template["apiVersion"], template["kind"] = "v1", "Pod"
	template["metadata"].(map[string]any)["generateName"] = "pod-"
	path := "/api/v1/namespaces/" + c.namespace + "/pods?dryRun=All&fieldValidation=Strict"
	if status, body, err := c.send(http.MethodPost, path, marshal(t, template)); err != nil || status != http.StatusCreated {
		t.Errorf("POST %s = %d %s, %v, want 201", path, status, body, err)
	}
	first := template["spec"].(map[string]any)["containers"].([]any)[0].(map[string]any)
	first["securityContext"].(map[string]any)["allowPrivilegeEscalation"] = true
	status, body, err := c.send(http.MethodPost, path, marshal(t, template))
	if err != nil || status != http.StatusForbidden || !strings.Contains(string(body), `violates PodSecurity \"restricted`) {
		t.Errorf("POST %s with allowPrivilegeEscalation = %d %s, %v, want 403", path, status, body, err)
	}
	return 1
}
