package charts_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
)

// rightsConfig needs rights in all namespaces, in another one, and in that of the release.
const rightsConfig = `collectors:
  - name: api
    kubernetes: {server: "https://127.0.0.1:6443", watch: [pods, apps/deployments], crds: [a.example.com], access: [{verb: delete, resource: pods}]}
  - name: web
    certificate: {secret: {namespace: web, name: tls}}
  - name: shop
    certificate: {secret: {namespace: shop, name: tls}}
`

// rights returns what roles grant to the account of the release, one a line.
func rights(t *testing.T, text, account string) []string {
	t.Helper()
	bound := map[string]bool{}
	var lines []string
	for _, o := range objects(t, text) {
		for _, s := range o.Subjects {
			if s.Kind == "ServiceAccount" && s.Name == account && s.Namespace == namespace {
				bound[o.Metadata.Namespace+"/"+o.RoleRef.Kind+"/"+o.RoleRef.Name] = true
			}
		}
	}
	for _, o := range objects(t, text) {
		if len(o.Rules) > 0 && !bound[o.Metadata.Namespace+"/"+o.Kind+"/"+o.Metadata.Name] {
			t.Errorf("the %s %q of %q is not bound to %s: %v", o.Kind, o.Metadata.Name, o.Metadata.Namespace, account, bound)
		}
		for _, r := range o.Rules {
			lines = append(lines, each(o.Metadata.Namespace, r)...)
		}
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}

// each returns the single rights of a rule.
func each(in string, r rbacv1.PolicyRule) []string {
	var lines []string
	for _, group := range r.APIGroups {
		for _, resource := range r.Resources {
			for _, verb := range r.Verbs {
				lines = append(lines, strings.Join([]string{"in " + in, verb, group, resource, strings.Join(r.ResourceNames, ",")}, "|"))
			}
		}
	}
	return lines
}

// generated returns the output of "vitals generate rbac".
func generated(t *testing.T, config string, flags ...string) string {
	t.Helper()
	args := append([]string{"generate", "rbac", "--config.file=" + config, "--namespace=" + namespace}, flags...)
	return vitals(t, args...)
}

// The chart grants what "vitals generate rbac" prints, no more and no less.
func TestGeneratedRights(t *testing.T) {
	config := write(t, t.TempDir(), "vitals.yml", rightsConfig)
	printed := generated(t, config)
	text := helm(t, chartDir, map[string]any{"rbac": map[string]any{"manifest": printed}}).Manifest
	want := rights(t, printed, "vitals")
	if diff := cmp.Diff(want, rights(t, text, "vitals")); diff != "" || len(want) != 7 {
		t.Errorf("rights (-generated +chart):\n%s\nof %d, want 7", diff, len(want))
	}
	for _, o := range objects(t, text) {
		if o.Kind == "ClusterRole" && o.Metadata.Name != "shop:vitals" {
			t.Errorf("ClusterRole %s, want a name that a release in another namespace does not have", o.Metadata.Name)
		}
	}
}

// The rights of the reports come with their values.
func TestRightsOfReports(t *testing.T) {
	config := write(t, t.TempDir(), "vitals.yml", "collectors: [{name: a, tcp: {address: \"127.0.0.1:1\"}}]\n")
	for _, test := range []struct{ values, flag string }{
		{"{events: true}", "--kubernetes.events"},
		{"{readinessGate: example.com/VitalsReady}", "--kubernetes.readiness-gate=example.com/VitalsReady"},
		{"{nodeCondition: VitalsReady}", "--kubernetes.node-condition=VitalsReady"},
	} {
		text := helm(t, chartDir, parse(t, "reports: "+test.values)).Manifest
		if diff := cmp.Diff(rights(t, generated(t, config, test.flag), "vitals"), rights(t, text, "vitals")); diff != "" {
			t.Errorf("reports %s: rights (-generated +chart):\n%s", test.values, diff)
		}
		c, _ := container(t, pod(t, text))
		if !slices.Contains(c.Args, test.flag) {
			t.Errorf("reports %s: args = %q, want %s", test.values, c.Args, test.flag)
		}
	}
}

// The values of the example are what is generated for its configuration.
func TestRightsOfTheExample(t *testing.T) {
	text := helm(t, example(t), nil).Manifest
	want := rights(t, generated(t, configuration(t, text), "--service-account=my-app"), "my-app")
	if diff := cmp.Diff(want, rights(t, text, "my-app")); diff != "" || len(want) == 0 {
		t.Errorf("rights (-generated +chart):\n%s", diff)
	}
}

// A manifest that is not what the command prints is an error.
func TestRightsThatAreNoManifest(t *testing.T) {
	_, err := template(t, chartDir, map[string]any{"rbac": map[string]any{"manifest": "kind: [Role"}})
	if err == nil || !strings.Contains(err.Error(), "rbac.manifest is not the output of vitals generate rbac") {
		t.Errorf("template = %v, want an error that names rbac.manifest", err)
	}
}
