//go:build e2e

package e2e_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gopkg.in/yaml.v3"
)

// The objects of the test. Those of the cluster have the name of the namespace.
const (
	rightsNamespace = "e2e-rights"
	rightsAccount   = "needs"
	rightsBase      = "/api/v1/namespaces/" + rightsNamespace
	rightsRoles     = "/apis/rbac.authorization.k8s.io/v1"
)

// rightsWithin bounds each wait, for a busy machine.
const rightsWithin = time.Minute

// rightsConfig has all that needs rights, except for a secret, which has its own test.
const rightsConfig = `
evaluation_interval: 200ms
rule_files: [rules.yml]
collectors:
  - name: marker
    interval: 200ms
    timeout: 200ms
    file: {path: %[1]q}
  - name: api
    interval: 1s
    timeout: 1s
    kubernetes: {kubeconfig: %[2]q, watch: [pods, apps/deployments], crds: [kuryrports.openstack.org, kuryrnetworks.openstack.org], access: %[3]s}
  - name: found
    interval: 1s
    timeout: 1s
    tcp: {discovery: {kubernetes: {role: endpointslices, namespace: ` + rightsNamespace + `, selector: app=found, port: http, kubeconfig: %[2]q}}}
`

// grantedRule is a rule of a role.
type grantedRule struct {
	APIGroups     []string `yaml:"apiGroups" json:"apiGroups"`
	Resources     []string `yaml:"resources" json:"resources"`
	ResourceNames []string `yaml:"resourceNames" json:"resourceNames,omitempty"`
	Verbs         []string `yaml:"verbs" json:"verbs"`
}

// grantedRole is a generated role.
type grantedRole struct {
	APIVersion string        `yaml:"apiVersion" json:"apiVersion"`
	Kind       string        `yaml:"kind" json:"kind"`
	Metadata   grantedName   `yaml:"metadata" json:"metadata"`
	Rules      []grantedRule `yaml:"rules" json:"rules"`
}

type grantedName struct {
	Name      string `yaml:"name" json:"name"`
	Namespace string `yaml:"namespace" json:"namespace,omitempty"`
}

// grantedRight is one verb of one resource, and of one object where the rule names some.
type grantedRight struct{ verb, group, resource, namespace, name string }

func (g grantedRight) String() string {
	resource := strings.TrimPrefix(g.group+"/"+g.resource, "/")
	switch {
	case g.name != "":
		return g.verb + " " + resource + " " + g.name
	case g.namespace != "":
		return g.verb + " " + resource + " in namespace " + g.namespace
	}
	return g.verb + " " + resource + " in all namespaces"
}

// rights returns what the role grants.
func (r grantedRole) rights() []grantedRight {
	var all []grantedRight
	for _, rule := range r.Rules {
		names := rule.ResourceNames
		if len(names) == 0 {
			names = []string{""}
		}
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, name := range names {
					for _, verb := range rule.Verbs {
						all = append(all, grantedRight{verb, group, resource, r.Metadata.Namespace, name})
					}
				}
			}
		}
	}
	return all
}

// without returns the role with all its rights but one, each in a rule of its own.
func (r grantedRole) without(missing grantedRight) grantedRole {
	var rules []grantedRule
	for _, g := range r.rights() {
		if g == missing {
			continue
		}
		rule := grantedRule{APIGroups: []string{g.group}, Resources: []string{g.resource}, Verbs: []string{g.verb}}
		if g.name != "" {
			rule.ResourceNames = []string{g.name}
		}
		rules = append(rules, rule)
	}
	r.Rules = rules
	return r
}

// rightsLab is an account with the generated roles, and the daemon that runs as it.
type rightsLab struct {
	reporting
	roles []grantedRole
	flags []string
}

// newRightsLab makes the account and what the daemon reports about.
func newRightsLab(t *testing.T) *rightsLab {
	t.Helper()
	l := &rightsLab{reporting: reporting{apiServer: newAPIServer(t, env(t).state, nil), dir: shortDirectory(t, "")}}
	l.makeNamespace(t, rightsNamespace, "{}")
	l.apply(t, rightsBase+"/serviceaccounts/"+rightsAccount, "{apiVersion: v1, kind: ServiceAccount, metadata: {name: "+rightsAccount+"}}")
	l.apply(t, "/api/v1/nodes/"+rightsNamespace, "{apiVersion: v1, kind: Node, metadata: {name: "+rightsNamespace+"}}")
	l.apply(t, rightsBase+"/pods/my-app", "{apiVersion: v1, kind: Pod, metadata: {name: my-app}, spec: {nodeName: "+rightsNamespace+", serviceAccountName: "+rightsAccount+", readinessGates: [{conditionType: "+reportsGate+"}], containers: [{name: a, image: a}]}}")
	var pod struct{ Metadata struct{ UID string } }
	if err := l.get(rightsBase+"/pods/my-app", &pod); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"POD_NAME": "my-app", "POD_NAMESPACE": rightsNamespace, "POD_UID": pod.Metadata.UID, "NODE_NAME": rightsNamespace} {
		t.Setenv(name, value)
	}
	kubeconfig := l.kubeconfigOf(t, l.dir, rightsNamespace, rightsAccount)
	l.flags = []string{"--config.file=" + l.path("vitals.yml"), "--kubernetes.events", "--kubernetes.readiness-gate=" + reportsGate, "--kubernetes.node-condition=" + reportsGate, "--kubernetes.kubeconfig=" + kubeconfig}
	l.configure(t, kubeconfig, "[]")
	l.generate(t)
	l.configure(t, kubeconfig, l.access())
	return l
}

func (l *rightsLab) path(name string) string { return filepath.Join(l.dir, name) }

// apply makes or replaces an object, until the end of the test.
func (l *rightsLab) apply(t *testing.T, path, text string) {
	t.Helper()
	status, body, err := l.sendAs(http.MethodPatch, path+"?fieldManager=e2e&force=true&fieldValidation=Strict", text, "application/apply-patch+yaml")
	switch {
	case err == nil && status == http.StatusCreated:
		t.Cleanup(func() { _, _, _ = l.send(http.MethodDelete, path+"?gracePeriodSeconds=0", "") })
	case err != nil || status != http.StatusOK:
		t.Fatalf("apply %s = %d %s, %v, want it made\n%s", path, status, body, err, text)
	}
}

// configure writes the configuration, with rights that the collector checks.
func (l *rightsLab) configure(t *testing.T, kubeconfig, access string) {
	t.Helper()
	for name, text := range map[string]string{"vitals.yml": fmt.Sprintf(rightsConfig, l.path("marker"), kubeconfig, access), "rules.yml": reportsRules, "marker": ""} {
		if err := os.WriteFile(l.path(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// generate applies the output of vitals generate rbac.
func (l *rightsLab) generate(t *testing.T) {
	t.Helper()
	args := append([]string{"generate", "rbac", "--name=" + rightsNamespace, "--namespace=" + rightsNamespace, "--service-account=" + rightsAccount}, l.flags...)
	printed, err := exec.Command(env(t).vitals, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("vitals generate rbac = %v\n%s", err, printed)
	}
	for _, text := range strings.Split(string(printed), "---\n") {
		var role grantedRole
		if err := yaml.Unmarshal([]byte(text), &role); err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		l.apply(t, role.path(), text)
		if len(role.Rules) > 0 {
			l.roles = append(l.roles, role)
		}
	}
	if len(l.roles) != 2 {
		t.Fatalf("vitals generate rbac has %d roles, want one of the cluster and one of the namespace:\n%s", len(l.roles), printed)
	}
}

// path returns the path of a role or a binding.
func (r grantedRole) path() string {
	namespace := ""
	if r.Metadata.Namespace != "" {
		namespace = "/namespaces/" + r.Metadata.Namespace
	}
	return rightsRoles + namespace + "/" + strings.ToLower(r.Kind) + "s/" + r.Metadata.Name
}

// checked reports whether the option access can express the right: it has neither subresources nor
// names of objects.
func (g grantedRight) checked() bool { return g.name == "" && !strings.Contains(g.resource, "/") }

// access returns the value of the option access for all generated rights.
func (l *rightsLab) access() string {
	var list []string
	for _, role := range l.roles {
		for _, g := range role.rights() {
			if g.checked() {
				list = append(list, fmt.Sprintf("{verb: %s, resource: %s, namespace: %q}", g.verb, strings.TrimPrefix(g.group+"/"+g.resource, "/"), g.namespace))
			}
		}
	}
	return "[" + strings.Join(list, ", ") + "]"
}

// grant applies a role, and waits until the API server decides by it.
func (l *rightsLab) grant(t *testing.T, role grantedRole, right grantedRight, want bool) {
	t.Helper()
	text, err := json.Marshal(role)
	if err != nil {
		t.Fatal(err)
	}
	l.apply(t, role.path(), string(text))
	resource, subresource, _ := strings.Cut(right.resource, "/")
	review := fmt.Sprintf(`{apiVersion: authorization.k8s.io/v1, kind: SubjectAccessReview, spec: {user: "system:serviceaccount:%s:%s", resourceAttributes: {verb: %s, group: %q, resource: %s, subresource: %q, namespace: %q, name: %q}}}`,
		rightsNamespace, rightsAccount, right.verb, right.group, resource, subresource, right.namespace, right.name)
	await(t, fmt.Sprintf("the API server allows %s: %t", right, want), rightsWithin, func() error {
		status, body, err := l.send(http.MethodPost, "/apis/authorization.k8s.io/v1/subjectaccessreviews", review)
		var answer struct{ Status struct{ Allowed bool } }
		if err == nil {
			err = json.Unmarshal(body, &answer)
		}
		if err != nil || status != http.StatusCreated || answer.Status.Allowed != want {
			err = fmt.Errorf("review of %s = %d %s, %v", right, status, body, err)
		}
		return err
	})
}

// run starts the daemon.
func (l *rightsLab) run(t *testing.T) {
	t.Helper()
	listen := address(t)
	command := append([]string{env(t).vitals, "run", "--web.listen-address=" + listen, "--web.unix-socket=", "--web.shutdown-delay=0s"}, l.flags...)
	l.vitals = daemon{launch(t, listen, command...)}
	await(t, "vitals is ready", rightsWithin, func() error { return l.vitals.want("/ready", http.StatusOK) })
}

// until waits for a state of the daemon. Where only a report shows it, it changes ready again and
// again.
func (l *rightsLab) until(t *testing.T, what string, changing bool, check func(m metrics) error) {
	t.Helper()
	present := true
	await(t, what, rightsWithin, func() error {
		m, err := l.vitals.metrics()
		if err == nil {
			err = check(m)
		}
		if err != nil && changing {
			present = !present
			l.mark(t, present)
		}
		return err
	})
	if !present {
		l.mark(t, true)
	}
}

// reported reports whether a report needs the right, and no collector.
func (g grantedRight) reported() bool {
	return slices.Contains([]string{"create", "patch"}, g.verb)
}

// allowed compares the checks of all rights: each is there, but for one.
func (l *rightsLab) allowed(m metrics, missing grantedRight) error {
	var errs []error
	for _, role := range l.roles {
		for _, g := range role.rights() {
			if want := 1.0; g.checked() {
				if g == missing {
					want = 0
				}
				labels := []string{"dependency", "api", "verb", g.verb, "resource", strings.TrimPrefix(g.group+"/"+g.resource, "/")}
				if g.namespace != "" {
					labels = append(labels, "namespace", g.namespace)
				}
				errs = append(errs, m.want(want, "vitals_kubernetes_access_allowed", labels...))
			}
		}
	}
	return errors.Join(errs...)
}

// collects is the state in which every collector works.
func (l *rightsLab) collects(m metrics) error {
	errs := []error{m.want(1, "vitals_dependency_up", "dependency", "api"), m.want(1, "vitals_discovery_up", "collector", "found"), l.allowed(m, grantedRight{})}
	for _, resource := range []string{"pods", "apps/deployments"} {
		errs = append(errs, m.want(1, "vitals_kubernetes_watch_connected", "dependency", "api", "resource", resource))
	}
	for _, crd := range []string{"kuryrports.openstack.org", "kuryrnetworks.openstack.org"} {
		errs = append(errs, m.want(1, "vitals_kubernetes_crd_present", "dependency", "api", "crd", crd))
	}
	return errors.Join(errs...)
}

// lacks is the state in which Vitals names the missing right.
func (l *rightsLab) lacks(m metrics, missing grantedRight) error {
	errs := []error{l.allowed(m, missing), m.want(1, "vitals_dependency_up", "dependency", "api")}
	if missing.reported() {
		line := fmt.Sprintf("the account lacks the right\" verb=%s resource=%s ", missing.verb, missing.resource)
		text, err := os.ReadFile(l.vitals.log)
		if err == nil && !strings.Contains(string(text), line) {
			err = fmt.Errorf("the log has no line with %s", line)
		}
		return errors.Join(append(errs, err, m.want(0, "vitals_kubernetes_report_success", "resource", missing.resource, "verb", missing.verb))...)
	}
	want := "the account lacks the right to " + missing.String() + ":"
	_, body, err := l.vitals.get("/api/v1/status")
	if err == nil && !strings.Contains(body, want) {
		err = fmt.Errorf("GET /api/v1/status = %s, want %q", body, want)
	}
	return errors.Join(append(errs, err)...)
}

// works is the state in which a collector or a report has its right.
func (l *rightsLab) works(m metrics, right grantedRight) error {
	if right.reported() {
		return errors.Join(l.collects(m), m.want(1, "vitals_kubernetes_report_success", "resource", right.resource, "verb", right.verb))
	}
	return l.collects(m)
}

// The generated roles are enough, and each verb of them is necessary: without it, Vitals names the
// right, and works again once it is back. An open watch outlives its right, so each right is
// missing from the start of a daemon.
func TestGeneratedRightsAreNecessary(t *testing.T) {
	l := newRightsLab(t)
	t.Run("all", func(t *testing.T) {
		l.run(t)
		l.until(t, "everything works", true, func(m metrics) error {
			var errs []error
			for _, role := range l.roles {
				for _, g := range role.rights() {
					errs = append(errs, l.works(m, g))
				}
			}
			return errors.Join(errs...)
		})
	})
	for _, role := range l.roles {
		for _, right := range role.rights() {
			t.Run(right.String(), func(t *testing.T) {
				l.grant(t, role.without(right), right, false)
				l.run(t)
				l.until(t, "Vitals names the right to "+right.String(), right.reported(), func(m metrics) error { return l.lacks(m, right) })
				l.grant(t, role, right, true)
				l.until(t, "Vitals has the right to "+right.String(), right.reported(), func(m metrics) error { return l.works(m, right) })
			})
		}
	}
}
