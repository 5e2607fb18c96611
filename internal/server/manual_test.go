package server_test

import (
	"context"
	"encoding/json"
	"flag"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"testing"
	"time"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/explain"
	"github.com/vitals-health/vitals/internal/server"
	"github.com/vitals-health/vitals/internal/server/limits"
)

var (
	serveAt = flag.String("serve", "", "instead of testing, serve the status page of a fabricated snapshot at this address")
	show    = flag.String("show", "failing", "with -serve: healthy, failing, stalled or starting")
)

// TestMain serves the page for people who work on it, opens connections for
// TestIdleConnections, or runs the tests.
func TestMain(m *testing.M) {
	flag.Parse()
	switch {
	case os.Getenv(clientsVariable) != "":
		os.Exit(holdConnections(os.Getenv(clientsVariable), os.Stdin, os.Stdout))
	case *serveAt != "":
		os.Exit(servePage(*serveAt, *show))
	}
	os.Exit(m.Run())
}

// servePage publishes a fabricated snapshot every second until it is interrupted.
func servePage(address, show string) int {
	p := newPublisher(moved(show, 1))
	o := p.options()
	o.Now = time.Now
	o.Reload = func() error { return nil }
	o.Config = func() []byte { return []byte("evaluation_interval: 1s\n") }
	o.Explain = func(_ context.Context, _ string, options explain.Options, _ time.Time) (*explain.Explanation, error) {
		x := explanation()
		x.Rules[0].Name, x.Generation = options.Rule, p.options().Snapshot().Generation
		return x, nil
	}
	yes, no := true, false
	o.Components = func() []server.ComponentStatus {
		return []server.ComponentStatus{
			{Name: "watcher", Alive: &yes, Ready: &yes, LastReport: time.Now()},
			{Name: "vif-handler", Alive: &yes, Ready: &no, Reason: "waiting for the pools to be loaded", LastReport: time.Now()},
			{Name: "policy-handler"},
			{Name: "cni-server", Alive: &yes, Ready: &yes, LastReport: time.Now(), Events: []server.EventStatus{
				{Event: "cni_add", Success: 3000, Failure: 4, Excused: 12, ConsecutiveFailures: 1, Limit: new(3)}, {Event: "cni_del", Success: 2990},
			}},
		}
	}
	if show != "healthy" {
		o.ExternalExtra = map[string]http.Handler{"/demo/faults": &fakeFaults{active: map[string]string{"keystone": "hang"}}}
	}
	srv := limits.HTTPServer(server.New(o).Handler())
	srv.Addr = address
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, os.Interrupt)
	go func() {
		ticks := time.NewTicker(time.Second)
		for generation := uint64(2); ; generation++ {
			select {
			case <-ticks.C:
				if show != "stalled" {
					p.publish(moved(show, generation))
				}
			case <-interrupted:
				_ = srv.Close()
				return
			}
		}
	}()
	if err := srv.ListenAndServe(); err != http.ErrServerClosed {
		println(err.Error())
		return 1
	}
	return 0
}

// moved is a fabricated snapshot whose times are those of now.
func moved(show string, generation uint64) *evaluator.Snapshot {
	s := healthy()
	if show == "failing" || show == "stalled" {
		s = failing()
	}
	by := time.Since(noon())
	if show == "stalled" {
		by -= time.Minute
	}
	shift := func(ts ...*time.Time) {
		for _, t := range ts {
			if !t.IsZero() {
				*t = t.Add(by)
			}
		}
	}
	shift(&s.At, &s.Started, &s.Reload.At, &s.Reload.LastSuccess)
	for i := range s.States {
		shift(&s.States[i].Since)
	}
	for i := range s.Rules {
		shift(&s.Rules[i].Since)
	}
	for i := range s.Collectors {
		shift(&s.Collectors[i].LastRun, &s.Collectors[i].LastSuccess)
	}
	if show == "starting" {
		s.States[0].Verdict, s.States[0].Reason = evaluator.Fail, "starting"
		s.States[2].Verdict, s.States[2].Reason = evaluator.Fail, "starting"
		s.Rules[1].Status, s.Rules[1].Reason, s.Rules[1].Decides = evaluator.Unknown, "no series matches", true
		s.Collectors[1] = evaluator.CollectorStatus{Name: "keystone", Kind: "keystone", External: true}
		s.Reload.OK, s.Reload.Error = false, `vitals.yml:14:5: unknown key "intervall": expected interval`
	}
	s.Generation = generation
	return s
}

// fakeFaults remembers which fault is active and breaks nothing.
type fakeFaults struct {
	mu     sync.Mutex // guards what follows
	active map[string]string
}

type dependencyFaults struct {
	Dependency string   `json:"dependency"`
	Faults     []string `json:"faults"`
	Active     string   `json:"active"`
}

func (f *fakeFaults) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if r.Method == http.MethodPost {
		var change struct{ Dependency, Fault string }
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1024)).Decode(&change); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		f.active[change.Dependency] = change.Fault
		w.WriteHeader(http.StatusNoContent)
		return
	}
	var all []dependencyFaults
	for _, name := range []string{"kubernetes", "keystone", "neutron"} {
		active := f.active[name]
		if active == "" {
			active = "none"
		}
		all = append(all, dependencyFaults{name, []string{"refuse", "hang", "401", "403", "500", "slow"}, active})
	}
	_ = json.NewEncoder(w).Encode(all)
}
