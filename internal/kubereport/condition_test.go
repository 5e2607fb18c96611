package kubereport

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vitals-health/vitals/collectors/remote"
	"github.com/vitals-health/vitals/evaluator"
)

const gate = "example.com/VitalsReady"

// want checks the conditions that were sent since the last call: their status and reason.
func (l *lab) want(when string, conditions ...string) {
	l.t.Helper()
	var got []string
	for _, s := range l.flush() {
		got = append(got, pick(conditionOf(l.t, s), "status", "reason"))
	}
	if strings.Join(got, ", ") != strings.Join(conditions, ", ") {
		l.t.Errorf("%s: conditions = %q, want %q", when, got, conditions)
	}
}

func TestConditionFollowsReady(t *testing.T) {
	for what, o := range map[string]Options{"readiness gate": {ReadinessGate: gate}, "node condition": {NodeCondition: gate}} {
		synctest.Test(t, func(t *testing.T) {
			l := newLab(t, o)
			l.want("at the start", "True | ReadyOk")
			time.Sleep(time.Second)
			began := timestamp(time.Now())
			l.publish(down(0, "Keystone does not answer (timeout)"))
			all := l.flush()
			if len(all) != 1 || all[0].method != "PATCH" {
				t.Fatalf("requests = %v, want one PATCH", all)
			}
			got := pick(conditionOf(t, all[0]), "type", "status", "reason", "message", "lastTransitionTime")
			if want := gate + " | False | KeystoneDown | Keystone does not answer (timeout), ready failing | " + began; got != want {
				t.Errorf("condition = %q, want %q", got, want)
			}
			path, uid := "/api/v1/namespaces/shop/pods/app-7/status", `{"uid":"u-1"}`
			if o.NodeCondition != "" {
				path, uid = "/api/v1/nodes/node-1/status", "null"
			}
			if all[0].path != path || pick(all[0].body, "metadata") != uid {
				t.Errorf("%s with metadata %s, want %s with %s", all[0].path, pick(all[0].body, "metadata"), path, uid)
			}
			time.Sleep(time.Second)
			l.publish(down(1, "no database"))
			all = l.flush()
			if got, want := pick(conditionOf(t, all[0]), "reason", "lastTransitionTime"), "DbDown | "+began; got != want {
				t.Errorf("condition of another rule = %q, want %q: its status did not change", got, want)
			}
			l.publish(snapshot(evaluator.Warn))
			l.want("with a warning", "True | KeystoneDown")
			l.keep(snapshot(evaluator.Warn), time.Minute)
			l.want("without a change", "")
			l.stop()
			if n := strings.Count(l.log.String(), `msg="condition reported to Kubernetes" condition="`+what+`"`); n != 5 {
				t.Errorf("%d lines for five changes of %s:\n%s", n, what, l.log)
			}
		})
	}
}

// The condition is False within the shutdown delay, also if a request hangs when it begins, and
// at the end of the process without a delay.
func TestConditionAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, Options{ReadinessGate: gate})
		l.want("at the start", "True | ReadyOk")
		l.publish(stopping())
		l.want("after SIGTERM", "False | ReadyFailing")
		l.stop()
		l.want("at the end", "")
	})
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, Options{ReadinessGate: gate})
		l.set(true, nil)
		l.publish(snapshot(evaluator.Warn))
		l.want("before SIGTERM", "True | ReadyOk", "True | KeystoneDown")
		l.publish(stopping())
		began := time.Now()
		l.set(false, nil)
		l.keep(stopping(), 4*time.Second)
		if all := l.flush(); len(all) != 1 || all[0].at.Sub(began) > 4*time.Second || conditionOf(t, all[0])["status"] != "False" {
			t.Errorf("requests after SIGTERM = %v, want one with False within 4 s", all)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, Options{NodeCondition: gate})
		l.want("at the start", "True | ReadyOk")
		l.set(true, nil)
		began := time.Now()
		l.stop()
		l.want("at the end", "False | VitalsStopped")
		if took := time.Since(began); took != lastTimeout {
			t.Errorf("Run() took %s to end while the API server hangs, want %s", took, lastTimeout)
		}
	})
	synctest.Test(t, func(t *testing.T) { // which may have taken the last request before it hangs
		l := newLab(t, Options{ReadinessGate: gate})
		l.publish(down(0, ""))
		l.want("of a failure", "True | ReadyOk", "False | KeystoneDown")
		l.set(true, nil)
		l.publish(snapshot(evaluator.Pass))
		l.stop()
		l.want("at the end", "True | ReadyOk", "False | VitalsStopped")
	})
}

// An evaluator that stalls makes the condition False, as it does with the probe.
func TestConditionOfAStalledEvaluator(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, Options{ReadinessGate: gate})
		l.want("at the start", "True | ReadyOk")
		time.Sleep(time.Minute + time.Second)
		synctest.Wait()
		l.want("after the maximum age", "False | ReadyFailing")
	})
}

func TestConditionIsSentAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, Options{ReadinessGate: gate})
		l.keep(snapshot(evaluator.Pass), 11*time.Minute)
		l.want("in 11 minutes", "True | ReadyOk", "True | ReadyOk", "True | ReadyOk")
	})
}

// A state that flaps each second does not become load: 6 requests at once, and one each 10 s.
func TestConditionOfAStateThatFlaps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, Options{ReadinessGate: gate})
		for range 60 {
			l.keep(snapshot(evaluator.Fail), time.Second)
			l.keep(snapshot(evaluator.Pass), time.Second)
		}
		all := l.flush()
		if n := len(all); n < 10 || n > changeBurst+13 {
			t.Errorf("%d requests in 2 minutes, want at most %d", n, changeBurst+13)
		}
		l.keep(snapshot(evaluator.Fail), changeEvery)
		all = append(all, l.flush()...)
		if last := conditionOf(t, all[len(all)-1]); last["status"] != "False" {
			t.Errorf("last condition = %v, want the last status", last)
		}
	})
}

// During an outage there is one request in 30 s, and one line in the log. The condition is right
// at most 30 s after it.
func TestConditionDuringAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, Options{ReadinessGate: gate})
		l.flush()
		l.set(false, fails(remote.ReasonServerError))
		l.keep(snapshot(evaluator.Fail), 10*time.Minute)
		if n := len(l.flush()); n < 20 || n > 26 {
			t.Errorf("%d requests in 10 minutes, want about 24", n)
		}
		if n := strings.Count(l.log.String(), "cannot report to Kubernetes"); n != 1 {
			t.Errorf("%d warnings, want 1:\n%s", n, l.log)
		}
		l.set(false, nil)
		l.keep(snapshot(evaluator.Fail), lastPause)
		l.want("after the outage", "False | KeystoneDown")
		if !strings.Contains(l.log.String(), `msg="reports to Kubernetes succeed again" verb=patch resource=pods/status`) {
			t.Errorf("log = %s, want the end of the outage", l.log)
		}
		if s := l.reporter.Status()[0]; !s.Success || s.Failures < 20 {
			t.Errorf("Status() = %+v, want success after at least 20 failures", s)
		}
	})
}

// A rule without evidence that then fails has the same reason. The message follows.
func TestConditionFollowsTheWord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, Options{ReadinessGate: gate})
		blind := down(0, "Keystone does not answer.")
		blind.Rules[0].Status, blind.Rules[0].Reason = evaluator.Unknown, "no data for up"
		l.keep(blind, time.Minute)
		l.flush()
		l.keep(down(0, "Keystone does not answer."), time.Minute)
		all := l.flush()
		if len(all) != 1 {
			t.Fatalf("%d requests, want 1", len(all))
		}
		if got, want := conditionOf(t, all[0])["message"], "Keystone does not answer., ready failing"; got != want {
			t.Errorf("message = %q, want %q", got, want)
		}
	})
}
