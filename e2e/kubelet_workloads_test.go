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

// is fails unless the pod is ready, or not, and its containers were restarted so often.
func (w workload) is(ready string, app, vitals int) error {
	p, err := w.pod()
	if err != nil {
		return err
	}
	if a, v := p.container("app").RestartCount, p.container("vitals").RestartCount; p.ready() != ready || a != app || v != vitals {
		return fmt.Errorf("ready of %s is %s after %d restarts of the workload and %d of Vitals, want %s after %d and %d", w.file, p.ready(), a, v, ready, app, vitals)
	}
	return nil
}

// has fails unless the pod has such an event.
func (w workload) has(reason, text string) error {
	p, err := w.pod()
	if err != nil {
		return err
	}
	return w.event(p.Metadata.Name, reason, text)
}

// settles waits for all checks, and logs how long that took.
func settles(t *testing.T, what string, checks ...func() error) {
	t.Helper()
	took := await(t, what, 3*podWithin, func() error {
		var errs []error
		for _, check := range checks {
			errs = append(errs, check())
		}
		return errors.Join(errs...)
	})
	t.Logf("%s: after %s", what, took.Round(100*time.Millisecond))
}

// On a real kubelet, the examples of deploy/kubernetes start when Vitals has started, are ready
// while their dependency is, and are restarted by a dead component alone. A pod that ends is not
// ready before it stops, and a sidecar does not keep a Job from its end.
func TestKubeletWorkloads(t *testing.T) {
	w := startWorkloads(t)
	n := w["job"].node
	release := n.holdWarmup(t)
	database := n.listen(t, databaseAddress)

	startIsGated(t, w)
	release()
	settles(t, "with their database, the pods are ready", eachIs(w, "True", 0, 0)...)

	failed := time.Now()
	_ = database.Close()
	settles(t, "without it, they are not, and the reason is shown", unready(w)...)
	staysUnrestarted(t, w, failed)
	n.listen(t, databaseAddress)
	settles(t, "with it again, they are", eachIs(w, "True", 0, 0)...)

	deadIsRestarted(t, w)
	jobEnds(t, w["job"])
	drains(t, w["standalone"], w["grpc-probe"])
}

// eachIs checks all pods.
func eachIs(all map[string]workload, ready string, app, vitals int) []func() error {
	var checks []func() error
	for _, w := range all {
		checks = append(checks, func() error { return w.is(ready, app, vitals) })
	}
	return checks
}

// startIsGated waits until startup probes have failed, which keeps containers from being started
// and ready. Their liveness is not probed meanwhile.
func startIsGated(t *testing.T, all map[string]workload) {
	t.Helper()
	gates := map[string]string{"native-sidecar": "app", "grpc-probe": "app", "job": "app", "standalone": "vitals"}
	var checks []func() error
	for name, container := range gates {
		w := all[name]
		checks = append(checks, func() error {
			p, err := w.pod()
			if c := p.container(container); err == nil && (c.Started || c.Ready || c.State.Running == nil) {
				err = fmt.Errorf("%s: %s is %+v, want that it runs and has not started", name, container, c)
			}
			return errors.Join(err, w.has("Unhealthy", "{"+container+"}: Startup probe failed: "))
		})
	}
	settles(t, "before the first collection, no container has started", checks...)
	for name, container := range gates {
		if all[name].has("Unhealthy", "{"+container+"}: Liveness probe failed: ") == nil {
			t.Errorf("%s: liveness of %s is probed before the start, want the startup probe alone", name, container)
		}
	}
}

// unready checks that no pod is ready, with the reason in the events or in the answer, and that
// the Service has no endpoint.
func unready(all map[string]workload) []func() error {
	return append(eachIs(all, "False", 0, 0),
		func() error {
			return all["native-sidecar"].has("Unhealthy", "Readiness probe failed: HTTP probe failed with statuscode: 503")
		},
		func() error {
			return all["grpc-probe"].has("Unhealthy", `Readiness probe failed: service unhealthy (responded with "NOT_SERVING")`)
		},
		func() error { return all["daemonset"].has("Unhealthy", "Readiness probe failed: "+databaseReason) },
		func() error {
			w := all["standalone"]
			p, err := w.pod()
			if err != nil {
				return err
			}
			e, err := w.endpoint("vitals", p.Metadata.Name)
			if err == nil && (e.Conditions.Ready || e.Conditions.Serving) {
				err = fmt.Errorf("the endpoint is %+v, want neither ready nor serving", e.Conditions)
			}
			return err
		})
}

// staysUnrestarted waits until liveness was probed since the fault, and restarted nothing. A probe
// may time out on a busy machine, but none has a failure to report.
func staysUnrestarted(t *testing.T, all map[string]workload, failed time.Time) {
	t.Helper()
	await(t, "liveness was probed", podWithin, func() error {
		for name, w := range all {
			err := w.is("False", 0, 0)
			if err != nil || w.has("Unhealthy", "Liveness probe failed: HTTP probe failed") == nil || w.has("Unhealthy", "Liveness probe failed: service unhealthy") == nil {
				t.Fatalf("without its database: %v, and liveness of %s may have failed", err, name)
			}
		}
		if time.Since(failed) < liveness+podSlack {
			return errors.New("not yet")
		}
		return nil
	})
}

// deadIsRestarted breaks components, and kills a sidecar. Each restarts its own container only.
func deadIsRestarted(t *testing.T, all map[string]workload) {
	t.Helper()
	broken := []string{"native-sidecar", "grpc-probe", "job"}
	for _, name := range broken {
		p, err := all[name].pod()
		if err != nil {
			t.Fatal(err)
		}
		all[name].send(t, http.MethodPost, "http://"+p.Status.PodIP+":5000/break")
	}
	var checks []func() error
	for _, name := range broken {
		w := all[name]
		checks = append(checks, func() error {
			p, err := w.pod()
			// Only a broken service that gets SIGTERM exits with 1. The events of a pod are limited,
			// so that of the restart may be missing.
			if end := p.container("app").LastState.Terminated; err == nil && (end == nil || end.ExitCode != 1) {
				err = fmt.Errorf("the workload of %s has ended with %+v, want 1", w.file, end)
			}
			return errors.Join(err, w.is("True", 1, 0))
		})
	}
	settles(t, "workloads with a dead component are restarted", checks...)

	w := all["native-sidecar"]
	p, err := w.pod()
	if err != nil {
		t.Fatal(err)
	}
	_, id, _ := strings.Cut(p.container("vitals").ContainerID, "://")
	w.ctr(t, "tasks", "kill", "--signal=SIGKILL", id)
	settles(t, "a sidecar that was killed is restarted alone", func() error { return w.is("True", 1, 1) })
}

// jobEnds ends the work. The sidecar then ends with the verdicts as its message, and the Job is
// complete.
func jobEnds(t *testing.T, w workload) {
	t.Helper()
	p, err := w.pod()
	if err != nil {
		t.Fatal(err)
	}
	w.send(t, http.MethodPost, "http://"+p.Status.PodIP+":5000/finish")
	settles(t, "the Job is complete", func() error {
		p, err := w.pod()
		if err != nil {
			return err
		}
		end := p.container("vitals").State.Terminated
		if p.Status.Phase != "Succeeded" || end == nil || end.ExitCode != 0 || end.Message == "" {
			return fmt.Errorf("the pod has %s, and Vitals %+v, want success, and code 0 with the verdicts", p.Status.Phase, end)
		}
		var job struct {
			Status struct {
				Conditions []struct{ Type, Status string }
			}
		}
		if err := w.get("/apis/batch/v1/namespaces/default/jobs/my-job", &job); err != nil {
			return err
		}
		for _, c := range job.Status.Conditions {
			if c.Type == "Complete" && c.Status == "True" {
				return nil
			}
		}
		return fmt.Errorf("the Job has the conditions %+v, want Complete", job.Status.Conditions)
	})
}

// drains deletes the pods. Each is not ready, and its endpoint does not serve, while Vitals and the
// workload still answer.
func drains(t *testing.T, alone, beside workload) {
	t.Helper()
	var checks []func() error
	for _, w := range []workload{alone, beside} {
		p, err := w.pod()
		if err != nil {
			t.Fatal(err)
		}
		path := "/api/v1/namespaces/default/pods/" + p.Metadata.Name
		if status, body, err := w.apiServer.send(http.MethodDelete, path, ""); err != nil || status != http.StatusOK {
			t.Fatalf("DELETE %s = %d %s, %v, want 200", path, status, body, err)
		}
		checks = append(checks, passesOnce(func() error { return w.drained(p) }))
	}
	settles(t, "pods that end are not ready before they stop", checks...)
}

// drained fails unless the pod ends, is not ready, and still answers.
func (w workload) drained(of pod) error {
	p, err := w.node.pod(of.Metadata.Name)
	if err != nil {
		return err
	}
	if v := p.container("vitals"); p.Metadata.DeletionTimestamp == "" || p.ready() != "False" || v.State.Running == nil {
		return fmt.Errorf("the pod ends at %q, ready is %s, and Vitals is %+v, want an end, False and that it runs", p.Metadata.DeletionTimestamp, p.ready(), v.State)
	}
	if w.file == "standalone" {
		if e, err := w.endpoint("vitals", p.Metadata.Name); err != nil || e.Conditions.Ready || e.Conditions.Serving || !e.Conditions.Terminating {
			return fmt.Errorf("the endpoint is %+v, %w, want one that terminates and does not serve", e.Conditions, err)
		}
	} else if status, _, err := w.answer(p, "5000", "/"); err != nil || status != http.StatusOK {
		return fmt.Errorf("the workload answers %d, %w, want 200", status, err)
	}
	for path, want := range map[string]int{"/ready": http.StatusServiceUnavailable, "/alive": http.StatusOK} {
		status, body, err := w.answer(p, "8080", path)
		if err != nil || status != want || status != http.StatusOK && !strings.Contains(body, "shutting down") {
			return fmt.Errorf("GET %s = %d %q, %w, want %d", path, status, body, err, want)
		}
	}
	return nil
}
