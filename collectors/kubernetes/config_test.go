package kubernetes_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/kubernetes"
)

// namespaces returns a list of n namespaces.
func namespaces(n int) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf("n%d", i))
	}
	return strings.Join(all, ", ")
}

func TestConfigMistakes(t *testing.T) {
	for _, test := range []struct {
		name, block string
		want        []string // path: part of the text
	}{
		{"in-cluster, nothing else", "{}", nil},
		{"everything inline", "{server: 'https://[::1]:6443/k8s', token_file: t, ca_file: c, cert_file: c, key_file: k, watch: [pods, apps/deployments], " +
			"access: [{verb: list, resource: pods}, {verb: list, resource: pods, namespace: lab}], crds: [kuryrports.openstack.org], watch_idle_timeout: 2m, namespaces: [shop, web]}", nil},
		{"two servers", "{kubeconfig: f, server: 'https://h'}", []string{"server: both set"}},
		{"context without kubeconfig", "{context: c}", []string{"context: expected kubeconfig"}},
		{"files without server", "{token_file: t, ca_file: c, cert_file: c, key_file: k, insecure_skip_verify: true}", []string{
			"token_file: without server", "ca_file: without server", "cert_file: without server", "key_file: without server", "insecure_skip_verify: without server",
		}},
		{"certificate without key", "{server: 'https://h', cert_file: c}", []string{"cert_file: expected both"}},
		{"server without scheme", "{server: 'host:6443'}", []string{"server: expected a URL"}},
		{"server with a port too large", "{server: 'https://h:65536'}", []string{"server: port 65536 in the URL: expected 1 to 65535"}},
		{"server with a password", "{server: 'https://u:hunter2@h'}", []string{"server: expected a URL"}},
		{"unknown verb", "{access: [{verb: read, resource: pods}]}", []string{`access[0].verb: "read"`}},
		{"no resource", "{access: [{verb: get}]}", []string{`access[0].resource: ""`}},
		{"malformed resource", "{watch: [Pods, a/b/c, /pods, apps/]}", []string{
			`watch[0]: "Pods"`, `watch[1]: "a/b/c"`, `watch[2]: "/pods"`, `watch[3]: "apps/"`,
		}},
		{"a namespace as the group", "{watch: [shop/pods, shop/apps/deployments, a.b/pods, policy/poddisruptionbudgets], access: [{verb: get, resource: shop/pods}]}", []string{
			`watch[0]: resource "shop/pods": "shop" is no API group, such as apps or networking.k8s.io: expected namespaces: [shop] and watch: [pods]`,
			"watch[1]: expected namespaces: [shop] and watch: [apps/deployments]",
			`access[0].resource: resource "shop/pods": "shop" is no API group, such as apps or networking.k8s.io: expected namespace: shop and resource: pods`,
		}},
		{"a version", "{watch: [v1/pods, core/v1/pods, core/services, apps/v1/deployments, apps/apps/deployments], access: [{verb: get, resource: apps/v1beta1/deployments}]}", []string{
			`watch[0]: resource "v1/pods": expected pods, with neither`, "watch[1]: expected pods, with", "watch[2]: expected services, with", "watch[3]: expected apps/deployments, with",
			"watch[4]: expected RESOURCE or GROUP/RESOURCE", "access[0].resource: expected apps/deployments, with",
		}},
		{"a subresource", "{access: [{verb: get, resource: pods/log}]}", []string{`access[0].resource: resource "pods/log": log is a subresource: expected the resource alone, as pods`}},
		{"malformed namespaces", "{watch: [pods], namespaces: [Shop, shop, shop, '', " + strings.Repeat("a", 64) + "]}", []string{
			`namespaces[0]: namespace "Shop": expected a name of at most 63`, `namespaces[2]: namespace "shop" is listed twice`, `namespaces[3]: namespace ""`, "namespaces[4]: aaa",
		}},
		{"namespaces of nothing", "{namespaces: [shop]}", []string{"namespaces: namespaces is set without watch: expected watch with it"}},
		{"a resource in no namespace", "{watch: [nodes, pods, rbac.authorization.k8s.io/clusterroles], namespaces: [shop]}", []string{
			`watch[0]: resource "nodes" is in no namespace: expected it in a collector without namespaces`, "watch[2]: in no namespace",
		}},
		{"a hundred watches", "{watch: [pods, services], namespaces: [" + namespaces(50) + "]}", nil},
		{"more than a hundred watches", "{watch: [pods, services], namespaces: [" + namespaces(51) + "]}", []string{
			"watch: 102 watches, one for each resource in each namespace: expected at most 100",
		}},
		{"malformed namespace", "{access: [{verb: get, resource: pods, namespace: a/b}]}", []string{`access[0].namespace: "a/b"`}},
		{"definition without a group", "{crds: [kuryrports, Kuryr.openstack.org]}", []string{"crds[0]: PLURAL.GROUP", "crds[1]: PLURAL.GROUP"}},
		{"listed twice", "{watch: [pods, pods], crds: [a.b, a.b], access: [{verb: get, resource: pods}, {verb: get, resource: pods}]}", []string{
			"watch[1]: twice", "access[1]: twice", "crds[1]: twice",
		}},
		{"no idle time-out", "{watch_idle_timeout: 0s}", []string{"watch_idle_timeout: more than 0s"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var c kubernetes.Config
			c.SetDefaults()
			if err := yaml.Unmarshal([]byte(test.block), &c); err != nil {
				t.Fatal(err)
			}
			problems := c.Problems()
			var paths, wantPaths []string
			for _, p := range problems {
				paths = append(paths, p.Path)
			}
			for i, want := range test.want {
				path, text, _ := strings.Cut(want, ": ")
				wantPaths = append(wantPaths, path)
				if i < len(problems) && (!strings.Contains(problems[i].Text, text) || strings.Contains(problems[i].Text, "hunter2")) {
					t.Errorf("Problems()[%d] = %q, want it to contain %q and no secret", i, problems[i].Text, text)
				}
			}
			if diff := cmp.Diff(wantPaths, paths); diff != "" {
				t.Errorf("Problems() has other paths (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNewReportsTheMissingFile(t *testing.T) {
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	for _, test := range []struct {
		name string
		c    kubernetes.Config
		want string
	}{
		{"not in a pod", kubernetes.Config{}, "not a pod"},
		{"no kubeconfig", kubernetes.Config{Kubeconfig: "missing/config"}, "missing/config"},
		{"kubeconfig is no YAML", kubernetes.Config{Kubeconfig: file(t, "c", "{")}, "load kubeconfig"},
		{"unknown context", kubernetes.Config{Kubeconfig: file(t, "c", "kind: Config"), Context: "lab"}, "lab"},
		{"no token file", kubernetes.Config{Server: "https://h", TokenFile: "missing/token"}, "missing/token"},
		{"empty token file", kubernetes.Config{Server: "https://h", TokenFile: file(t, "t", " \n")}, "no token"},
		{"no certificate authority", kubernetes.Config{Server: "https://h", CAFile: "missing/ca"}, "missing/ca"},
		{"authority is no certificate", kubernetes.Config{Server: "https://h", CAFile: file(t, "ca", "x")}, "certificate"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := test.c.New(collectors.Env{Name: "kubernetes"})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("New() = %v, want an error with %q", err, test.want)
			}
		})
	}
}
