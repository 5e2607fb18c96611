//go:build e2e

package e2e_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

const (
	// databaseAddress is outside the pod, on the node.
	databaseAddress = "198.51.100.1:5432"
	podConfig       = `
rule_files: [rules.yml]
collectors:
  - {name: database, interval: 1s, tcp: {address: "` + databaseAddress + `"}}
  - {name: keystone, interval: 1s, http: {url: "http://127.0.0.1:5000/"}}
`
	podRules = `
groups:
  - name: keystone
    rules:
      - alert: DatabaseDown
        expr: vitals_dependency_up{dependency="database"} == 0
        for: 2s
        labels: {state: ready, severity: critical}
        annotations: {summary: The database does not answer.}
      - alert: ServiceDown
        expr: vitals_dependency_up{dependency="keystone"} == 0
        for: 2s
        labels: {state: alive, severity: critical}
        annotations: {summary: The service does not answer.}
`
	// podWithin is longer than two periods of a probe, the "for" of a rule and a restart.
	podWithin = 30 * time.Second
	// liveness is the time between two liveness probes of the example, and podSlack how
	// late one may be.
	liveness = 10 * time.Second
	podSlack = 2 * time.Second
)

// examplePod is a pod on a real node, with a container for the workload and one for Vitals.
type examplePod struct {
	*node
	name, workload string
}

// logEvents logs the events of the pod if the test fails.
func (e examplePod) logEvents(t *testing.T) {
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(e.event(e.name, "none", ""))
		}
	})
}

// startPod starts the pod of deploy/kubernetes as it stands, but for the node that a scheduler
// would choose.
func startPod(t *testing.T) examplePod {
	t.Helper()
	n := startNode(t)
	e := examplePod{n, "keystone", "keystone"}
	e.logEvents(t)
	n.exampleImages(t, probes(t))
	n.create(t, "/api/v1/namespaces/default/configmaps", configMap(t, "keystone-vitals", map[string]string{"vitals.yml": podConfig, "rules.yml": podRules}))
	n.create(t, "/api/v1/namespaces/default/pods", strings.Replace(read(t, "../deploy/kubernetes/exec-probe.yaml"), "\nspec:\n", "\nspec:\n  nodeName: e2e\n", 1))
	return e
}

// is fails unless the pod is ready, or not, and the containers were restarted so often.
func (e examplePod) is(ready string, service, vitals int) error {
	p, err := e.pod(e.name)
	if err != nil {
		return err
	}
	k, v := p.container(e.workload), p.container("vitals")
	if p.ready() != ready || k.RestartCount != service || v.RestartCount != vitals {
		return fmt.Errorf("ready is %s after %d restarts of the service and %d of Vitals, want %s after %d and %d", p.ready(), k.RestartCount, v.RestartCount, ready, service, vitals)
	}
	return nil
}

// becomes waits for that, and logs how long it took.
func (e examplePod) becomes(t *testing.T, what, ready string, service, vitals int, more ...func() error) time.Duration {
	t.Helper()
	took := await(t, what, 2*podWithin, func() error {
		err := e.is(ready, service, vitals)
		for _, check := range more {
			err = errors.Join(err, check())
		}
		return err
	})
	t.Logf("%s: after %s", what, took.Round(100*time.Millisecond))
	return took
}

// killVitals kills the process of Vitals.
func (e examplePod) killVitals(t *testing.T) {
	t.Helper()
	p, err := e.pod("keystone")
	if err != nil {
		t.Fatal(err)
	}
	_, id, _ := strings.Cut(p.container("vitals").ContainerID, "://")
	e.ctr(t, "tasks", "kill", "--signal=SIGKILL", id)
}

// The example of exec probes works on a real kubelet: the pod starts and becomes ready;
// it is not ready, with the reason in an event, and not restarted while what its rules
// for ready watch is broken; it is restarted when one for alive fails; and a Vitals that
// is gone never lets a probe pass.
func TestKubeletExecProbe(t *testing.T) {
	e := startPod(t)
	database := e.listen(t, databaseAddress)
	e.becomes(t, "the pod is ready", "True", 0, 0)

	e.killVitals(t)
	e.becomes(t, "Vitals runs again", "True", 0, 1)
	e.killVitals(t) // and waits, as it does from the second time on
	e.becomes(t, "without Vitals, the pod is not ready", "False", 0, 1, func() error {
		return e.event("keystone", "Unhealthy", "Readiness probe failed: no daemon 1 ")
	})
	e.becomes(t, "with Vitals, it is", "True", 0, 2)

	broken := time.Now()
	_ = database.Close()
	e.becomes(t, "without its database, the pod is not ready", "False", 0, 2, func() error {
		return e.event("keystone", "Unhealthy", "Readiness probe failed: failing 1 DatabaseDown failing: The database does not answer. (value 0, since ")
	})
	await(t, "liveness was probed", podWithin, func() error {
		if err := e.is("False", 0, 2); err != nil || e.event("keystone", "Unhealthy", "Liveness probe failed: failing ") == nil {
			t.Fatalf("without its database: %v, and liveness may have failed", err)
		}
		if time.Since(broken) < liveness+podSlack {
			return errors.New("not yet")
		}
		return nil
	})
	e.listen(t, databaseAddress)
	e.becomes(t, "with its database, it is", "True", 0, 2)

	p, err := e.pod("keystone")
	if err != nil {
		t.Fatal(err)
	}
	e.send(t, http.MethodPost, "http://"+p.Status.PodIP+":5000/break")
	// The kubelet merges events of a pod that has many.
	reported := passesOnce(func() error {
		return e.event("keystone", "Unhealthy", "Liveness probe failed: failing 1 ServiceDown failing: The service does not answer. (value 0, since ")
	})
	killed := passesOnce(func() error {
		return e.event("keystone", "Killing", "Container keystone failed liveness probe, will be restarted")
	})
	took := e.becomes(t, "the service is restarted", "True", 1, 2, reported, killed)
	if took < liveness { // three probes, the first of which may have timed out before
		t.Errorf("the service is restarted after %s, want more than one probe in between, %s", took, liveness)
	}
}
