// Package once collects and evaluates one time, without a daemon.
package once

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/execprobe"
	"github.com/vitals-health/vitals/internal/server/verdicts"
	"github.com/vitals-health/vitals/rules"
)

// DropFor makes a true condition count at once: there is no later evaluation.
func DropFor(files []*rules.File) {
	for _, f := range files {
		for _, g := range f.Groups {
			for i := range g.Rules {
				g.Rules[i].For = 0
			}
		}
	}
}

// Run runs the evaluator until every collector has finished a collection or the
// timeout has passed, and then calls use. Collectors that the timeout cuts off report that
// at the same moment: the snapshot is one from before, however late this goroutine runs.
func Run(eval *evaluator.Evaluator, timeout time.Duration, use func(context.Context, *evaluator.Evaluator, *evaluator.Snapshot)) {
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
	for over := false; !over && (seen.Generation <= 1 || len(Unfinished(seen)) > 0); {
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

// Unfinished returns the names of the collectors that have not finished a collection.
func Unfinished(s *evaluator.Snapshot) []string {
	var names []string
	for _, c := range s.Collectors {
		if !c.Ran {
			names = append(names, c.Name)
		}
	}
	return names
}

// Result is the result for a state after a single evaluation. A collector without a
// result is no evidence, so the result is then a timeout.
func Result(s *evaluator.Snapshot, state string, timeout time.Duration) execprobe.Result {
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
	switch late := Unfinished(s); {
	case len(late) > 0 && incomplete:
		result.Outcome, result.ExitCode, result.More = execprobe.Timeout, 0, verdict.Lines
		result.Text = fmt.Sprintf("%s: no result of %s within %s", state, strings.Join(late, ", "), timeout.Round(time.Millisecond))
	case passes && state == evaluator.Alive && enforced == 0:
		result.Outcome, result.Text = execprobe.NoRules, state+": no rules: nothing was judged"
	}
	return result
}
