//go:build e2e

package e2e_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"gopkg.in/yaml.v3"
)

// The object names are those of docs/guides/kubernetes.md.
const (
	reportsPod  = "/api/v1/namespaces/default/pods/my-app"
	reportsNode = "/api/v1/nodes/reports-node"
	reportsGate = "example.com/VitalsReady"
)

// reportsConfig measures one file.
const reportsConfig = `
evaluation_interval: 500ms
rule_files: [rules.yml]
collectors:
  - name: marker
    interval: 1s
    timeout: 1s
    file: {path: "%s/marker"}
`

const reportsRules = `
groups:
  - name: reports
    rules:
      - alert: MarkerMissing
        expr: vitals_file_exists{file="marker"} == 0
        labels: {state: ready}
        annotations: {summary: the marker is missing}
`

// The account has the rights of the guide and no more. Each is taken away once: the log and the
// metrics then name it, and it works again once it is back.
func TestReportsNeedTheirRightsOnly(t *testing.T) {
	a := newAPIServer(t, env(t).state, nil)
	roles := guideRoles(t)
	a.makePod(t, roles)
	r := &reporting{apiServer: a, dir: shortDirectory(t, "")}
	r.start(t, a.kubeconfig(t, r.dir))
	for _, test := range []struct{ verb, resource, role string }{
		{"create", "events", "Role"}, {"patch", "events", "Role"}, {"patch", "pods/status", "Role"}, {"patch", "nodes/status", "ClusterRole"},
	} {
		lacking := strings.Replace(roles[test.role], "[create, patch]", map[string]string{"create": "[patch]", "patch": "[create]"}[test.verb], 1)
		if test.resource != "events" {
			lacking = strings.Replace(roles[test.role], "["+test.resource+"]", "[configmaps]", 1)
		}
		a.replace(t, lacking)
		about := fmt.Sprintf("\" verb=%s resource=%s ", test.verb, test.resource)
		var lines, others int
		await(t, "the log names the right"+about, 2*time.Minute, func() error {
			r.untilReported(t, 0, test.verb, test.resource)
			text := read(t, r.vitals.log)
			// A request may also fail for another reason, such as a timeout on a busy machine.
			lines, others = strings.Count(text, "the account lacks the right"+about), strings.Count(text, "cannot report to Kubernetes"+about)
			if lines == 0 {
				return fmt.Errorf("it has %d lines with other reasons", others)
			}
			return nil
		})
		if lines > 1+others {
			t.Errorf("the log has %d lines with the right%s and %d with other reasons, want one unless others are between", lines, about, others)
		}
		a.replace(t, roles[test.role])
		r.untilReported(t, 1, test.verb, test.resource)
	}
	r.mark(t, false)
	await(t, "the condition of a failure", time.Minute, func() error {
		return errors.Join(a.condition(reportsPod, "False MarkerMissing the marker is missing, ready failing"), a.condition(reportsNode, "False MarkerMissing the marker is missing, ready failing"))
	})
	if got := a.events(t); !regexp.MustCompile(`(?m)^Warning MarkerMissing the marker is missing, ready failing(, \d+ changes)? since \S+Z$`).MatchString(got) || !strings.Contains(got, "Normal ReadyOk ready ok, after ") {
		t.Errorf("events of the pod:\n%s\nwant a failure and a recovery", got)
	}
	r.mark(t, true)
	await(t, "the condition of the recovery", time.Minute, func() error {
		return errors.Join(a.condition(reportsPod, "True ReadyOk ready ok"), a.condition(reportsNode, "True ReadyOk ready ok"))
	})
	r.vitals.stop(t)
	if err := errors.Join(a.condition(reportsPod, "False "), a.condition(reportsNode, "False ")); err != nil {
		t.Errorf("after SIGTERM: %v", err)
	}
}

// guideRoles returns the guide's objects of RBAC for reports, by their kind.
func guideRoles(t *testing.T) map[string]string {
	t.Helper()
	return guideRolesNamed(t, 4, "vitals-reports", "vitals-node-condition")
}

// guideRolesNamed returns the guide's objects of RBAC with these names, by their kind.
func guideRolesNamed(t *testing.T, want int, names ...string) map[string]string {
	t.Helper()
	roles := map[string]string{}
	for _, block := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(read(t, "../docs/guides/kubernetes.md"), -1) {
		for _, text := range strings.Split(block[1], "\n---\n") {
			var o identity
			if yaml.Unmarshal([]byte(text), &o) == nil && strings.HasPrefix(o.APIVersion, "rbac.") && slices.Contains(names, o.Metadata.Name) {
				roles[o.Kind] = text
			}
		}
	}
	if len(roles) != want {
		t.Fatalf("the guide has %d objects of RBAC with the names %q, want %d", len(roles), names, want)
	}
	return roles
}

// makePod makes the pod, its node and its account.
func (a apiServer) makePod(t *testing.T, roles map[string]string) {
	t.Helper()
	a.makeAccount(t, roles)
	a.create(t, "/api/v1/nodes", "{apiVersion: v1, kind: Node, metadata: {name: reports-node}}")
	a.create(t, "/api/v1/namespaces/default/pods", "{apiVersion: v1, kind: Pod, metadata: {name: my-app}, spec: {nodeName: reports-node, serviceAccountName: my-app, readinessGates: [{conditionType: "+reportsGate+"}], containers: [{name: a, image: a}]}}")
	t.Cleanup(func() {
		for _, path := range []string{reportsNode, reportsPod + "?gracePeriodSeconds=0"} {
			_, _, _ = a.send(http.MethodDelete, path, "")
		}
	})
}

// makeAccount makes the pod's account, with the rights of the roles.
func (a apiServer) makeAccount(t *testing.T, roles map[string]string) {
	t.Helper()
	const accounts = "/api/v1/namespaces/default/serviceaccounts"
	a.create(t, accounts, "{apiVersion: v1, kind: ServiceAccount, metadata: {name: my-app}}")
	t.Cleanup(func() { _, _, _ = a.send(http.MethodDelete, accounts+"/my-app", "") })
	for _, text := range roles {
		var o identity
		if err := yaml.Unmarshal([]byte(text), &o); err != nil {
			t.Fatal(err)
		}
		path, err := a.collection(o)
		if err != nil {
			t.Fatal(err)
		}
		a.create(t, path, text)
		t.Cleanup(func() { _, _, _ = a.send(http.MethodDelete, path+"/"+o.Metadata.Name, "") })
	}
}

// kubeconfig writes a kubeconfig with a token of the pod's account.
func (a apiServer) kubeconfig(t *testing.T, dir string) string {
	t.Helper()
	return a.kubeconfigOf(t, dir, "default", "my-app")
}

// kubeconfigOf writes a kubeconfig with a token of an account.
func (a apiServer) kubeconfigOf(t *testing.T, dir, namespace, account string) string {
	t.Helper()
	status, body, err := a.send(http.MethodPost, "/api/v1/namespaces/"+namespace+"/serviceaccounts/"+account+"/token", "{apiVersion: authentication.k8s.io/v1, kind: TokenRequest, spec: {}}")
	var granted struct{ Status struct{ Token string } }
	if err == nil {
		err = json.Unmarshal(body, &granted)
	}
	if err != nil || status != http.StatusCreated || granted.Status.Token == "" {
		t.Fatalf("request a token = %d %s, %v, want 201", status, body, err)
	}
	text := fmt.Sprintf("apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters: [{name: c, cluster: {server: %q, certificate-authority: %q}}]\nusers: [{name: u, user: {token: %q}}]\ncontexts: [{name: c, context: {cluster: c, user: u}}]\n",
		a.url, filepath.Join(env(t).state, "kubernetes", "ca.crt"), granted.Status.Token)
	path := filepath.Join(dir, "kubeconfig")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// replace puts another version of an object.
func (a apiServer) replace(t *testing.T, text string) {
	t.Helper()
	var o identity
	if err := yaml.Unmarshal([]byte(text), &o); err != nil {
		t.Fatal(err)
	}
	path, err := a.collection(o)
	if err != nil {
		t.Fatal(err)
	}
	if status, body, err := a.send(http.MethodPut, path+"/"+o.Metadata.Name, text); err != nil || status != http.StatusOK {
		t.Fatalf("PUT %s = %d %s, %v, want 200", path, status, body, err)
	}
}

// condition compares the condition of the pod or the node with the begin of a text.
func (a apiServer) condition(path, want string) error {
	var object struct {
		Status struct {
			Conditions []struct{ Type, Status, Reason, Message string }
		}
	}
	if err := a.get(path, &object); err != nil {
		return err
	}
	got := "none"
	for _, c := range object.Status.Conditions {
		if c.Type == reportsGate {
			got = c.Status + " " + c.Reason + " " + c.Message
		}
	}
	if !strings.HasPrefix(got, want) {
		return fmt.Errorf("condition of %s = %q, want %q", path, got, want)
	}
	return nil
}

// events returns the events about the pod, one a line.
func (a apiServer) events(t *testing.T) string {
	t.Helper()
	var list struct {
		Items []struct{ Type, Reason, Message string }
	}
	if err := a.get("/api/v1/namespaces/default/events?fieldSelector=involvedObject.name=my-app,source=vitals", &list); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, e := range list.Items {
		lines = append(lines, e.Type+" "+e.Reason+" "+e.Message)
	}
	return strings.Join(lines, "\n")
}

// reporting is a daemon that reports, and the directory with its marker.
type reporting struct {
	apiServer
	dir    string
	vitals daemon
}

// start runs the daemon as the account.
func (r *reporting) start(t *testing.T, kubeconfig string) {
	t.Helper()
	var pod struct{ Metadata struct{ UID string } }
	if err := r.get(reportsPod, &pod); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"vitals.yml": fmt.Sprintf(reportsConfig, r.dir), "rules.yml": reportsRules, "marker": ""} {
		if err := os.WriteFile(filepath.Join(r.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, value := range map[string]string{"POD_NAME": "my-app", "POD_NAMESPACE": "default", "POD_UID": pod.Metadata.UID, "NODE_NAME": "reports-node"} {
		t.Setenv(name, value)
	}
	listen := address(t)
	r.vitals = daemon{launch(t, listen, env(t).vitals, "run", "--config.file="+filepath.Join(r.dir, "vitals.yml"), "--web.listen-address="+listen, "--web.unix-socket=", "--web.shutdown-delay=1s",
		"--kubernetes.events", "--kubernetes.readiness-gate="+reportsGate, "--kubernetes.node-condition="+reportsGate, "--kubernetes.kubeconfig="+kubeconfig)}
	await(t, "vitals is ready", time.Minute, func() error { return r.vitals.want("/ready", http.StatusOK) })
}

// mark makes the marker, or removes it, and waits until ready shows that.
func (r *reporting) mark(t *testing.T, present bool) {
	t.Helper()
	marker, status := filepath.Join(r.dir, "marker"), http.StatusOK
	err := os.WriteFile(marker, nil, 0o600)
	if !present {
		status, err = http.StatusServiceUnavailable, os.Remove(marker)
	}
	if err != nil {
		t.Fatal(err)
	}
	await(t, "ready follows the marker", time.Minute, func() error { return r.vitals.want("/ready", status) })
}

// untilReported changes ready every five seconds until the last request with the right had the
// outcome.
func (r *reporting) untilReported(t *testing.T, outcome float64, verb, resource string) {
	t.Helper()
	present, marked := true, time.Time{}
	await(t, fmt.Sprintf("%s %s is %g", verb, resource, outcome), 2*time.Minute, func() error {
		if time.Since(marked) > 5*time.Second {
			present = !present
			r.mark(t, present)
			marked = time.Now()
		}
		now, err := r.vitals.metrics()
		if err == nil {
			err = now.want(outcome, "vitals_kubernetes_report_success", "resource", resource, "verb", verb)
		}
		return err
	})
	if !present {
		r.mark(t, true)
	}
}
