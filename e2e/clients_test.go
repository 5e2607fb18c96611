//go:build e2e

package e2e_test

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const (
	kubernetesGuide = "docs/guides/kubernetes.md"
	generateGuide   = "docs/guides/kubernetes-generate.md"
	tutorial        = "docs/tutorial.md"
	// releaseLabel selects what belongs to the release.
	releaseLabel  = "app.kubernetes.io/instance=vitals"
	clientsConfig = `
rule_files: [rules.yml]
collectors:
  - {name: database, interval: 1s, timeout: 1s, tcp: {address: "` + databaseAddress + `"}}
`
	clientsRules = `
groups:
  - name: shop
    rules:
      - alert: DatabaseDown
        expr: vitals_dependency_up{dependency="database"} == 0
        for: 2s
        labels: {state: ready, severity: critical}
        annotations: {summary: The database does not answer.}
`
)

// changedRules has one rule more than clientsRules.
var changedRules = clientsRules + strings.NewReplacer("DatabaseDown", "DatabaseSlow", " == 0", " == 2").Replace(clientsRules[strings.Index(clientsRules, "      - alert"):])

// clientsApp is a workload of the service. The name of the image is not that of a registry.
const clientsApp = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: my-app}
spec:
  selector: {matchLabels: {app: generated}}
  template:
    metadata: {labels: {app: generated}}
    spec:
      automountServiceAccountToken: false
      containers:
        - {name: app, image: "` + serviceImage + `", imagePullPolicy: Never}
`

// startClients starts a node with controllers, a scheduler, the images and the definitions of the
// Prometheus Operator.
func startClients(t *testing.T) *node {
	t.Helper()
	n := startNode(t)
	for _, verb := range []string{"controllers", "scheduler"} {
		if out, err := n.command("./kubelet.sh", verb).CombinedOutput(); err != nil {
			t.Fatalf("kubelet.sh %s: %v\n%s", verb, err, out)
		}
	}
	n.projectImage(t)
	n.ctr(t, "images", "tag", vitalsImage, "docker.io/library/vitals:"+releaseVersion) // README.md names a release
	n.serviceImage(t)
	c := newConsole(t, n, nil)
	c.sh(t, "kubectl create --filename="+cached(t, "prometheus-operator-*", "kubernetes"))
	c.sh(t, "kubectl wait --for=condition=Established --timeout=1m customresourcedefinition --all")
	for _, name := range []string{"monitoring", "shop", "guide", "release", "tutorial"} {
		c.sh(t, "kubectl create namespace "+name)
	}
	t.Cleanup(func() {
		if out, err := c.try("kubectl get pods,events --all-namespaces"); t.Failed() {
			t.Log(out, err)
		}
	})
	return n
}

// in makes a namespace that of the commands without one.
func (c console) in(t *testing.T, namespace string) console {
	t.Helper()
	c.sh(t, `cp "$KUBECONFIG" config && KUBECONFIG=config kubectl config set-context --current --namespace=`+namespace)
	c.config = c.path("config")
	return c
}

// On a real cluster, helm and kubectl do what the documentation shows, by its own commands.
func TestKubeletClients(t *testing.T) {
	n := startClients(t)
	t.Run("Operator", func(t *testing.T) { operatorAccepts(t, newConsole(t, n, nil)) })
	t.Run("Guide", func(t *testing.T) {
		guideRuns(t, newConsole(t, n, map[string]string{"vitals.yml": clientsConfig, "rules.yml": clientsRules}).in(t, "guide"))
	})
	// The pods of all start at the same time.
	parts := []struct {
		name  string
		begin func(*testing.T, *node) (finish func(*testing.T))
	}{{"Helm", helmReleases}, {"Generate", generatedRuns}, {"Tutorial", tutorialRuns}, {"Kustomize", kustomizeApplies}}
	var finish []func(*testing.T)
	for _, part := range parts {
		finish = append(finish, part.begin(t, n))
	}
	for i, part := range parts {
		t.Run(part.name, finish[i])
	}
}

// operatorAccepts creates the objects of dashboards/ as the guides do, and again, which changes
// nothing. The definitions of the Prometheus Operator check them.
func operatorAccepts(t *testing.T, c console) {
	apply := documented(t, "docs/guides/alerting.md", "kubectl apply --namespace=monitoring -f dashboards/alerts/")
	more := "kubectl apply --namespace=monitoring -f dashboards/alerts/servicemonitor.yaml"
	boards := documented(t, "docs/guides/dashboards.md", "kubectl apply -n monitoring -f dashboards/")
	for _, result := range []string{"created", "unchanged"} {
		for _, line := range []string{apply, more, boards} {
			for printed := range strings.Lines(c.sh(t, line)) {
				if !strings.HasSuffix(strings.TrimSpace(printed), " "+result) {
					t.Errorf("%s prints %q, want that each object is %s", line, printed, result)
				}
			}
		}
	}
	kinds := c.sh(t, "kubectl get --namespace=monitoring prometheusrules,podmonitors,servicemonitors --output=name")
	for kind, least := range map[string]int{"prometheusrule.": 5, "podmonitor.": 1, "servicemonitor.": 1} {
		if got := strings.Count(kinds, kind); got < least {
			t.Errorf("%d objects are of the kind %s, want at least %d:\n%s", got, kind, least, kinds)
		}
	}
	for file, change := range map[string][]string{
		"podmonitor.yaml": {"interval: 15s", "interval: often"}, "prometheusrule.yaml": {"  groups:", "  nowhere: 1\n  groups:"},
	} {
		write(t, c.path(file), replaced(t, read(t, "../dashboards/alerts/"+file), change...))
		if out, err := c.try("kubectl apply --namespace=shop -f " + file); err == nil || !strings.Contains(out, "often") && !strings.Contains(out, "nowhere") {
			t.Errorf("%s with %q: %v\n%s\nwant that the definition rejects it", file, change[1], err, out)
		}
	}
}

// guideRuns runs the commands of the guides that need no running pod.
func guideRuns(t *testing.T, c console) {
	for _, name := range []string{"web.yml", "tls.crt", "tls.key"} {
		write(t, c.path(name), "{}\n")
	}
	c.sh(t, documented(t, kubernetesGuide, "kubectl create secret generic my-app-vitals-web "))
	write(t, c.path("app.yaml"), shownYAML(t, kubernetesGuide, "a restart must cure it."))
	c.sh(t, "kubectl apply -f app.yaml")
	c.sh(t, documented(t, generateGuide, "vitals generate probes --config.file=vitals.yml --container=app "))
	c.sh(t, documented(t, generateGuide, "kubectl patch deployment my-app "))
	if got := c.sh(t, "kubectl get deployment my-app --output=jsonpath='{.spec.template.spec.containers[*].livenessProbe.failureThreshold}'"); got != "6 5" {
		t.Errorf("the thresholds of liveness are %q, want those of the workload and of Vitals, 6 5", got)
	}
	c.sh(t, documented(t, generateGuide, "vitals generate rbac "))
	if can := c.sh(t, "kubectl auth can-i create events --as=system:serviceaccount:default:my-app --namespace=default"); strings.TrimSpace(can) != "yes" {
		t.Errorf("may the account create events? %s, want yes", can)
	}
}

// running returns the names of the pods that a label selects and that do not end.
func (c console) running(t *testing.T, label string) []string {
	t.Helper()
	return strings.Fields(c.sh(t, "kubectl get pods --selector="+label+` --output=go-template='{{range .items}}{{if not .metadata.deletionTimestamp}}{{.metadata.name}} {{end}}{{end}}'`))
}

// helmReleases installs the chart as README.md does. helm waits for the verdict. A changed rule reaches
// the pod without a rollout. A rollback brings the old rules back, and nothing of the release is left
// in the end.
func helmReleases(t *testing.T, n *node) func(*testing.T) {
	t.Helper()
	c := newConsole(t, n, map[string]string{"vitals.yml": clientsConfig, "rules.yml": clientsRules}).in(t, "release")
	install := documented(t, "README.md", "helm install vitals deploy/helm/vitals ")
	const explain, wait = "kubectl exec deployment/vitals -c vitals -- /vitals explain ready --all", " --wait --timeout=2m30s"
	installing := c.start(t, install+wait)
	return func(t *testing.T) {
		c.waitsForVerdict(t, installing, explain)
		n.listen(t, databaseAddress)
		c.followsNotes(t, installing.ends(t))
		c.upgrades(t, strings.Replace(install, "helm install ", "helm upgrade ", 1)+wait, explain)
		c.sh(t, "helm rollback vitals 1"+wait)
		c.rolledBack(t, explain)
		c.sh(t, "helm uninstall vitals"+wait)
		const kinds = "deployments,replicasets,pods,configmaps,serviceaccounts,networkpolicies,poddisruptionbudgets,secrets,services"
		await(t, "nothing is left", clientsWithin, func() error {
			if left, err := c.try("kubectl get " + kinds + " --selector=" + releaseLabel + " --output=name"); err != nil || left != "" {
				return fmt.Errorf("%q is left, %w", left, err)
			}
			return nil
		})
	}
}

// upgrades changes the rules, which reach the pod without a rollout, and then the pods.
func (c console) upgrades(t *testing.T, upgrade, explain string) {
	t.Helper()
	first := c.running(t, releaseLabel)
	write(t, c.path("rules.yml"), changedRules)
	c.sh(t, upgrade)
	c.prints(t, explain, `(?m)^DatabaseSlow ok since`)
	if now := c.running(t, releaseLabel); !slices.Equal(first, now) {
		t.Errorf("after a change of the rules, the pods are %q, want still %q", now, first)
	}
	c.sh(t, upgrade+" --set web.expose=true --set podMonitor.enabled=true")
	c.sh(t, "kubectl get podmonitor vitals")
}

// rolledBack waits for what the first revision has.
func (c console) rolledBack(t *testing.T, explain string) {
	t.Helper()
	await(t, "the rules of the first revision", clientsWithin, func() error {
		out, err := c.try(explain) // perhaps of the old pod, while that ends
		if err == nil && (strings.Contains(out, "DatabaseSlow") || !strings.Contains(out, "DatabaseDown")) {
			err = fmt.Errorf("the rules are\n%s", out)
		}
		return err
	})
	if out, err := c.try("kubectl get podmonitor vitals"); err == nil || !strings.Contains(out, "NotFound") {
		t.Errorf("after the rollback: %s, %v, want no PodMonitor", out, err)
	}
}

// waitsForVerdict waits until the pod of the release is not ready, and its verdict is the reason. helm
// does not end meanwhile.
func (c console) waitsForVerdict(t *testing.T, installing *started, explain string) {
	t.Helper()
	for command, pattern := range map[string]string{
		"kubectl describe pod --selector=" + releaseLabel: `Readiness probe failed: HTTP probe failed with statuscode: 503`,
		explain: `(?m)^DatabaseDown failing since .*: The database does not answer\.$`,
	} {
		await(t, command, clientsWithin, func() error {
			if installing.ended() {
				t.Fatalf("helm ends with\n%s\nwant that it waits for the verdict", installing.ends(t))
			}
			out, err := c.try(command)
			if err == nil && !regexp.MustCompile(pattern).MatchString(out) {
				err = fmt.Errorf("%s prints\n%s\nwant %s", command, out, pattern)
			}
			return err
		})
	}
}

// followsNotes runs the two commands that the notes of the chart have.
func (c console) followsNotes(t *testing.T, notes string) {
	t.Helper()
	var lines []string
	for line := range strings.Lines(notes) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "kubectl ") {
			lines = append(lines, line)
		}
	}
	if len(lines) != 2 || !strings.Contains(notes, "STATUS: deployed\n") {
		t.Fatalf("helm prints\n%s\nwant that it has deployed, and two commands", notes)
	}
	c.prints(t, lines[0], `(?m)^ready: ok since `)
	c.background(t, lines[1])
	c.answers(t, "http://127.0.0.1:8081/api/v1/status")
}

// answers waits for the answer 200 in the node's network.
func (c console) answers(t *testing.T, url string) {
	t.Helper()
	client := http.Client{Transport: &http.Transport{DialContext: c.dial, DisableKeepAlives: true}, Timeout: podWithin}
	await(t, url, clientsWithin, func() error {
		res, err := client.Get(url)
		if err != nil {
			return err
		}
		if err := res.Body.Close(); err != nil || res.StatusCode != http.StatusOK {
			return errors.Join(err, fmt.Errorf("GET %s = %d, want 200", url, res.StatusCode))
		}
		return nil
	})
}

// kustomizeApplies applies an example as the guide does. It checks the DNS of the cluster, which does
// not exist here: the pod runs and is not ready, with the reason.
func kustomizeApplies(t *testing.T, n *node) func(*testing.T) {
	t.Helper()
	c := newConsole(t, n, nil).in(t, "monitoring")
	line := documented(t, kubernetesGuide, "kubectl apply -k deploy/kustomize/examples/")
	c.sh(t, line)
	c.sh(t, strings.Replace(line, "kubectl apply ", "kubectl diff ", 1)) // exits with 1 for a difference
	c.sh(t, "kubectl apply -k deploy/kustomize/examples/sidecar")
	if got := c.sh(t, "kubectl get deployment my-app --namespace=shop --output=jsonpath='{.spec.template.spec.initContainers[*].name}'"); got != "vitals" {
		t.Errorf("the sidecars of my-app are %q, want vitals", got)
	}
	return func(t *testing.T) {
		c.prints(t, "kubectl describe pod --selector=app.kubernetes.io/name=vitals", `(?m)^ +Ready +False`, `Readiness probe failed: HTTP probe failed with statuscode: 503`)
		c.prints(t, "kubectl exec deployment/vitals -c vitals -- /vitals explain ready", `(?m)^ready: failing since `, `ClusterDNSDown`)
		for _, example := range []string{"standalone", "sidecar"} {
			c.sh(t, "kubectl delete --wait=false -k deploy/kustomize/examples/"+example)
		}
	}
}

// generatedRuns adds Vitals to a workload by the commands of the guide. The workload is ready while its
// database is, and kubectl shows why not.
func generatedRuns(t *testing.T, n *node) func(*testing.T) {
	t.Helper()
	const address = "198.51.100.1:5434"
	config := strings.Replace(clientsConfig, databaseAddress, address, 1)
	c := newConsole(t, n, map[string]string{"vitals.yml": config, "rules.yml": clientsRules, "app.yaml": clientsApp})
	c.sh(t, "kubectl apply -f app.yaml")
	c.sh(t, documented(t, generateGuide, "vitals generate manifests --config.file=vitals.yml --workload="))
	c.sh(t, documented(t, generateGuide, "kubectl apply --server-side --field-manager=vitals "))
	return func(t *testing.T) {
		describe := "kubectl describe pod --show-events --selector=app=generated" // of two pods, by default without
		c.prints(t, describe, `Startup probe (failed|errored)|Readiness probe failed`)
		n.listen(t, address)
		c.sh(t, "kubectl rollout status deployment/my-app --timeout=2m")
		c.sh(t, documented(t, generateGuide, "vitals generate manifests --config.file=vitals.yml --as=daemonset"))
		c.sh(t, "kubectl rollout status daemonset/node-vitals --timeout=2m")
		c.sh(t, "vitals generate manifests --config.file=vitals.yml --as=deployment --name=monitored --web-secret=web | kubectl apply --server-side -f -")
		if got := c.sh(t, "kubectl get podmonitor monitored --output=jsonpath='{.spec.podMetricsEndpoints[0].scheme}'"); got != "https" {
			t.Errorf("the scheme of the PodMonitor is %q, want https", got)
		}
	}
}

// tutorialRuns runs step 5 of the tutorial, whose web server is the service of the tests.
func tutorialRuns(t *testing.T, n *node) func(*testing.T) {
	t.Helper()
	c := newConsole(t, n, map[string]string{
		"vitals.yml": replaced(t, shownYAML(t, tutorial, "# vitals.yml"), ":8000/", ":5000/"),
		"rules.yml":  shownYAML(t, tutorial, "# rules.yml"),
		"pod.yaml":   replaced(t, shownYAML(t, tutorial, "# pod.yaml"), "python:3-alpine", serviceImage, "      command: [python3, -m, http.server, \"8000\"]\n", ""),
	}).in(t, "tutorial")
	for _, start := range []string{"kubectl create configmap my-pod-vitals ", "kubectl apply -f pod.yaml"} {
		c.sh(t, documented(t, tutorial, start))
	}
	return func(t *testing.T) {
		watch := documented(t, tutorial, "kubectl get pod my-pod --watch")
		c.prints(t, "timeout 5 "+watch+" || [ $? = 124 ]", `my-pod +2/2 +Running`)
		c.prints(t, documented(t, tutorial, "kubectl exec my-pod "), `(?m)^ready: ok since `)
		forward, _, _ := strings.Cut(documented(t, tutorial, "kubectl port-forward "), " &")
		c.background(t, forward)
		c.answers(t, "http://127.0.0.1:8080/metrics")
	}
}
