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
		verdict, _ := server.StateVerdict(s, state, s.At)
		result = execprobe.Judge(&verdict)
	} else {
		lines := strings.Split(err.Error(), "\n")
		result.Text, result.More = lines[0], lines[1:]
	}
	how := execprobe.Style(cmp.Or(style, string(execprobe.Plain)))
	fmt.Fprint(p.stdout, how.Render(result))
	return how.Code(result)
}

// evaluateOnce collects and evaluates once. An error is one of the configuration, or
// says that it has no such state.
func (p *program) evaluateOnce(state string, timeout time.Duration) (*evaluator.Snapshot, error) {
	if !p.levelGiven {
		_ = p.log.Level.Set("error") // the line on stdout says it all
	}
	logger := p.logger()
	l, errs := p.load()
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	dropFor(l.files)
	b := builder{logger: logger}
	cfg, _, err := b.build(l)
	if err != nil {
		return nil, err
	}
	eval, err := evaluator.New(cfg, evaluator.Options{Logger: logger})
	if err != nil {
		return nil, err
	}
	if _, ok := eval.Snapshot().State(state, time.Now()); !ok {
		return nil, fmt.Errorf("there is no state %q: expected one of %s", state, strings.Join(l.cfg.stateNames(), ", "))
	}
	return collectOnce(eval, timeout), nil
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
// time is up, and returns what is then known.
func collectOnce(eval *evaluator.Evaluator, timeout time.Duration) *evaluator.Snapshot {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		eval.Run(ctx)
	}()
	defer func() {
		cancel()
		<-done
	}()
	for {
		changed := eval.Changed()
		s := eval.Snapshot()
		if s.Generation > 1 && allRan(s) {
			return s
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return eval.Snapshot()
		}
	}
}

func allRan(s *evaluator.Snapshot) bool {
	for _, c := range s.Collectors {
		if !c.Ran {
			return false
		}
	}
	return true
}
