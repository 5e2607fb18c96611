package profiles_test

import (
	"context"
	"io/fs"
	"testing"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/rules"
)

// epoch is the time at which simulations start.
func epoch() time.Time { return time.Unix(1_700_000_000, 0) }

// fakeCollector is a collector that is never run.
type fakeCollector struct {
	collectors.Collector
	name string
}

// source is a collector whose collections a simulation is given.
func source(name string, interval time.Duration) evaluator.Source {
	return evaluator.Source{Name: name, Interval: interval, Timeout: time.Second, Collector: &fakeCollector{name: name}}
}

func shippedRules(t *testing.T, name string) *rules.File {
	t.Helper()
	data, err := fs.ReadFile(rules.Shipped(), name)
	if err != nil {
		t.Fatal(err)
	}
	f, errs := rules.Parse(name, data, []string{evaluator.Ready, evaluator.Alive, evaluator.Started})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	return f
}

func simulate(t *testing.T, cfg evaluator.Config, at time.Time) *evaluator.Simulation {
	t.Helper()
	sim, err := evaluator.NewSimulation(cfg, evaluator.SimulationOptions{}, at)
	if err != nil {
		t.Fatal(err)
	}
	return sim
}

// deliver ends a collection.
func deliver(t *testing.T, sim *evaluator.Simulation, name string, samples []collectors.Sample, err error, at time.Time) {
	t.Helper()
	if err := sim.Deliver(name, evaluator.Batch{Samples: samples}, err, at); err != nil {
		t.Fatal(err)
	}
}

// query returns the only value of an expression; ok is false where there is none.
func query(t *testing.T, sim *evaluator.Simulation, expr string, at time.Time) (v float64, ok bool) {
	t.Helper()
	found, err := sim.Query(t.Context(), expr, at)
	if err != nil || len(found) > 1 {
		t.Fatalf("%s = %v, %v, want one value at most", expr, found, err)
	}
	if len(found) == 0 {
		return 0, false
	}
	return found[0].Value, true
}

// evaluateOnce evaluates rule files, as a container's profile has them, over the samples
// of one collection.
func evaluateOnce(t *testing.T, files []*rules.File, samples []collectors.Sample) *evaluator.Snapshot {
	t.Helper()
	sim := simulate(t, evaluator.Config{
		Interval: time.Minute, Sources: []evaluator.Source{source("container", time.Minute)}, Files: files,
		States: []evaluator.StatePolicy{{Name: evaluator.Ready, NoData: rules.NoDataFail}, {Name: evaluator.Alive, NoData: rules.NoDataPass}, {Name: evaluator.Started, NoData: rules.NoDataPass}},
	}, epoch())
	deliver(t, sim, "container", samples, nil, epoch())
	return sim.Evaluate(context.Background(), epoch())
}
