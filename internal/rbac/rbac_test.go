package rbac_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/certificate"
	"github.com/vitals-health/vitals/collectors/kubernetes"
	"github.com/vitals-health/vitals/internal/kubereport"
	"github.com/vitals-health/vitals/internal/rbac"
)

// granted is what the tests read of an object.
type granted struct {
	Kind     string
	Metadata struct{ Name, Namespace string }
	Rules    []struct {
		APIGroups, Resources, ResourceNames, Verbs []string
	}
	RoleRef  struct{ Kind, Name string }
	Subjects []struct{ Kind, Name, Namespace string }
}

// summary returns the roles and bindings of a manifest, one rule or binding a line.
func summary(t *testing.T, manifest string) string {
	t.Helper()
	var lines []string
	for _, text := range strings.Split(manifest, "---\n") {
		var raw any
		var o granted
		if err := yaml.Unmarshal([]byte(text), &raw); err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		// Keys of Kubernetes are in camel case, and those of the struct in lower case.
		for _, key := range []string{"apiGroups", "resourceNames", "roleRef"} {
			text = strings.ReplaceAll(text, key+":", strings.ToLower(key)+":")
		}
		if err := yaml.Unmarshal([]byte(text), &o); err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		head := strings.TrimSpace(o.Kind + " " + o.Metadata.Namespace)
		for _, r := range o.Rules {
			lines = append(lines, strings.Join([]string{head + ":", strings.Join(r.Verbs, ","), strings.Join(r.APIGroups, ",") + "/" + strings.Join(r.Resources, ","), strings.Join(r.ResourceNames, ",")}, " "))
		}
		for _, s := range o.Subjects {
			lines = append(lines, head+": "+o.RoleRef.Kind+" to "+s.Kind+" "+s.Namespace+"/"+s.Name)
		}
	}
	return strings.Join(lines, "\n")
}

func TestObjects(t *testing.T) {
	to := rbac.Account{Name: "vitals", Namespace: "shop", ServiceAccount: "my-app"}
	reports := kubereport.Options{Events: true, ReadinessGate: "example.com/Ready", NodeCondition: "example.com/Ready"}
	api := &kubernetes.Config{Watch: []string{"pods", "services", "apps/deployments"}, CRDs: []string{"b.example.com", "a.example.com"}, Access: []kubernetes.Access{{Verb: "delete", Resource: "pods"}}}
	namespaced := &kubernetes.Config{Watch: []string{"pods", "apps/deployments"}, Namespaces: []string{"web", "shop"}}
	pods := (&kubernetes.Discovery{Role: "pods", Namespace: "shop"}).KubernetesRights()
	slices := (&kubernetes.Discovery{Role: "endpointslices", Namespace: "123"}).KubernetesRights()
	everywhere := (&kubernetes.Discovery{Role: "pods"}).KubernetesRights()
	for _, test := range []struct {
		name   string
		rights []kubernetes.Right
		want   []string
	}{
		{"a collector, without what it only checks", rbac.Of([]collectors.Kind{api}), []string{
			"ClusterRole: list,watch /pods,services ", "ClusterRole: get apiextensions.k8s.io/customresourcedefinitions a.example.com,b.example.com",
			"ClusterRole: list,watch apps/deployments ", "ClusterRoleBinding: ClusterRole to ServiceAccount shop/my-app",
		}},
		{"a collector of two namespaces", rbac.Of([]collectors.Kind{namespaced}), []string{
			"Role shop: list,watch /pods ", "Role shop: list,watch apps/deployments ", "RoleBinding shop: Role to ServiceAccount shop/my-app",
			"Role web: list,watch /pods ", "Role web: list,watch apps/deployments ", "RoleBinding web: Role to ServiceAccount shop/my-app",
		}},
		{"a certificate of a secret", rbac.Of([]collectors.Kind{&certificate.Config{Secret: &certificate.Secret{Namespace: "web", Name: "tls"}}, &certificate.Config{}}), []string{
			"Role web: get /secrets tls", "RoleBinding web: Role to ServiceAccount shop/my-app",
		}},
		{"all reports", reports.Rights("shop"), []string{
			"ClusterRole: patch /nodes/status ", "ClusterRoleBinding: ClusterRole to ServiceAccount shop/my-app",
			"Role shop: create,patch /events ", "Role shop: patch /pods/status ", "RoleBinding shop: Role to ServiceAccount shop/my-app",
		}},
		{"discoveries in two namespaces", append(pods, slices...), []string{
			"Role 123: list,watch discovery.k8s.io/endpointslices ", "RoleBinding 123: Role to ServiceAccount shop/my-app",
			"Role shop: list,watch /pods ", "RoleBinding shop: Role to ServiceAccount shop/my-app",
		}},
		{"a right in all namespaces is none in one", append(pods, everywhere...), []string{
			"ClusterRole: list,watch /pods ", "ClusterRoleBinding: ClusterRole to ServiceAccount shop/my-app",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(strings.Join(test.want, "\n"), summary(t, rbac.Objects(test.rights, to))); diff != "" {
				t.Errorf("Objects() differ (-want +got):\n%s", diff)
			}
		})
	}
	if got := rbac.Objects(nil, to); got != "" {
		t.Errorf("Objects() without rights = %q, want nothing", got)
	}
}
