package demo

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

// deadline is the maximum time between two reports of a component.
const deadline = model.Duration(5 * time.Second)

// Components returns the names of the workload's components.
func Components() []string { return []string{"watcher", "vif-handler"} }

// ReportInterval is the time between two reports of each component.
const ReportInterval = time.Second

// Workload imitates the controller: its components report at a fixed interval, unless a
// fault is set.
type Workload struct {
	report   func(name string, r collectors.Report) error
	interval time.Duration
	kick     chan struct{}

	mu     sync.Mutex // guards what follows
	faults map[string]string
}

// The faults of a component.
const (
	FaultDead     = "dead"
	FaultNotReady = "not-ready"
	FaultSilent   = "silent"
)

// NewWorkload returns a workload whose components report at an interval.
func NewWorkload(report func(string, collectors.Report) error, interval time.Duration) *Workload {
	return &Workload{report: report, interval: interval, kick: make(chan struct{}, 1), faults: map[string]string{}}
}

// Faults returns the components with their faults.
func (w *Workload) Faults() []fakes.Dependency {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []fakes.Dependency
	for _, name := range Components() {
		active := w.faults[name]
		if active == "" {
			active = fakes.None
		}
		all = append(all, fakes.Dependency{Dependency: name, Faults: []string{FaultDead, FaultNotReady, FaultSilent}, Active: active})
	}
	return all
}

// Set sets or clears the fault of a component.
func (w *Workload) Set(name, fault string) error {
	if !slices.Contains(Components(), name) {
		return fmt.Errorf("%w dependency %.64q: expected one of %s", fakes.ErrUnknown, name, strings.Join(Components(), ", "))
	}
	if !slices.Contains([]string{fakes.None, FaultDead, FaultNotReady, FaultSilent}, fault) {
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

// Run reports until ctx ends.
func (w *Workload) Run(ctx context.Context) {
	ticker := time.NewTicker(w.interval)
	defer ticker.Stop()
	for {
		for _, name := range Components() {
			w.send(name)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case <-w.kick:
		}
	}
}

func (w *Workload) send(name string) {
	w.mu.Lock()
	fault := w.faults[name]
	w.mu.Unlock()
	alive, ready, reason := true, true, ""
	switch fault {
	case FaultSilent:
		return
	case FaultDead:
		alive, reason = false, "set in the demo"
	case FaultNotReady:
		ready, reason = false, "set in the demo"
	}
	_ = w.report(name, collectors.Report{Alive: &alive, Ready: &ready, Reason: reason}) // the names are expected: no error
}
