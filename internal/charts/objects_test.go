package charts_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// object has the fields of the rendered objects that the tests read.
type object struct {
	Kind     string            `json:"kind"`
	Metadata metav1.ObjectMeta `json:"metadata"`
	Data     map[string]string `json:"data"`
	Spec     struct {
		Replicas    *int                   `json:"replicas"`
		Selector    any                    `json:"selector"`
		PodSelector *metav1.LabelSelector  `json:"podSelector"`
		Template    corev1.PodTemplateSpec `json:"template"`
	} `json:"spec"`
	Rules    []rbacv1.PolicyRule `json:"rules"`
	RoleRef  rbacv1.RoleRef      `json:"roleRef"`
	Subjects []rbacv1.Subject    `json:"subjects"`
}

// objects parses all objects of a text.
func objects(t *testing.T, text string) []object {
	t.Helper()
	var found []object
	for _, document := range strings.Split("\n"+text, "\n---") {
		var o object
		if err := yaml.Unmarshal([]byte(document), &o); err != nil {
			t.Fatalf("%v in\n%s", err, document)
		}
		if o.Kind != "" {
			found = append(found, o)
		}
	}
	if len(found) == 0 {
		t.Fatalf("no object in\n%s", text)
	}
	return found
}

// find returns the only object of a kind, whose case does not matter.
func find(t *testing.T, text, kind string) object {
	t.Helper()
	var found []object
	for _, o := range objects(t, text) {
		if strings.EqualFold(o.Kind, kind) {
			found = append(found, o)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d objects of the kind %s, want one in\n%s", len(found), kind, text)
	}
	return found[0]
}

// workload returns the object with pods.
func workload(t *testing.T, text string) object {
	t.Helper()
	for _, o := range objects(t, text) {
		if o.Kind == "Deployment" || o.Kind == "DaemonSet" {
			return o
		}
	}
	t.Fatalf("no workload in\n%s", text)
	return object{}
}

// pod returns the pod of the workload.
func pod(t *testing.T, text string) corev1.PodSpec {
	t.Helper()
	return workload(t, text).Spec.Template.Spec
}

// container returns the container of Vitals, and whether it is a native sidecar.
func container(t *testing.T, p corev1.PodSpec) (c corev1.Container, sidecar bool) {
	t.Helper()
	for _, c := range p.InitContainers {
		if c.Name == "vitals" {
			return c, true
		}
	}
	for _, c := range p.Containers {
		if c.Name == "vitals" {
			return c, false
		}
	}
	t.Fatalf("no container vitals in %+v", p)
	return c, false
}
