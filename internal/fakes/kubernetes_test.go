package fakes_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vitals-health/vitals/internal/fakes"
)

func TestKubernetesResponses(t *testing.T) {
	l := start(t, fakes.Options{})
	const partial = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
	const crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	for _, c := range []struct {
		name, path, accept string
		want               string
		keys               []string
		value              string
	}{
		{"version", "/version", "", "200", []string{"gitVersion"}, `"v1.36.3"`},
		{"core versions", "/api", "", "200", []string{"versions"}, `["v1"]`},
		{"groups", "/apis", "", "200", []string{"kind"}, `"APIGroupList"`},
		{"preferred version", "/apis/apps", "", "200", []string{"preferredVersion", "groupVersion"}, `"apps/v1"`},
		{"resources of a group", "/apis/apps/v1", "", "200", []string{"groupVersion"}, `"apps/v1"`},
		{"list", "/api/v1/pods", "", "200", []string{"kind"}, `"PodList"`},
		{"list with a limit", "/api/v1/pods?limit=1", "", "200", []string{"metadata", "remainingItemCount"}, `2`},
		{"rest of a list", "/api/v1/pods?limit=2&continue=1", "", "200", []string{"metadata"}, `{"resourceVersion":"1000"}`},
		{"bad continue", "/api/v1/pods?continue=x", "", "400", []string{"reason"}, `"BadRequest"`},
		{"list of another namespace", "/api/v1/namespaces/other/pods", "", "200", []string{"items"}, `[]`},
		{"list of metadata", "/api/v1/pods", strings.Replace(partial, "Metadata", "MetadataList", 1), "200", []string{"kind"}, `"PartialObjectMetadataList"`},
		{"object in a namespace", "/api/v1/namespaces/default/pods/web-1", "", "200", []string{"status"}, `{"phase":"Running"}`},
		{"object without a namespace", "/api/v1/nodes/node-2", "", "200", []string{"kind"}, `"Node"`},
		{"object that is absent", "/api/v1/nodes/node-9", "", "404", []string{"message"}, `"nodes \"node-9\" not found"`},
		{"resource that is absent", "/api/v1/secrets", "", "404", []string{"message"}, `"the server could not find the requested resource"`},
		{"path that is absent", "/nothing", "", "404", []string{"reason"}, `"NotFound"`},
		{"group that is absent", "/apis/batch", "", "404", []string{"reason"}, `"NotFound"`},
		{"definition", crds + "/kuryrnetworkpolicies.openstack.org", "", "200", []string{"spec", "names", "kind"}, `"KuryrNetworkPolicy"`},
		{"metadata of a definition", crds + "/kuryrports.openstack.org", partial, "200", []string{"spec"}, ``},
		{"definition that is absent", crds + "/x.example.org", "", "404", []string{"details"}, `{"group":"apiextensions.k8s.io","kind":"customresourcedefinitions","name":"x.example.org"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := l.kube(c.path, "Accept", c.accept)
			if got.outcome != c.want {
				t.Fatalf("GET %s = %s, want %s: %s", c.path, got.outcome, c.want, got.body)
			}
			if value := field(t, got.body, c.keys...); value != c.value {
				t.Errorf("%v = %s, want %s", c.keys, value, c.value)
			}
		})
	}
}

func TestDefinitionIsEstablished(t *testing.T) {
	l := start(t, fakes.Options{})
	for _, name := range []string{"kuryrnetworks", "kuryrports", "kuryrloadbalancers", "kuryrnetworkpolicies"} {
		got := l.kube("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/" + name + ".openstack.org")
		if !strings.Contains(string(got.body), `"status":"True","type":"Established"`) {
			t.Errorf("definition of %s = %s %s, want it established", name, got.outcome, got.body)
		}
	}
}

func TestHealthEndpointsAnswerOK(t *testing.T) {
	l := start(t, fakes.Options{})
	for _, path := range []string{"/healthz", "/livez", "/readyz"} {
		got := l.do(patience, http.MethodGet, l.KubernetesURL()+path, "")
		if got.outcome != "200" || string(got.body) != "ok" {
			t.Errorf("GET %s without a token = %s %q, want 200 ok", path, got.outcome, got.body)
		}
	}
}

func TestKubernetesChecksTheToken(t *testing.T) {
	l := start(t, fakes.Options{})
	for _, c := range []struct{ name, path, authorization, want string }{
		{"right", "/api/v1/pods", "Bearer " + l.Token(), "200"},
		{"wrong", "/api/v1/pods", "Bearer nonsense", "401"},
		{"wrong, at a public path", "/readyz", "Bearer nonsense", "401"},
		{"missing", "/api/v1/pods", "", "401"},
		{"not a bearer token", "/api/v1/pods", "Basic Zm9vOmJhcg==", "401"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var header []string
			if c.authorization != "" {
				header = []string{"Authorization", c.authorization}
			}
			got := l.do(patience, http.MethodGet, l.KubernetesURL()+c.path, "", header...)
			if got.outcome != c.want {
				t.Fatalf("GET %s = %s, want %s", c.path, got.outcome, c.want)
			}
			if c.want == "401" && field(t, got.body, "reason") != `"Unauthorized"` {
				t.Errorf("body = %s, want a Status with the reason Unauthorized", got.body)
			}
		})
	}
}

// mayI reviews whether pods may be listed.
func (l *lab) mayI(body string) answer {
	l.t.Helper()
	return l.do(patience, http.MethodPost, l.KubernetesURL()+"/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", body,
		"Authorization", "Bearer "+l.Token(), "Content-Type", "application/json")
}

func TestDenyAccess(t *testing.T) {
	const review = `{"kind":"SelfSubjectAccessReview","apiVersion":"authorization.k8s.io/v1","spec":{"resourceAttributes":{"verb":"list","resource":"pods"}}}`
	l := start(t, fakes.Options{})
	for _, c := range []struct{ fault, allowed, list string }{
		{fakes.None, "true", "200"}, {"deny-access", "false", "403"}, {fakes.None, "true", "200"},
	} {
		l.set("kubernetes", c.fault)
		got := l.mayI(review)
		if got.outcome != "201" || field(t, got.body, "status", "allowed") != c.allowed {
			t.Errorf("review under %s = %s %s, want 201 with allowed %s", c.fault, got.outcome, got.body, c.allowed)
		}
		for _, path := range []string{"/api/v1/pods?limit=1", "/apis/apps/v1/deployments"} {
			if got := l.kube(path); got.outcome != c.list {
				t.Errorf("GET %s under %s = %s, want %s", path, c.fault, got.outcome, c.list)
			}
		}
		if got := l.kube("/readyz"); got.outcome != "200" {
			t.Errorf("readyz under %s = %s, want 200", c.fault, got.outcome)
		}
	}
	for _, body := range []string{"", "{", `{"kind":"Pod","spec":{}}`, `{"kind":"SelfSubjectAccessReview"}`} {
		if got := l.mayI(body); got.outcome != "400" {
			t.Errorf("review %q = %s, want 400", body, got.outcome)
		}
	}
	if got := l.mayI(strings.Repeat(" ", 1<<20)); got.outcome != "413" {
		t.Errorf("review of 1 MiB = %s, want 413", got.outcome)
	}
}

func TestForbiddenHasDetails(t *testing.T) {
	l := start(t, fakes.Options{})
	l.set("kubernetes", "deny-access")
	var status struct {
		Message string         `json:"message"`
		Reason  string         `json:"reason"`
		Details map[string]any `json:"details"`
	}
	if err := json.Unmarshal(l.kube("/apis/apps/v1/deployments?watch=1").body, &status); err != nil {
		t.Fatal(err)
	}
	want := `deployments.apps is forbidden: User "system:serviceaccount:kube-system:kuryr-controller" cannot watch resource "deployments" in API group "apps" at the cluster scope`
	if status.Message != want || status.Reason != "Forbidden" {
		t.Errorf("Status = %s %q, want Forbidden %q", status.Reason, status.Message, want)
	}
	if diff := cmp.Diff(map[string]any{"kind": "deployments", "group": "apps"}, status.Details); diff != "" {
		t.Errorf("details (-want +got):\n%s", diff)
	}
}

func TestRemoveCRD(t *testing.T) {
	l := start(t, fakes.Options{})
	for _, c := range []struct{ fault, want string }{{"remove-crd", "404"}, {fakes.None, "200"}} {
		l.set("kubernetes", c.fault)
		for _, path := range []string{
			"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/kuryrports.openstack.org",
			"/apis/openstack.org/v1/kuryrports?limit=1", "/apis/openstack.org", "/apis/openstack.org/v1",
		} {
			if got := l.kube(path); got.outcome != c.want {
				t.Errorf("GET %s under %s = %s, want %s", path, c.fault, got.outcome, c.want)
			}
		}
		if got := l.kube("/api/v1/pods"); got.outcome != "200" {
			t.Errorf("list of pods under %s = %s, want 200", c.fault, got.outcome)
		}
	}
}
