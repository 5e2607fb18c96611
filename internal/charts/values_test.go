package charts_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

// Mistakes in the values are errors that name them.
func TestMistakes(t *testing.T) {
	for _, test := range []struct{ name, values, want string }{
		{"an unknown value", "replica: 1", "additional properties 'replica' not allowed"},
		{"an unknown value of a part", "image: {name: a}", "additional properties 'name' not allowed"},
		{"another kind", "kind: StatefulSet", "at '/kind'"},
		{"a port that is none", "ports: {health: 0}", "at '/ports/health'"},
		{"a digest that is none", "image: {digest: latest}", "at '/image/digest'"},
		{"an unknown field of a probe", "probes: {readiness: {period: 5}}", "additional properties 'period' not allowed"},
		{"values of another version without these", "probes: {own: null}", "at '/probes': missing property 'own'"},
		{"another type of probe", "probes: {type: tcp}", "at '/probes/type'"},
		{"a rule without verbs", "rbac: {rules: [{apiGroups: [''], resources: [pods]}]}", "verbs"},
		{"no configuration", "files: {vitals.yml: null}", "files has no vitals.yml"},
		{"a capability without root", "capabilities: [NET_RAW]", "capabilities have an effect for root only"},
		{"a monitor of loopback", "podMonitor: {enabled: true}", "podMonitor needs metrics that Prometheus reaches"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if _, err := template(t, chartDir, parse(t, test.values)); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("values %s: %v, want %q", test.values, err, test.want)
			}
		})
	}
}

// A collector that needs a capability gets it, and no other one.
func TestCapability(t *testing.T) {
	text := helm(t, chartDir, parse(t, "{capabilities: [NET_RAW], securityContext: {runAsNonRoot: false, runAsUser: 0}}")).Manifest
	c, _ := container(t, pod(t, text))
	want := &corev1.Capabilities{Add: []corev1.Capability{"NET_RAW"}, Drop: []corev1.Capability{"ALL"}}
	if diff := cmp.Diff(want, c.SecurityContext.Capabilities); diff != "" || *c.SecurityContext.RunAsUser != 0 {
		t.Errorf("capabilities (-want +got):\n%s of the user %d", diff, *c.SecurityContext.RunAsUser)
	}
}

// A digest takes the place of the tag.
func TestImage(t *testing.T) {
	digest := "sha256:" + strings.Repeat("0", 64)
	for values, want := range map[string]string{
		"{}": "vitals:latest", "image: {repository: registry.example/vitals, tag: v1}": "registry.example/vitals:v1",
		"image: {tag: v1, digest: '" + digest + "'}": "vitals@" + digest,
	} {
		c, _ := container(t, pod(t, helm(t, chartDir, parse(t, values)).Manifest))
		if c.Image != want {
			t.Errorf("values %s: image = %q, want %q", values, c.Image, want)
		}
	}
}

// The monitor selects the pods and adds the labels that the alerts of dashboards/alerts select.
func TestPodMonitor(t *testing.T) {
	text := helm(t, chartDir, parse(t, "{podMonitor: {enabled: true, tlsConfig: {serverName: vitals}}, web: {expose: true, secretName: web}}")).Manifest
	o := find(t, text, "PodMonitor")
	if diff := cmp.Diff(workload(t, text).Spec.Selector, o.Spec.Selector); diff != "" {
		t.Errorf("the PodMonitor selects others than the Deployment:\n%s", diff)
	}
	for _, line := range []string{"- port: web\n", "path: /metrics\n", "scheme: https\n", "serverName: vitals\n", "{action: replace, targetLabel: job, replacement: vitals}"} {
		if _, monitor, _ := strings.Cut(text, "kind: PodMonitor"); !strings.Contains(monitor, line) {
			t.Errorf("the PodMonitor has no %q:\n%s", line, monitor)
		}
	}
}

// leaves returns the values of values.yaml as README.md lists them: a mapping with keys has one row
// for each key.
func leaves(prefix string, v map[string]any) map[string]string {
	rows := map[string]string{}
	for key, value := range v {
		part, ok := value.(map[string]any)
		name := prefix + key
		if whole := []string{"files", "securityContext", "podSecurityContext", "resources"}; ok && len(part) > 0 && prefix == "" && !slices.Contains(whole, key) {
			for k, d := range leaves(name+".", part) {
				rows[k] = d
			}
			continue
		}
		text, _ := json.Marshal(value)
		rows[name] = string(text)
	}
	return rows
}

// README.md lists every value with its default.
func TestReadme(t *testing.T) {
	want := leaves("", parse(t, read(t, chartDir+"/values.yaml")))
	_, table, _ := strings.Cut(read(t, chartDir+"/README.md"), "\n## Values\n")
	got := map[string]string{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([A-Za-z.]+)` \\| (?:`([^`]*)`|([^|]*)) \\|").FindAllStringSubmatch(table, -1) {
		if got[m[1]] = m[2]; m[2] == "" { // described, not repeated
			got[m[1]] = want[m[1]]
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("values (-values.yaml +README.md):\n%s", diff)
	}
}
