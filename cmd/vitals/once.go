package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/server"
	"github.com/vitals-health/vitals/rules"
)

// runOnce collects and evaluates once and prints a state's verdict.
func (p *program) runOnce(state string, timeout time.Duration) int {
	if !p.levelGiven {
		_ = p.log.Level.Set("error") // the line on stdout says it all
	}
	logger := p.logger()
	l, errs := p.load()
	if len(errs) > 0 {
		return p.fail(errs...)
	}
	dropFor(l.files)
	b := builder{logger: logger}
	cfg, _, err := b.build(l)
	if err != nil {
		return p.fail(err)
	}
	eval, err := evaluator.New(cfg, evaluator.Options{Logger: logger})
	if err != nil {
		return p.fail(err)
	}
	if _, ok := eval.Snapshot().State(state, time.Now()); !ok {
		return p.fail(fmt.Errorf("there is no state %q: expected one of %s", state, strings.Join(l.cfg.stateNames(), ", ")))
	}
	s := collectOnce(eval, timeout)
	verdict, _ := s.State(state, s.At)
	line, code := verdictLine(s, verdict)
	fmt.Fprintln(p.stdout, line)
	return code
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

// maxLine bounds the line that says it all.
const maxLine = 500

// verdictLine says a verdict in one line of at most 500 bytes, and its exit code.
func verdictLine(s *evaluator.Snapshot, v evaluator.State) (string, int) {
	if v.Verdict != evaluator.Fail {
		line := v.Name + " ok"
		if v.Verdict == evaluator.Warn {
			line += ", with a warning: " + server.RuleText(&s.Rules[v.Deciding[0]])
		}
		return server.Line(line, maxLine), exitOK
	}
	code, why := exitFailing, v.Reason
	if len(v.Deciding) > 0 {
		r := &s.Rules[v.Deciding[0]]
		why = server.RuleText(r)
		switch {
		case r.ExitCode != 0:
			code = r.ExitCode
		case r.Status == evaluator.Unknown:
			code = exitUnknown
		}
		if n := len(v.Deciding) - 1; n > 0 {
			why += fmt.Sprintf(", and %s", count(n, "more rule"))
		}
	} else if v.Reason != "not alive" {
		code = exitUnknown
	}
	word := "failing"
	if code == exitUnknown {
		word = "unknown"
	}
	return server.Line(fmt.Sprintf("%s %s (code %d): %s", v.Name, word, code, why), maxLine), code
}
