package kubereport

import (
	"strings"
	"testing"
)

func TestNothingToReport(t *testing.T) {
	r, err := New(Options{}, Env{})
	if r != nil || err != nil {
		t.Fatalf("New() = %v, %v, want nil", r, err)
	}
	r.Run(t.Context(), nil, nil)
	if dropped, ok := r.Dropped(); r.Status() != nil || dropped != 0 || ok {
		t.Error("a nil Reporter has outcomes, want none")
	}
}

func TestMistakesAreNamed(t *testing.T) {
	pod := map[string]string{"POD_NAME": "app-7", "POD_NAMESPACE": "shop", "POD_UID": "u-1", "NODE_NAME": "node-1"}
	for _, test := range []struct {
		name    string
		options Options
		unset   []string
		want    string
	}{
		{"no variable", Options{Events: true}, []string{"POD_NAME", "POD_NAMESPACE", "POD_UID"}, "missing: POD_NAME (metadata.name), POD_NAMESPACE (metadata.namespace), POD_UID (metadata.uid)"},
		{"no uid for the gate", Options{ReadinessGate: gate}, []string{"POD_UID"}, "missing: POD_UID (metadata.uid)"},
		{"no node", Options{NodeCondition: gate}, []string{"NODE_NAME"}, "missing: NODE_NAME (spec.nodeName)"},
		{"a condition of the kubelet", Options{ReadinessGate: "Ready"}, nil, "--kubernetes.readiness-gate=Ready: Kubernetes itself sets this condition"},
		{"a condition of the node's kubelet", Options{NodeCondition: "DiskPressure"}, nil, "--kubernetes.node-condition=DiskPressure: Kubernetes itself sets this condition"},
		{"no type", Options{NodeCondition: "not a type"}, nil, `--kubernetes.node-condition="not a type": expected a type`},
		{"a kubeconfig for nothing", Options{Kubeconfig: "file"}, nil, "--kubernetes.kubeconfig=file: expected a report with it"},
		{"no pod", Options{Events: true}, nil, "this is not a pod"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Setenv("KUBERNETES_SERVICE_HOST", "")
			_, err := New(test.options, Env{Getenv: func(name string) string {
				for _, unset := range test.unset {
					if name == unset {
						return ""
					}
				}
				return pod[name]
			}, Hide: func(...string) {}})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("New() = %v, want an error with %q", err, test.want)
			}
		})
	}
}

// A node needs no variables of the pod, and events do not need the node.
func TestOnlyNeededVariables(t *testing.T) {
	only := func(names string) func(string) string {
		return func(name string) string {
			if strings.Contains(names, name) {
				return "a"
			}
			return ""
		}
	}
	if _, err := (Options{NodeCondition: gate}).identify(only("NODE_NAME")); err != nil {
		t.Error(err)
	}
	if _, err := (Options{Events: true}).identify(only("POD_NAME POD_NAMESPACE POD_UID")); err != nil {
		t.Error(err)
	}
	if _, err := (Options{Events: true}).identify(func(string) string { return "../x" }); err == nil || !strings.Contains(err.Error(), "POD_NAMESPACE") {
		t.Errorf("identify() with a path as the namespace = %v, want an error", err)
	}
}
