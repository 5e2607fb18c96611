//go:build e2e

package e2e_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// watchesNamespace is the namespace of the test. The account has rights only there.
const watchesNamespace = "e2e-watches"

// watchesConfig has a collector whose rights are in one namespace.
const watchesConfig = `
evaluation_interval: 500ms
collectors:
  - name: one
    interval: 1s
    timeout: 1s
    kubernetes: {kubeconfig: %[1]q, watch: [pods, apps/deployments], namespaces: [` + watchesNamespace + `]}
`

// widerConfig adds collectors that need more rights.
const widerConfig = watchesConfig + `
  - name: two
    interval: 1s
    timeout: 1s
    kubernetes: {kubeconfig: %[1]q, watch: [pods], namespaces: [` + watchesNamespace + `, default]}
  - name: all
    interval: 1s
    timeout: 1s
    kubernetes: {kubeconfig: %[1]q, watch: [pods]}
`

// With namespaces, the generated Role is enough for the watches. Without, or in another namespace,
// they are forbidden.
func TestWatchesOfANamespaceNeedARole(t *testing.T) {
	a := newAPIServer(t, env(t).state, nil)
	a.makeNamespace(t, watchesNamespace, "{}")
	dir := shortDirectory(t, "")
	config, kubeconfig := filepath.Join(dir, "vitals.yml"), filepath.Join(dir, "kubeconfig")
	configure := func(text string) {
		if err := os.WriteFile(config, fmt.Appendf(nil, text, kubeconfig), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	configure(watchesConfig)
	printed, err := exec.Command(env(t).vitals, "generate", "rbac", "--config.file="+config, "--name=watches", "--service-account=my-app").CombinedOutput()
	objects := strings.Split(string(printed), "---\n")
	if err != nil || len(objects) != 2 || strings.Contains(string(printed), "ClusterRole") {
		t.Fatalf("vitals generate rbac = %v\n%s\nwant a Role and its binding", err, printed)
	}
	a.makeAccount(t, map[string]string{"Role": objects[0], "RoleBinding": objects[1]})
	a.kubeconfig(t, dir)
	configure(widerConfig)
	vitals := runVitals(t, env(t).vitals, config, dir)
	await(t, "the watches of the namespace only", rightsWithin, func() error {
		m, err := vitals.metrics()
		if err != nil {
			return err
		}
		watch := func(connected float64, labels ...string) error {
			return errors.Join(m.want(connected, "vitals_kubernetes_watch_connected", labels...),
				m.want(1-connected, "vitals_kubernetes_watch_failure", append(labels, "reason", "forbidden")...))
		}
		return errors.Join(
			watch(1, "dependency", "one", "resource", "pods", "namespace", watchesNamespace),
			watch(1, "dependency", "one", "resource", "apps/deployments", "namespace", watchesNamespace),
			watch(1, "dependency", "two", "resource", "pods", "namespace", watchesNamespace),
			watch(0, "dependency", "two", "resource", "pods", "namespace", "default"),
			watch(0, "dependency", "all", "resource", "pods"),
		)
	})
	_, body, err := vitals.get("/api/v1/status")
	for _, want := range []string{"list pods in all namespaces", "list pods in namespace default"} {
		if err != nil || !strings.Contains(body, "the account lacks the right to "+want) {
			t.Errorf("GET /api/v1/status = %s, %v, want the missing right to %s", body, err, want)
		}
	}
}

// groupResources are the resources of a version of an API group.
type groupResources struct {
	Resources []struct {
		Name       string
		Namespaced bool
		Verbs      []string
	}
}

// watchedEverywhere returns the resources of the API server that can be watched and are in no
// namespace, as in a configuration.
func (a apiServer) watchedEverywhere(t *testing.T) []string {
	t.Helper()
	var groups struct {
		Groups []struct {
			Name             string
			PreferredVersion struct{ GroupVersion string }
		}
	}
	if err := a.get("/apis", &groups); err != nil {
		t.Fatal(err)
	}
	versions := map[string]string{"": "/api/v1"}
	for _, g := range groups.Groups {
		versions[g.Name+"/"] = "/apis/" + g.PreferredVersion.GroupVersion
	}
	var found []string
	for prefix, path := range versions {
		var list groupResources
		if err := a.get(path, &list); err != nil {
			t.Fatal(err)
		}
		for _, r := range list.Resources {
			if !r.Namespaced && slices.Contains(r.Verbs, "watch") {
				found = append(found, prefix+r.Name)
			}
		}
	}
	return found
}

// The API server has no resource of the cluster in a namespace, and vitals check config refuses each
// built-in one.
func TestResourcesInNoNamespace(t *testing.T) {
	a := newAPIServer(t, env(t).state, nil)
	if status, body, err := a.send(http.MethodGet, "/api/v1/namespaces/default/nodes", ""); err != nil || status != http.StatusNotFound {
		t.Errorf("GET nodes in a namespace = %d %s, %v, want 404", status, body, err)
	}
	resources := a.watchedEverywhere(t)
	config := filepath.Join(t.TempDir(), "vitals.yml")
	text := "collectors: [{name: api, kubernetes: {watch: [" + strings.Join(resources, ", ") + "], namespaces: [default]}}]\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	printed, err := exec.Command(env(t).vitals, "check", "config", "--syntax-only", config).CombinedOutput()
	for _, r := range resources {
		if want := fmt.Sprintf("resource %q is in no namespace", r); !strings.Contains(string(printed), want) {
			t.Errorf("vitals check config = %v\n%s\nwant %s", err, printed, want)
		}
	}
	if len(resources) < 20 {
		t.Errorf("the API server has the resources %q in no namespace, want at least 20", resources)
	}
}
