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

	"github.com/google/go-cmp/cmp"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/config"
)

// calmPace is for labs in which nothing changes.
const calmPace = time.Second

// healthyController is what the collectors show of a cloud in which all is well.
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
// shows a cloud every second. It belongs into a synctest bubble.
type patientLab struct {
	eval *evaluator.Evaluator
	// other is what the cloud shows otherwise than one in which all is well.
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

// The shipped rules are patient: a fault that is over sooner than its rule's "for"
// changes no verdict, and one that lasts changes it then and not before.
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

// kuryrRule is the documentation of a shipped rule.
type kuryrRule struct{ State, Severity, For string }

// shippedKuryrRules are the rules of the profile, with and without port pools.
func shippedKuryrRules(t *testing.T) map[string]kuryrRule {
	t.Helper()
	return rulesOf(loadKuryr(t, "[kubernetes]\nvif_pool_driver = neutron\n"+minimalConf))
}

// shippedCNIRules are the rules of the CNI daemon's profile, with a memory limit.
func shippedCNIRules(t *testing.T) map[string]kuryrRule {
	t.Helper()
	return rulesOf(mustLoadCNI(t, "[cni_health_server]\nmax_memory_usage = 1\n", nil))
}

func rulesOf(l *config.Loaded) map[string]kuryrRule {
	rules := map[string]kuryrRule{}
	for _, f := range l.Rules {
		for _, g := range f.Groups {
			for _, r := range g.Rules {
				if r.Alert != "" {
					rules[r.Alert] = kuryrRule{r.State, r.Severity, r.For.String()}
				}
			}
		}
	}
	return rules
}

func TestKuryrShippedRules(t *testing.T) {
	const ready, critical = "ready", "critical"
	want := map[string]kuryrRule{
		"KubernetesDown":         {ready, critical, "10s"},
		"KubernetesWatchDown":    {ready, critical, "30s"},
		"KubernetesWatchStale":   {ready, critical, "0s"},
		"KubernetesAccessDenied": {ready, critical, "10s"},
		"CRDMissing":             {ready, critical, "10s"},
		"KeystoneDown":           {ready, critical, "10s"},
		"NeutronDown":            {ready, critical, "10s"},
		"QuotaExhausted":         {ready, critical, "5s"},
		"QuotaLow":               {ready, "warning", "30s"},
		"ComponentNotReady":      {ready, critical, "0s"},
		"ComponentMissing":       {ready, critical, "30s"},
		"ComponentDead":          {"alive", critical, "10s"},
		"PoolsNotLoaded":         {ready, critical, "0s"},
	}
	if diff := cmp.Diff(want, shippedKuryrRules(t)); diff != "" {
		t.Errorf("shipped rules (-want +got):\n%s", diff)
	}
}

func TestCNIShippedRules(t *testing.T) {
	const ready, alive, critical, warning = "ready", "alive", "critical", "warning"
	want := map[string]kuryrRule{
		"KubernetesDown":           {ready, critical, "15s"},
		"KubernetesAccessDenied":   {ready, critical, "15s"},
		"NetAdminMissing":          {ready, critical, "15s"},
		"DaemonGone":               {ready, critical, "15s"},
		"DescriptorsNearlyUsedUp":  {alive, warning, "1m0s"},
		"CNIConfigBroken":          {ready, critical, "15s"},
		"CNIPluginBroken":          {ready, critical, "15s"},
		"KuryrConfBroken":          {ready, critical, "15s"},
		"NetlinkDown":              {ready, critical, "15s"},
		"NetlinkStuck":             {alive, critical, "25s"},
		"InterfaceMissing":         {ready, critical, "15s"},
		"InterfaceDown":            {ready, warning, "15s"},
		"Unmeasured":               {ready, critical, "25s"},
		"CNIAddFailing":            {alive, critical, "0s"},
		"CNIAddFailingByHistogram": {alive, critical, "0s"},
		"CNIAddExcused":            {ready, warning, "1m0s"},
		"ComponentNotReady":        {ready, critical, "0s"},
		"ComponentMissing":         {ready, critical, "30s"},
		"ComponentDead":            {alive, critical, "10s"},
		"MemoryGrowsToLimit":       {alive, warning, "5m0s"},
		"OutOfMemory":              {ready, warning, "0s"},
		"MemoryPressure":           {ready, warning, "1m0s"},
		"MemoryLimitExceeded":      {alive, critical, "25s"},
		"MemoryUnmeasured":         {alive, warning, "25s"},
	}
	if diff := cmp.Diff(want, shippedCNIRules(t)); diff != "" {
		t.Errorf("shipped rules (-want +got):\n%s", diff)
	}
}
