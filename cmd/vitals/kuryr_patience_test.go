//go:build !race

package main

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vitals-health/vitals/evaluator"
)

// healthyController returns the series of a healthy cloud.
func healthyController() signs {
	return signs{
		`vitals_dependency_up{dependency="kubernetes"}`:                                                             1,
		`vitals_dependency_up{dependency="keystone"}`:                                                               1,
		`vitals_dependency_up{dependency="neutron"}`:                                                                1,
		`vitals_kubernetes_watch_connected{dependency="kubernetes",resource="pods"}`:                                1,
		`vitals_kubernetes_access_allowed{dependency="kubernetes",resource="openstack.org/kuryrports",verb="list"}`: 1,
		`vitals_kubernetes_crd_present{dependency="kubernetes",crd="kuryrports.openstack.org"}`:                     1,
		quotaSeries("limit", "port"):                                                                                10,
		quotaSeries("used", "port"):                                                                                 0,
		quotaSeries("reserved", "port"):                                                                             0,
		quotaSeries("unlimited", "port"):                                                                            0,
	}
}

// patientLab is the controller's profile with its own patience, and a collector that
// shows a cloud every second. Use it in a synctest bubble.
type patientLab struct {
	eval *evaluator.Evaluator
	// other has the series that differ from those of a healthy cloud.
	other atomic.Pointer[signs]
}

// playController runs the profile while play lasts.
func playController(t *testing.T, play func(*testing.T, *patientLab)) {
	t.Helper()
	files := loadKuryr(t, minimalConf).Rules
	synctest.Test(t, func(t *testing.T) {
		lab := &patientLab{}
		began := time.Now()
		cloud := &sampleSource{began, func(at time.Duration) (signs, error) {
			shown := healthyController()
			shown[`vitals_kubernetes_watch_last_contact_timestamp_seconds{dependency="kubernetes",resource="pods"}`] = float64(began.Add(at).Unix())
			if other := lab.other.Load(); other != nil {
				maps.Copy(shown, *other)
			}
			return shown, nil
		}}
		source := evaluator.Source{Name: "cloud", Interval: time.Second, Timeout: time.Second, Collector: cloud}
		eval, err := evaluator.New(evaluator.Config{Interval: time.Second, Files: files, Sources: []evaluator.Source{source}}, evaluator.Options{Logger: discard()})
		if err != nil {
			t.Fatal(err)
		}
		lab.eval = eval
		ctx, cancel := context.WithCancel(t.Context())
		var ended sync.WaitGroup
		ended.Go(func() { eval.Run(ctx) })
		play(t, lab)
		cancel()
		ended.Wait()
	})
}

// want lets time pass, and then wants ready to return this, a rule to be in this status, and
// ready to have changed as often; it returns the rule.
func (l *patientLab) want(t *testing.T, passed time.Duration, ready, rule string, status evaluator.Status, changes uint64) evaluator.Rule {
	t.Helper()
	time.Sleep(passed)
	s := l.eval.Snapshot()
	v, _ := s.State(evaluator.Ready, s.At)
	i := slices.IndexFunc(s.Rules, func(r evaluator.Rule) bool { return r.Name == rule })
	verdict := verdictOf(s, evaluator.Ready)
	if got := strings.TrimSpace(verdict.Verdict + " " + verdict.Rules); got != ready || s.Rules[i].Status != status || v.Transitions != changes {
		t.Errorf("ready is %q after %d changes, %s is %s, want %q after %d and %s", got, v.Transitions, rule, s.Rules[i].Status, ready, changes, status)
	}
	return s.Rules[i]
}

// A fault that is shorter than the "for" of its shipped rule changes no verdict. A longer
// one changes it after that time and not before.
func TestKuryrShippedPatience(t *testing.T) {
	t.Parallel()
	playController(t, func(t *testing.T, l *patientLab) {
		const labPatience = 5 * time.Second // of QuotaExhausted
		l.want(t, time.Minute, "pass", "KeystoneDown", evaluator.OK, 1)

		l.other.Store(&signs{`vitals_dependency_up{dependency="keystone"}`: 0})
		l.want(t, 7*time.Second, "pass", "KeystoneDown", evaluator.Pending, 1)
		l.other.Store(nil)
		l.want(t, 5*time.Second, "pass", "KeystoneDown", evaluator.OK, 1)
		l.want(t, time.Minute, "pass", "KeystoneDown", evaluator.OK, 1)

		l.other.Store(&signs{quotaSeries("used", "port"): 10})
		l.want(t, 4*time.Second, "pass", "QuotaExhausted", evaluator.Pending, 1)
		exhausted := l.want(t, 5*time.Second, "fail QuotaExhausted", "QuotaExhausted", evaluator.Failing, 2)
		if waited := exhausted.Since.Sub(exhausted.Alerts[0].ActiveAt); waited < labPatience || waited > labPatience+2*time.Second {
			t.Errorf("QuotaExhausted failed after %s, want after %s and soon", waited, labPatience)
		}
		l.other.Store(nil)
		l.want(t, time.Minute, "pass", "QuotaExhausted", evaluator.OK, 3)
	})
}
