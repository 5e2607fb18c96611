package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
)

// elector is the leader elector of a controller's pod, on a real socket.
type elector struct {
	server *httptest.Server
	// leader is the host name of the leading replica; empty for an answer of 500.
	leader atomic.Pointer[string]
}

func newElector(t *testing.T) *elector {
	t.Helper()
	e := &elector{}
	e.server = serveHTTP(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		name := *e.leader.Load()
		if name == "" {
			w.WriteHeader(http.StatusInternalServerError)
		}
		fmt.Fprintf(w, `{"name":%q}`, name)
	}))
	own, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	e.elect(own)
	return e
}

func (e *elector) elect(name string) { e.leader.Store(&name) }

// stands has another replica lead, and then this one.
func (e *elector) stands(_ *testing.T, _ *kuryrLab) func() {
	own := *e.leader.Load()
	e.elect("another-controller")
	return func() { e.elect(own) }
}

// breaks has the elector answer with an error, and then name the leader.
func (e *elector) breaks(_ *testing.T, _ *kuryrLab) func() {
	own := *e.leader.Load()
	e.elect("")
	return func() { e.elect(own) }
}

// conf is the kuryr.conf of the labs with the port of the elector.
func (e *elector) conf(t *testing.T) string {
	t.Helper()
	return strings.Replace(testdata(t, "kuryr.conf"), "elector_port = 16401", "elector_port = "+port(e.server.Listener.Addr()), 1)
}

// kuryrElectorCases are those in which [kubernetes] controller_ha is set and the elector
// names the leader.
func kuryrElectorCases(e *elector) []kuryrCase {
	met := func(value string) func(*testing.T, *kuryrLab) {
		return series(`vitals_http_expectation_met{dependency="elector",expectation="json"}`, value, `vitals_collector_success{collector="elector"}`, "1")
	}
	return []kuryrCase{
		{id: "C23", name: "the elector names this replica, which has no pools", given: []step{noMarker}, ready: fails(poolsNotLoaded), check: met("1")},
		{id: "C23", name: "the elector names another replica", given: []step{e.stands}, check: met("0")},
		{id: "C23", name: "the elector names another replica, and this one has no pools", given: []step{e.stands, noMarker}, check: met("0")},
		{id: "C23", name: "the elector answers with an error, and this replica has no pools", given: []step{e.breaks, noMarker},
			ready: fails(poolsNotLoaded), check: func(t *testing.T, lab *kuryrLab) {
				t.Helper()
				lab.round(t) // with the error
				lab.await(t, "ready", fails(poolsNotLoaded))
				series(`vitals_dependency_failure{dependency="elector",reason="server_error"}`, "1")(t, lab)
			}},
		{id: "C23", name: "the elector names another replica, and Neutron is down", given: []step{e.stands, noMarker, fault("neutron", "500")},
			ready: fails(neutronDown)},
	}
}

func TestKuryrElector(t *testing.T) {
	t.Parallel()
	e := newElector(t)
	startKuryrLab(t, labOptions{kuryrConf: e.conf(t)}).runCases(t, kuryrElectorCases(e))
}

// A standby has started no watcher, so none reports. It is ready until it leads.
func TestKuryrStandbyHasNoWatcher(t *testing.T) {
	t.Parallel()
	e := newElector(t)
	lead := e.stands(t, nil)
	lab := startKuryrLab(t, labOptions{kuryrConf: e.conf(t), set: map[string]string{"components": "watcher"}})
	lab.await(t, "ready", verdict{})
	lead()
	lab.await(t, "ready", fails("ComponentMissing failing: The component watcher is expected and has never reported."))
	lab.report(t, "watcher", true, true, "")
	lab.await(t, "ready", verdict{})
	// The role is unknown: the replica counts as leading.
	e.elect("")
	soon(t, func() string {
		if !strings.Contains(lab.get(t, "/metrics").body, `vitals_dependency_failure{dependency="elector",reason="server_error"} 1`) {
			return "the failure of the elector is not measured"
		}
		return ""
	})
	lab.await(t, "ready", verdict{})
	lab.await(t, "alive", verdict{})
}
