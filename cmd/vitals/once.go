package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/alecthomas/kingpin/v2"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/config"
	"github.com/vitals-health/vitals/internal/execprobe"
	"github.com/vitals-health/vitals/internal/server/verdicts"
	"github.com/vitals-health/vitals/rules"
)

// onceCommand declares the command once.
func (p *program) onceCommand(app *kingpin.Application, do func(func() int) kingpin.Action) {
	cmd := app.Command("once", "Collect and evaluate once, print the verdict of STATE and exit with its code. There is one evaluation only: a rule whose condition is true counts as failing whatever its for.")
	p.configFlags(cmd)
	var state, style string
	var timeout time.Duration
	cmd.Arg("state", "The state to evaluate; ready when none is given.").Default("ready").StringVar(&state)
	cmd.Flag("timeout", "How long to wait for the collectors.").Default("15s").DurationVar(&timeout)
	cmd.Flag("style", "Exit codes and output of the exec probe: plain, docker, sonic or nagios. Errors are then printed to stdout. Without this flag the style is plain and errors go to stderr.").EnumVar(&style, styles()...)
	cmd.Action(do(func() int { return p.runOnce(state, style, timeout) }))
}

// runOnce collects and evaluates once and prints a state's verdict as the exec probe
// does. Where style is not empty, errors are printed in that style as well.
func (p *program) runOnce(state, style string, timeout time.Duration) int {
	s, err := p.evaluateOnce(state, timeout)
	if err != nil && style == "" {
		return p.fail(err)
	}
	result := execprobe.Result{Outcome: execprobe.Usage}
	if err == nil {
		result = onceResult(s, state, timeout)
	} else {
		lines := strings.Split(err.Error(), "\n")
		result.Text, result.More = lines[0], lines[1:]
	}
	how := execprobe.Style(cmp.Or(style, string(execprobe.Plain)))
	return p.print(how, result)
}

// onceResult is the result for a state after a single evaluation. A collector without a
// result is no evidence, so the result is then a timeout.
func onceResult(s *evaluator.Snapshot, state string, timeout time.Duration) execprobe.Result {
	verdict, _ := verdicts.Of(s, state, s.At)
	result := execprobe.ResultOf(&verdict)
	enforced, evaluated := 0, 0
	for _, r := range s.Rules {
		if r.State == state && !r.Observe {
			enforced++
			if r.Status != evaluator.Unknown {
				evaluated++
			}
		}
	}
	// Alive passes on the results that there are: a dependency that hangs must not restart
	// the workload.
	passes := result.Outcome == execprobe.OK || result.Outcome == execprobe.Warning
	incomplete := result.Outcome == execprobe.Unknown || passes && (state != evaluator.Alive || evaluated == 0)
	switch late := unfinished(s); {
	case len(late) > 0 && incomplete:
		result.Outcome, result.ExitCode, result.More = execprobe.Timeout, 0, verdict.Lines
		result.Text = fmt.Sprintf("%s: no result of %s within %s", state, strings.Join(late, ", "), timeout.Round(time.Millisecond))
	case passes && state == evaluator.Alive && enforced == 0:
		result.Outcome, result.Text = execprobe.NoRules, state+": no rules: nothing was judged"
	}
	return result
}

// evaluateOnce collects and evaluates once. An error is one of the configuration, or
// reports that there is no such state.
func (p *program) evaluateOnce(state string, timeout time.Duration) (s *evaluator.Snapshot, err error) {
	err = p.withSnapshot(state, timeout, func(_ context.Context, _ *evaluator.Evaluator, seen *evaluator.Snapshot) { s = seen })
	return s, err
}

// withSnapshot collects and evaluates once and calls use before the evaluator stops, with
// the last snapshot from within the timeout. An error is one of the configuration, or
// reports that there is no such state.
func (p *program) withSnapshot(state string, timeout time.Duration, use func(context.Context, *evaluator.Evaluator, *evaluator.Snapshot)) error {
	if !p.levelGiven {
		_ = p.log.Level.Set("error") // the line on stdout has the result
	}
	logger := p.logger()
	l, errs := p.load()
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	dropFor(l.Rules)
	b := config.Builder{Logger: logger, Secrets: p.secrets}
	cfg, _, err := b.Build(l)
	if err != nil {
		return err
	}
	for i := range cfg.Sources { // so that a collector ends in time to report what it waits for
		cfg.Sources[i].Timeout = min(cfg.Sources[i].Timeout, timeout)
	}
	eval, err := evaluator.New(cfg, evaluator.Options{Logger: logger, Secrets: p.secrets})
	if err != nil {
		return err
	}
	if _, ok := eval.Snapshot().State(state, time.Now()); !ok {
		return fmt.Errorf("there is no state %q: expected one of %s", state, strings.Join(l.Config.StateNames(), ", "))
	}
	collectOnce(eval, timeout, use)
	return nil
}

// dropFor makes a true condition count at once: there is no later evaluation.
func dropFor(files []*rules.File) {
	for _, f := range files {
		for _, g := range f.Groups {
			for i := range g.Rules {
				g.Rules[i].For = 0
			}
		}
	}
}

// collectOnce runs the evaluator until every collector has finished a collection or the
// timeout has passed, and then calls use. Collectors that the timeout cuts off report that
// at the same moment: the snapshot is one from before, however late this goroutine runs.
func collectOnce(eval *evaluator.Evaluator, timeout time.Duration, use func(context.Context, *evaluator.Evaluator, *evaluator.Snapshot)) {
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
	use(ctx, eval, seen)
}

// unfinished returns the names of the collectors that have not finished a collection.
func unfinished(s *evaluator.Snapshot) []string {
	var names []string
	for _, c := range s.Collectors {
		if !c.Ran {
			names = append(names, c.Name)
		}
	}
	return names
}
