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
	"github.com/vitals-health/vitals/internal/once"
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
		result = once.Result(s, state, timeout)
	} else {
		lines := strings.Split(err.Error(), "\n")
		result.Text, result.More = lines[0], lines[1:]
	}
	how := execprobe.Style(cmp.Or(style, string(execprobe.Plain)))
	return p.print(how, result)
}

// evaluateOnce collects and evaluates once. An error is one of the configuration, or
// reports that there is no such state.
func (p *program) evaluateOnce(state string, timeout time.Duration) (s *evaluator.Snapshot, err error) {
	_, err = p.withSnapshot(state, timeout, func(_ context.Context, _ *evaluator.Evaluator, seen *evaluator.Snapshot) { s = seen })
	return s, err
}

// withSnapshot collects and evaluates once and calls use before the evaluator stops, with
// the last snapshot from within the timeout. It returns the configuration. An error is one of the configuration, or
// reports that there is no such state.
func (p *program) withSnapshot(state string, timeout time.Duration, use func(context.Context, *evaluator.Evaluator, *evaluator.Snapshot)) (*config.Loaded, error) {
	if !p.levelGiven {
		_ = p.log.Level.Set("error") // the line on stdout has the result
	}
	logger := p.logger()
	l, errs := p.load()
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	once.DropFor(l.Rules)
	b := config.Builder{Logger: logger, Secrets: p.secrets}
	cfg, _, err := b.Build(l)
	if err != nil {
		return nil, err
	}
	for i := range cfg.Sources { // so that a collector ends in time to report what it waits for
		cfg.Sources[i].Timeout = min(cfg.Sources[i].Timeout, timeout)
	}
	eval, err := evaluator.New(cfg, evaluator.Options{Logger: logger, Secrets: p.secrets})
	if err != nil {
		return nil, err
	}
	if _, ok := eval.Snapshot().State(state, time.Now()); !ok {
		return nil, fmt.Errorf("there is no state %q: expected one of %s", state, strings.Join(l.Config.StateNames(), ", "))
	}
	once.Run(eval, timeout, use)
	return l, nil
}
