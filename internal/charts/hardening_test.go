package charts_test

import (
	"path"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

// The container of Vitals has no more rights than it needs, in every case.
func TestHardening(t *testing.T) {
	for _, r := range all(t) {
		t.Run(r.name, func(t *testing.T) {
			c, _ := container(t, pod(t, r.text))
			no, yes, user := false, true, int64(65532)
			want := &corev1.SecurityContext{
				RunAsNonRoot: &yes, RunAsUser: &user, RunAsGroup: &user, ReadOnlyRootFilesystem: &yes, AllowPrivilegeEscalation: &no,
				Capabilities:   &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
				SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			}
			if diff := cmp.Diff(want, c.SecurityContext); diff != "" {
				t.Errorf("securityContext (-want +got):\n%s", diff)
			}
			if c.Resources.Requests.Cpu().IsZero() || c.Resources.Requests.Memory().IsZero() || c.Resources.Limits.Memory().IsZero() {
				t.Errorf("resources = %+v, want requests and a limit of memory", c.Resources)
			}
			for _, m := range c.VolumeMounts {
				if writable := []string{"/run/vitals", "/var/lib/vitals"}; !m.ReadOnly && !slices.Contains(writable, m.MountPath) {
					t.Errorf("mount %s may be written to, want at most %q", m.MountPath, writable)
				}
			}
		})
	}
}

// The token of the service account is in the pod only where Vitals has rights.
func TestToken(t *testing.T) {
	for _, r := range all(t) {
		rights := false
		for _, o := range objects(t, r.text) {
			if o.Kind == "ServiceAccount" && o.Metadata.Name != "my-app" {
				continue
			}
			rights = rights || len(o.Rules) > 0
		}
		if got := pod(t, r.text).AutomountServiceAccountToken; got == nil || *got != rights {
			t.Errorf("%s: automountServiceAccountToken = %v, want %t", r.name, got, rights)
		}
	}
	for value, want := range map[string]bool{"always": true, "never": false} {
		text := helm(t, chartDir, parse(t, "serviceAccount: {automountToken: "+value+"}")).Manifest
		if got := pod(t, text).AutomountServiceAccountToken; got == nil || *got != want {
			t.Errorf("automountToken %s: automountServiceAccountToken = %v, want %t", value, got, want)
		}
	}
}

// Pods of Vitals alone have a NetworkPolicy and, in a Deployment, a budget, which select them.
func TestPoliciesSelectThePods(t *testing.T) {
	for _, r := range all(t) {
		if _, sidecar := container(t, pod(t, r.text)); sidecar {
			continue
		}
		w := workload(t, r.text)
		labels := w.Spec.Template.Labels
		policy := find(t, r.text, "NetworkPolicy").Spec.PodSelector
		if policy == nil || len(policy.MatchLabels) == 0 || !within(policy.MatchLabels, labels) {
			t.Errorf("%s: the NetworkPolicy selects %v, want pods with the labels %v", r.name, policy, labels)
		}
		if w.Kind != "Deployment" {
			continue
		}
		budget, _ := find(t, r.text, "PodDisruptionBudget").Spec.Selector.(map[string]any)
		if diff := cmp.Diff(w.Spec.Selector, any(budget)); diff != "" {
			t.Errorf("%s: the PodDisruptionBudget selects others than the Deployment:\n%s", r.name, diff)
		}
	}
}

// within reports whether all labels of a selector are among others.
func within(selector, labels map[string]string) bool {
	for name, value := range selector {
		if labels[name] != value {
			return false
		}
	}
	return true
}

// Every mount has its volume, and every file that a flag names is below a mount.
func TestMounts(t *testing.T) {
	for _, r := range all(t) {
		p := pod(t, r.text)
		c, _ := container(t, p)
		for _, m := range c.VolumeMounts {
			if !slices.ContainsFunc(p.Volumes, func(v corev1.Volume) bool { return v.Name == m.Name }) {
				t.Errorf("%s: the mount %s has no volume", r.name, m.Name)
			}
		}
		for _, flag := range []string{"--config.file=", "--web.config.file=", "--storage.path="} {
			for _, a := range c.Args {
				if len(a) <= len(flag) || a[:len(flag)] != flag {
					continue
				}
				if file := a[len(flag):]; !slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.MountPath == file || m.MountPath == path.Dir(file) }) {
					t.Errorf("%s: %s is below no mount: %v", r.name, a, c.VolumeMounts)
				}
			}
		}
	}
}

// The chart and the components render the same pod and the same probes.
func TestComponentsAreTheChart(t *testing.T) {
	if diff := cmp.Diff(pod(t, helm(t, chartDir, nil).Manifest), pod(t, kustomize(t, "standalone"))); diff != "" {
		t.Errorf("standalone: the pods differ (-chart +component):\n%s", diff)
	}
	if diff := cmp.Diff(pod(t, kustomize(t, "standalone")), pod(t, kustomize(t, "daemonset"))); diff != "" {
		t.Errorf("daemonset: the pods differ (-standalone +daemonset):\n%s", diff)
	}
	chart, component := pod(t, helm(t, example(t), nil).Manifest), pod(t, kustomize(t, "sidecar"))
	a, native := container(t, chart)
	b, also := container(t, component)
	if !native || !also || a.RestartPolicy == nil || *a.RestartPolicy != corev1.ContainerRestartPolicyAlways {
		t.Errorf("sidecars: native = %t, %t, restartPolicy = %v, want native sidecars", native, also, a.RestartPolicy)
	}
	if diff := cmp.Diff(a, b); diff != "" {
		t.Errorf("sidecar: the containers differ (-chart +component):\n%s", diff)
	}
	for _, of := range []func(corev1.Container) *corev1.Probe{
		func(c corev1.Container) *corev1.Probe { return c.StartupProbe },
		func(c corev1.Container) *corev1.Probe { return c.ReadinessProbe },
		func(c corev1.Container) *corev1.Probe { return c.LivenessProbe },
	} {
		if diff := cmp.Diff(of(chart.Containers[0]), of(component.Containers[0])); diff != "" || of(component.Containers[0]) == nil {
			t.Errorf("sidecar: the probes differ (-chart +component):\n%s", diff)
		}
	}
}
