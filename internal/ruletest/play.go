package ruletest

import (
	"context"
	"fmt"
	"sort"
	"time"

	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/evaluator"
)

// player runs a test.
type player struct {
	file *file
	test *test
	sim  *evaluator.Simulation
	// evaluated has the expressions that were evaluated, by index.
	evaluated []bool
	result    Test
	failures  []failed
	timeline  *timeline // nil unless requested
}

type failed struct {
	at         place
	what, text string
}

// play evaluates the rules from the test's start to its last expectation.
func play(ctx context.Context, f *file, t *test, opts Options) Test {
	p := &player{file: f, test: t, evaluated: make([]bool, len(t.exprs)), result: Test{Name: t.name}}
	p.result.Expectations = len(t.alerts) + len(t.exprs) + len(t.states)
	if opts.Timeline {
		p.timeline = &timeline{start: t.start}
	}
	cfg := evaluator.Config{Interval: f.interval, States: f.states, Files: f.ordered()}
	var err error
	p.sim, err = evaluator.NewSimulation(cfg, evaluator.SimulationOptions{
		ExternalLabels: t.labels, ExternalURL: t.url, EveryGroup: true, Hides: t.ownHidden,
	}, t.start)
	if err == nil {
		err = p.run(ctx)
	}
	if err != nil {
		p.fail(t.place, "the test", err.Error())
	}
	if p.timeline != nil {
		p.result.Timeline = p.timeline.lines
	}
	sort.SliceStable(p.failures, func(i, j int) bool {
		a, b := p.failures[i].at, p.failures[j].at
		return a.line < b.line || a.line == b.line && a.col < b.col
	})
	for _, f := range p.failures {
		p.result.Failures = append(p.result.Failures, Failure{Place: f.at.String(), What: f.what, Text: f.text})
	}
	return p.result
}

// run runs all evaluations. An error ends the test.
func (p *player) run(ctx context.Context) error {
	last := p.last()
	restarts := p.test.restarts
	for at := time.Duration(0); ; at += p.file.interval {
		for len(restarts) > 0 && restarts[0] <= at {
			if err := p.restart(ctx, restarts[0]); err != nil {
				return err
			}
			restarts = restarts[1:]
		}
		if err := p.appendUntil(p.millis(at) + 1); err != nil {
			return err
		}
		snapshot := p.sim.Evaluate(ctx, p.test.start.Add(at))
		if err := ctx.Err(); err != nil {
			return err
		}
		if p.failedRules(at) {
			return nil
		}
		p.timeline.note(snapshot)
		p.compare(at, snapshot)
		if at > last-p.file.interval {
			break
		}
	}
	p.evaluate(ctx, func(exprTest) bool { return true })
	return nil
}

// last returns the time of the last expectation.
func (p *player) last() time.Duration {
	var last time.Duration
	for _, t := range p.test.alerts {
		last = max(last, t.at)
	}
	for _, t := range p.test.exprs {
		last = max(last, t.at)
	}
	for _, t := range p.test.states {
		last = max(last, t.at)
	}
	return last
}

func (p *player) millis(at time.Duration) int64 { return p.test.start.Add(at).UnixMilli() }

// restart simulates a restart of Vitals. Expressions before it are evaluated now, because
// the window becomes empty.
func (p *player) restart(ctx context.Context, at time.Duration) error {
	if err := p.appendUntil(p.millis(at)); err != nil {
		return err
	}
	p.evaluate(ctx, func(t exprTest) bool { return t.at < at })
	p.timeline.restart(at)
	return p.sim.Restart(p.test.start.Add(at))
}

// appendUntil appends all samples before a time in milliseconds.
func (p *player) appendUntil(t int64) error {
	for i := range p.test.series {
		s := &p.test.series[i]
		for _, sample := range s.until(t) {
			if err := p.sim.Append(evaluator.Sample{Labels: s.labels, T: sample.t, Value: sample.v, Histogram: sample.h}); err != nil {
				return fmt.Errorf("series %s: %w", s.labels, err)
			}
		}
	}
	return nil
}

// failedRules reports whether the evaluation of a rule failed, which ends the test.
func (p *player) failedRules(at time.Duration) bool {
	errs := p.sim.Errors()
	for _, e := range errs {
		p.fail(p.test.place, fmt.Sprintf("evaluation of %s, group %q, at %s", e.Rule, e.Group, duration(at)), e.Err.Error())
	}
	return len(errs) > 0
}

// compare checks the expectations from this evaluation until the next one.
func (p *player) compare(at time.Duration, s *evaluator.Snapshot) {
	due := func(t time.Duration) bool { return t >= at && t-at < p.file.interval }
	for _, t := range p.test.alerts {
		if due(t.at) {
			p.compareAlerts(t, s)
		}
	}
	for _, t := range p.test.states {
		if due(t.at) {
			p.compareState(t, s)
		}
	}
}

// evaluate evaluates the expressions that are due and were not evaluated yet.
func (p *player) evaluate(ctx context.Context, due func(exprTest) bool) {
	for i, t := range p.test.exprs {
		if p.evaluated[i] || !due(t) {
			continue
		}
		p.evaluated[i] = true
		got, err := p.sim.Query(ctx, t.expr, p.test.start.Add(t.at))
		if err != nil {
			p.fail(t.place, exprTitle(t), err.Error())
			continue
		}
		p.compareSamples(t, got)
	}
}

func (p *player) fail(at place, what, text string) {
	p.failures = append(p.failures, failed{at, what, text})
}

// duration formats a duration as in test files.
func duration(d time.Duration) string { return model.Duration(d).String() }
