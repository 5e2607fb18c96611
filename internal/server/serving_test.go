package server_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/server"
	"github.com/vitals-health/vitals/internal/states"
)

// componentsOf has components in each condition.
func componentsOf(o server.Options) server.Options {
	yes, no := true, false
	o.Components = func() []server.ComponentStatus {
		return []server.ComponentStatus{
			{Name: "watcher", Alive: &yes, Ready: &yes}, {Name: "handler", Alive: &yes, Ready: &no},
			{Name: "dead", Alive: &no}, {Name: "silent"}, {Name: "beating", Alive: &yes},
		}
	}
	return o
}

func TestServices(t *testing.T) {
	s := server.New(componentsOf(fixed(failing())))
	want := map[string]string{
		"": states.Failing, "ready": states.Failing, "alive": states.OK, "started": states.OK,
		"ready/KubernetesDown": states.OK, "ready/KeystoneDown": states.Failing, "ready/NeutronDown": states.Failing,
		"ready/PortQuotaExhausted": states.Unknown, "ready/PortQuotaLow": states.Warning, "ready/PoolsNotLoaded": states.OK,
		"ready/SlowNeutron": states.OK, "ready/LeaderUnknown": states.Warning, "alive/HandlerDead": states.OK,
		"component/watcher": states.OK, "component/beating": states.OK, "component/handler": states.Failing,
		"component/dead": states.Failing, "component/silent": states.Unknown,
	}
	if diff := cmp.Diff(want, s.Services()); diff != "" {
		t.Errorf("services (-want +got):\n%s", diff)
	}
	for _, alias := range []string{"readyz", "healthz", "healthz/KeystoneDown"} {
		if word, ok := s.Service(alias); word != states.Failing || !ok {
			t.Errorf("service %s = %q, %t, want that of ready", alias, word, ok)
		}
	}
	for _, unknown := range []string{"redy", "ready/", "ready/Nothing", "/ready", "component/", "component/none", "alive/KeystoneDown"} {
		if word, ok := s.Service(unknown); ok || word != "" {
			t.Errorf("service %s = %q, %t, want none", unknown, word, ok)
		}
	}
}

// A service is ok or warning if and only if the probe over HTTP passes, also while the evaluator
// stalls and when it shuts down.
func TestServicesAgreeWithProbes(t *testing.T) {
	down := failing()
	down.ShuttingDown = true
	down.States[0].Verdict, down.States[0].Reason = evaluator.Fail, "shutting down"
	passed := 0
	for name, o := range map[string]server.Options{
		"healthy": fixed(healthy()), "failing": fixed(failing()), "shutting down": fixed(down),
		"stalled": at(fixed(healthy()), time.Minute), "stalled for long": at(fixed(failing()), time.Hour),
	} {
		s := server.New(componentsOf(o))
		for service, word := range s.Services() {
			if one, ok := s.Service(service); one != word || !ok {
				t.Errorf("%s: service %s = %q, %t, want %q as in the list", name, service, one, ok, word)
			}
			if service == "" || strings.HasPrefix(service, "component/") {
				continue
			}
			code := request(t, s.Handler(), http.MethodGet, "/"+service, "").StatusCode
			if passes := word == states.OK || word == states.Warning; passes != (code == http.StatusOK) {
				t.Errorf("%s: service %s = %s, but /%s = %d", name, service, word, service, code)
			}
			passed++
		}
	}
	if passed < 50 {
		t.Errorf("%d services were compared, want all", passed)
	}
}

// at moves the clock of a server.
func at(o server.Options, later time.Duration) server.Options {
	o.Now = func() time.Time { return noon().Add(later) }
	return o
}
