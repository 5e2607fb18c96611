package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/internal/fakes"
)

// workloadDeadline is how long a component of the demo may be silent.
const workloadDeadline = model.Duration(5 * time.Second)

// workloadComponents are the components of the demo's workload.
func workloadComponents() []string { return []string{"watcher", "vif-handler"} }

// workloadPace is the time between two reports of each component.
const workloadPace = time.Second

// workload plays the controller: its components report at a steady pace, as long as
// they are well.
type workload struct {
	report func(name string, r collectors.Report) error
	pace   time.Duration
	kick   chan struct{}

	mu     sync.Mutex // guards what follows
	faults map[string]string
}

// The faults of a component.
const (
	faultDead     = "dead"
	faultNotReady = "not-ready"
	faultSilent   = "silent"
)

func newWorkload(report func(string, collectors.Report) error, pace time.Duration) *workload {
	return &workload{report: report, pace: pace, kick: make(chan struct{}, 1), faults: map[string]string{}}
}

// Faults lists the components and what is wrong with them.
func (w *workload) Faults() []fakes.Dependency {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []fakes.Dependency
	for _, name := range workloadComponents() {
		active := w.faults[name]
		if active == "" {
			active = fakes.None
		}
		all = append(all, fakes.Dependency{Dependency: name, Faults: []string{faultDead, faultNotReady, faultSilent}, Active: active})
	}
	return all
}

// Set breaks or heals a component.
func (w *workload) Set(name, fault string) error {
	if !slices.Contains(workloadComponents(), name) {
		return fmt.Errorf("%w dependency %.64q: expected one of %s", fakes.ErrUnknown, name, strings.Join(workloadComponents(), ", "))
	}
	if !slices.Contains([]string{fakes.None, faultDead, faultNotReady, faultSilent}, fault) {
		return fmt.Errorf("%w fault %.64q of %s", fakes.ErrUnknown, fault, name)
	}
	w.mu.Lock()
	w.faults[name] = fault
	w.mu.Unlock()
	select {
	case w.kick <- struct{}{}:
	default:
	}
	return nil
}

// run reports until ctx ends.
func (w *workload) run(ctx context.Context) {
	ticker := time.NewTicker(w.pace)
	defer ticker.Stop()
	for {
		for _, name := range workloadComponents() {
			w.speak(name)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case <-w.kick:
		}
	}
}

func (w *workload) speak(name string) {
	w.mu.Lock()
	fault := w.faults[name]
	w.mu.Unlock()
	alive, ready, reason := true, true, ""
	switch fault {
	case faultSilent:
		return
	case faultDead:
		alive, reason = false, "the demo says so"
	case faultNotReady:
		ready, reason = false, "the demo says so"
	}
	_ = w.report(name, collectors.Report{Alive: &alive, Ready: &ready, Reason: reason}) // expected by name: never refused
}
