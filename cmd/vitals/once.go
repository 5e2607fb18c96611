package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/execprobe"
	"github.com/vitals-health/vitals/internal/server"
	"github.com/vitals-health/vitals/rules"
)

// runOnce collects and evaluates once and prints a state's verdict as the exec probe
// does. With a style that was asked for, mistakes are printed in it as well.
func (p *program) runOnce(state, style string, timeout time.Duration) int {
	s, err := p.evaluateOnce(state, timeout)
	if err != nil && style == "" {
		return p.fail(err)
	}
	result := execprobe.Result{Outcome: execprobe.Usage}
	if err == nil {
		result = judgeOnce(s, state, timeout)
	} else {
		lines := strings.Split(err.Error(), "\n")
		result.Text, result.More = lines[0], lines[1:]
	}
	how := execprobe.Style(cmp.Or(style, string(execprobe.Plain)))
	return p.tell(how, result)
}

// judgeOnce is what one look says of a state. A collector that has no result yet is no
// evidence, and neither is a daemon that runs: there is none.
func judgeOnce(s *evaluator.Snapshot, state string, timeout time.Duration) execprobe.Result {
	verdict, _ := server.StateVerdict(s, state, s.At)
	result := execprobe.ResultOf(&verdict)
	obeyed, judged := 0, 0
	for _, r := range s.Rules {
		if r.State == state && !r.Observe {
			obeyed++
			if r.Status != evaluator.Unknown {
				judged++
			}
		}
	}
	// Alive passes on what is known: a dependency that hangs is not to restart the workload.
	passes := result.Outcome == execprobe.OK || result.Outcome == execprobe.Warning
	lacks := result.Outcome == execprobe.Unknown || passes && (state != evaluator.Alive || judged == 0)
	switch late := unfinished(s); {
	case len(late) > 0 && lacks:
		result.Outcome, result.ExitCode, result.More = execprobe.Timeout, 0, verdict.Lines
		result.Text = fmt.Sprintf("%s: no result of %s within %s", state, strings.Join(late, ", "), timeout.Round(time.Millisecond))
	case passes && state == evaluator.Alive && obeyed == 0:
		result.Outcome, result.Text = execprobe.NoRules, state+": no rules: nothing was judged"
	}
	return result
}

// evaluateOnce collects and evaluates once. An error is one of the configuration, or
// says that it has no such state.
func (p *program) evaluateOnce(state string, timeout time.Duration) (s *evaluator.Snapshot, err error) {
	err = p.lookOnce(state, timeout, func(_ context.Context, _ *evaluator.Evaluator, seen *evaluator.Snapshot) { s = seen })
	return s, err
}

// lookOnce collects and evaluates once and has look see the evaluator before it stops,
// and what it knew within the time. An error is one of the configuration, or says that it
// has no such state.
func (p *program) lookOnce(state string, timeout time.Duration, look func(context.Context, *evaluator.Evaluator, *evaluator.Snapshot)) error {
	if !p.levelGiven {
		_ = p.log.Level.Set("error") // the line on stdout says it all
	}
	logger := p.logger()
	l, errs := p.load()
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	dropFor(l.files)
	b := builder{logger: logger}
	cfg, _, err := b.build(l)
	if err != nil {
		return err
	}
	for i := range cfg.Sources { // so that a collector ends in time to say what it waits for
		cfg.Sources[i].Timeout = min(cfg.Sources[i].Timeout, timeout)
	}
	eval, err := evaluator.New(cfg, evaluator.Options{Logger: logger})
	if err != nil {
		return err
	}
	if _, ok := eval.Snapshot().State(state, time.Now()); !ok {
		return fmt.Errorf("there is no state %q: expected one of %s", state, strings.Join(l.cfg.stateNames(), ", "))
	}
	collectOnce(eval, timeout, look)
	return nil
}

// dropFor lets a true condition count at once: there is no later look.
func dropFor(files []*rules.File) {
	for _, f := range files {
		for _, g := range f.Groups {
			for i := range g.Rules {
				g.Rules[i].For = 0
			}
		}
	}
}

// collectOnce runs the evaluator until every collector has finished a round, or
// time is up, and then has look see it. A collector that is cut off at that time says so
// just then: what is seen is from before, however late this program gets its turn.
func collectOnce(eval *evaluator.Evaluator, timeout time.Duration, look func(context.Context, *evaluator.Evaluator, *evaluator.Snapshot)) {
	ctx, cancel := context.WithCancel(context.Background())
	end := time.Now().Add(timeout)
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	done := make(chan struct{})
	go func() {
		defer close(done)
		eval.Run(ctx)
	}()
	defer func() {
		cancel()
		<-done
	}()
	changed, seen := eval.Changed(), eval.Snapshot()
	for over := false; !over && (seen.Generation <= 1 || len(unfinished(seen)) > 0); {
		select {
		case <-changed:
		case <-timer.C:
			over = true
		}
		changed = eval.Changed()
		if now := eval.Snapshot(); now.At.Before(end) {
			seen = now
		} else {
			over = true
		}
	}
	look(ctx, eval, seen)
}

// unfinished are the collectors that have not finished a round.
func unfinished(s *evaluator.Snapshot) []string {
	var names []string
	for _, c := range s.Collectors {
		if !c.Ran {
			names = append(names, c.Name)
		}
	}
	return names
}
