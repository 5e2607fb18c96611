package main

import (
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/vitals-health/vitals/internal/execprobe"
	"github.com/vitals-health/vitals/internal/history"
	"github.com/vitals-health/vitals/internal/text"
)

// past is what explain prints of the past instead of the present. The zero value prints
// nothing of it.
type past struct {
	last      bool
	at, since string
}

func (w past) given() bool { return w.last || w.at != "" || w.since != "" }

// runExplainPast prints the events that explain an earlier verdict.
func (p *program) runExplainPast(e *explaining) int {
	usage := func(format string, args ...any) int {
		return p.failed(&execprobe.Result{Outcome: execprobe.Usage, Text: fmt.Sprintf(format, args...)})
	}
	if e.once() || e.changeGiven || e.options.All {
		return usage("--last, --at and --since print what a daemon has kept: expected them without a configuration and without --all")
	}
	if e.past.last && (e.past.at != "" || e.past.since != "") || e.past.at != "" && e.past.since != "" {
		return usage("expected one of --last, --at and --since")
	}
	parameters := url.Values{"waiting": {"true"}}
	if e.options.Rule != "" {
		parameters.Set("rule", e.options.Rule)
	} else {
		parameters.Set("state", e.state)
	}
	at := time.Now()
	for flag, given := range map[string]string{"since": e.past.since, "until": e.past.at} {
		if given == "" {
			continue
		}
		t, err := timeBefore(text.Either(flag == "until", "at", flag), given, time.Now())
		if err != nil {
			return usage("%v", err)
		}
		if flag == "until" {
			t = t.Add(time.Second - time.Nanosecond) // to the end of the second
			at = t
		}
		parameters.Set(flag, t.Format(time.RFC3339Nano))
	}
	if e.timeout <= 0 {
		return usage("--timeout=%s: expected a duration above 0", e.timeout)
	}
	events, failed := e.daemon.Events(parameters, e.timeout)
	if failed != nil {
		return p.failed(failed)
	}
	printed := &eventing{format: e.format, verbose: true}
	chosen := e.choose(events, at)
	if len(chosen) == 0 && e.format == "text" {
		_, _ = fmt.Fprintln(p.stdout, "no event is kept of that")
	}
	_, _ = p.stdout.Write(printed.render(chosen)) // main reports a failed write for all commands
	return exitOK
}

// choose returns the events to print: with --since all, with --at the events at that time of the state
// or of the rule, and with --last the one that began the last failure, and what followed.
func (e *explaining) choose(events []*history.Event, at time.Time) []*history.Event {
	if e.past.since != "" {
		return events
	}
	own := slices.DeleteFunc(events, func(event *history.Event) bool {
		return e.options.Rule == "" && (event.Kind != history.State || event.Name != e.state)
	})
	if e.past.last {
		if failure := history.LastFailure(own); len(failure) > 0 {
			return failure
		}
	}
	return history.At(own, at)
}
