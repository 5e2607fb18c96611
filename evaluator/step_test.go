package evaluator

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/rules"
)

// steppingClock is a wall clock that can be set; the monotonic one goes on.
type steppingClock struct {
	tb testing.TB
	by atomic.Int64
}

func (c *steppingClock) now() time.Time {
	return collectortest.StepClock(c.tb, time.Now(), time.Duration(c.by.Load()))
}

// contactCollector exports when it last had contact, which goes on all the time.
type contactCollector struct {
	clock *steppingClock
	// takes is how long a collection takes.
	takes       atomic.Int64
	collections atomic.Int64
	// hangs has an element after a collection began that takes an hour.
	hangs chan struct{}
}

func (c *contactCollector) Collect(ctx context.Context) ([]collectors.Sample, error) {
	c.collections.Add(1)
	contact := c.clock.now()
	takes := time.Duration(c.takes.Load())
	if takes == time.Hour {
		select {
		case c.hangs <- struct{}{}:
		default:
		}
	}
	select {
	case <-time.After(takes):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	at := collectors.EpochSeconds(collectors.OnClock(c.clock.now(), contact))
	return []collectors.Sample{{Labels: labels.FromStrings(model.MetricNameLabel, "contact_timestamp_seconds"), Value: at}}, nil
}

func (*contactCollector) Describe() []collectors.Desc { return nil }

// contactRules fail if an age is not what it was before the step.
const contactRules = `
groups:
  - name: g
    rules:
      - {alert: Silent, expr: abs(time() - contact_timestamp_seconds) > 60, labels: {state: ready}}
      - {alert: Failing, expr: abs(time() - vitals_collector_last_success_timestamp_seconds) > 60, labels: {state: ready}}
      - {alert: Stuck, expr: abs(time() - vitals_evaluation_timestamp_seconds) > 60, labels: {state: ready}}
`

// runStepping runs an evaluator with one collector until the test ends. Its first snapshot
// after a collection has been published.
func runStepping(t *testing.T) (*Evaluator, *contactCollector) {
	t.Helper()
	c := &contactCollector{clock: &steppingClock{tb: t}, hangs: make(chan struct{}, 1)}
	return runByClock(t, c, c.clock.now), c
}

// runByClock does the same with a collector and the clock of the evaluator.
func runByClock(t *testing.T, c *contactCollector, clock func() time.Time) *Evaluator {
	t.Helper()
	file, errs := rules.Parse("rules.yml", []byte(contactRules), []string{Ready, Alive, Started})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	e, err := New(Config{
		Interval: 50 * time.Millisecond, Files: []*rules.File{file},
		Sources: []Source{{Name: "watch", Interval: time.Hour, Timeout: time.Minute, Collector: c}},
	}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	e.clock = clock
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		e.Run(ctx)
	}()
	t.Cleanup(func() { cancel(); <-done })
	for changed := e.Changed(); e.Snapshot().States[0].Verdict != Pass; changed = e.Changed() {
		<-changed
	}
	return e
}

// namesOf returns the names of rules.
func namesOf(s *Snapshot, rules []int) (names []string) {
	for _, i := range rules {
		names = append(names, s.Rules[i].Name)
	}
	return names
}

// A reading of a thread that was stopped between the two clocks is no step: samples keep their
// time, and no collector runs again.
func TestReadingsThatAreNoSteps(t *testing.T) {
	t.Parallel()
	c := &contactCollector{clock: &steppingClock{tb: t}}
	var readings atomic.Int64
	e := runByClock(t, c, func() time.Time {
		if readings.Add(1)%5 == 0 {
			return collectortest.StepClock(t, time.Now(), -time.Hour)
		}
		return time.Now()
	})
	for range 12 {
		changed := e.Changed()
		if s := e.Snapshot(); s.States[0].Verdict != Pass {
			t.Fatalf("ready fails by a wrong reading: %v", namesOf(s, s.States[0].Deciding))
		}
		<-changed
		if off := time.Now().Round(0).Sub(e.Snapshot().At.Round(0)); off > time.Minute {
			t.Errorf("an evaluation was %s ago on the wall clock, want the time of a right reading", off)
		}
	}
	if n := c.collections.Load(); n != 1 {
		t.Errorf("there were %d collections, want the first one only", n)
	}
}

// A step of the clock changes no age: collectors run again before rules are evaluated.
func TestStepOfTheClockFailsNothing(t *testing.T) {
	for _, by := range []time.Duration{time.Hour, -time.Hour} {
		t.Run(fmt.Sprint(by), func(t *testing.T) {
			t.Parallel()
			e, c := runStepping(t)
			c.takes.Store(int64(300 * time.Millisecond)) // several evaluations long
			before := e.Snapshot()
			changed := e.Changed()
			c.clock.by.Store(int64(by))
			for after := 0; after < 5; changed = e.Changed() {
				<-changed
				s := e.Snapshot()
				if ready := s.States[0]; ready.Verdict != Pass {
					t.Fatalf("ready fails after the step: %v", namesOf(s, ready.Deciding))
				}
				if stepped := s.At.Round(0).Sub(before.At.Round(0)); stepped.Round(time.Hour) == by {
					after++
				}
			}
			if n := c.collections.Load(); n != 2 {
				t.Errorf("there were %d collections, want the first and one after the step", n)
			}
		})
	}
}

// A collector that hangs delays the evaluation for less than a snapshot may be old.
func TestStepOfTheClockWhileACollectorHangs(t *testing.T) {
	e, c := runStepping(t)
	c.takes.Store(int64(time.Hour))
	c.clock.by.Store(int64(time.Hour))
	stepped := time.Now()
	for changed := e.Changed(); e.Snapshot().At.Round(0).Sub(stepped.Round(0)) < 30*time.Minute; changed = e.Changed() {
		<-changed
	}
	if waited, most := time.Since(stepped), e.core.maxAge(); waited >= most {
		t.Errorf("the first evaluation after the step came after %s, want less than %s", waited, most)
	}
	if s := e.Snapshot(); s.Stalled(c.clock.now()) || s.States[1].Verdict != Pass {
		t.Errorf("alive fails after the step")
	}
}

// A request is answered at once while a collector hangs after a step of the clock.
func TestRequestsAfterStepOfTheClock(t *testing.T) {
	for name, request := range map[string]func(*Evaluator) error{
		"shutdown": func(e *Evaluator) error { e.Shutdown(); return nil },
		"a configuration without the collector": func(e *Evaluator) error {
			changed := e.Changed()
			err := e.Apply(Config{Interval: 50 * time.Millisecond})
			<-changed
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, c := runStepping(t)
			c.takes.Store(int64(time.Hour))
			c.clock.by.Store(int64(time.Hour))
			<-c.hangs
			begin := time.Now()
			if err := request(e); err != nil {
				t.Fatal(err)
			}
			if took, most := time.Since(begin), e.Snapshot().MaxAge/4; took > most {
				t.Errorf("the request took %s, want at most %s", took, most)
			}
		})
	}
}

// Steps that repeat while a collector hangs do not add up to a stalled evaluator.
func TestRepeatedStepsOfTheClock(t *testing.T) {
	t.Parallel()
	e, c := runStepping(t)
	c.takes.Store(int64(time.Hour))
	step := time.NewTicker(100 * time.Millisecond)
	defer step.Stop()
	begin, changed := time.Now(), e.Changed()
	for published := 0; published < 5; {
		select {
		case <-changed:
			published, changed = published+1, e.Changed()
		case <-step.C:
			c.clock.by.Add(int64(time.Minute))
		}
		if e.Snapshot().Stalled(c.clock.now()) {
			t.Fatalf("the evaluator is stalled after %s of steps and %d evaluations", time.Since(begin), published)
		}
	}
}
