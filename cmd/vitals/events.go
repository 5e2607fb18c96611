package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/alecthomas/kingpin/v2"

	"github.com/vitals-health/vitals/internal/client"
	"github.com/vitals-health/vitals/internal/execprobe"
	"github.com/vitals-health/vitals/internal/history"
)

// eventing is the command events.
type eventing struct {
	daemon             client.Daemon
	state, rule, since string
	limit              int
	limitGiven         bool
	follow             bool
	verbose            bool
	format             string
	timeout            time.Duration
}

// eventsCommand declares the command events.
func (p *program) eventsCommand(app *kingpin.Application, do func(func() int) kingpin.Action) {
	cmd := app.Command("events", "Print what happened, the newest last: every change of a state, a rule and a collector, and what the process did. Times are in UTC. The daemon keeps the last 1,000 events in memory, half of them of states.")
	e := &eventing{}
	cmd.Flag("state", "Only events of this state and of the rules that feed it.").PlaceHolder("NAME").StringVar(&e.state)
	cmd.Flag("rule", "Only events of this rule.").PlaceHolder("NAME").StringVar(&e.rule)
	cmd.Flag("since", "Only events since this time, such as 1h, 03:12 or 2006-01-02T15:04:05Z.").PlaceHolder("TIME").StringVar(&e.since)
	cmd.Flag("limit", "Only so many events, the newest; 0 for all. Without it, --since is for all.").Default("20").IsSetByUser(&e.limitGiven).IntVar(&e.limit)
	cmd.Flag("follow", "Go on and print each new event.").Short('f').BoolVar(&e.follow)
	cmd.Flag("verbose", "Print what explained each event at its moment.").BoolVar(&e.verbose)
	cmd.Flag("format", "text for people, or json: one event a line.").Default("text").EnumVar(&e.format, "text", "json")
	cmd.Flag("timeout", "How long to wait for the daemon.").Default("5s").DurationVar(&e.timeout)
	p.daemonFlags(cmd, &e.daemon)
	cmd.Action(do(func() int { return p.runEvents(e) }))
}

// runEvents prints events, or an error on stderr.
func (p *program) runEvents(e *eventing) int {
	parameters, err := e.parameters(time.Now())
	if err != nil {
		return p.failed(&execprobe.Result{Outcome: execprobe.Usage, Text: err.Error()})
	}
	show := func(events []*history.Event) error {
		_, err := p.stdout.Write(e.render(events))
		return err
	}
	if e.follow {
		return p.failed(e.daemon.Follow(parameters, e.timeout, p.stderr, show))
	}
	parameters.Set("waiting", "true")
	events, failed := e.daemon.Events(parameters, e.timeout)
	if failed == nil {
		_ = show(events) // main reports a failed write for all commands
	}
	return p.failed(failed)
}

// failed prints why a query failed, and returns its exit code.
func (p *program) failed(r *execprobe.Result) int {
	if r == nil {
		return exitOK
	}
	fmt.Fprintln(p.stderr, r.Text)
	return execprobe.Plain.Code(*r)
}

// parameters returns the parameters of /api/v1/events.
func (e *eventing) parameters(now time.Time) (url.Values, error) {
	v := url.Values{}
	for name, value := range map[string]string{"state": e.state, "rule": e.rule} {
		if value != "" {
			v.Set(name, value)
		}
	}
	switch {
	case e.timeout <= 0:
		return nil, fmt.Errorf("--timeout=%s: expected a duration above 0", e.timeout)
	case e.limit < 0:
		return nil, fmt.Errorf("--limit=%d: expected a number of events, or 0 for all", e.limit)
	case e.limit > 0 && (e.limitGiven || e.since == ""):
		v.Set("limit", strconv.Itoa(e.limit))
	}
	if e.since != "" {
		since, err := timeBefore("since", e.since, now)
		if err != nil {
			return nil, err
		}
		v.Set("since", since.Format(time.RFC3339Nano))
	}
	return v, nil
}

// timeBefore reads a time of the past, with the name of its flag for the error.
func timeBefore(flag, given string, now time.Time) (time.Time, error) {
	if t, ok := history.ParsePast(given, now); ok {
		return t, nil
	}
	return time.Time{}, errors.New("--" + flag + "=" + strconv.Quote(given) + ": expected a duration such as 1h or 2d, a time in UTC such as 03:12, or 2006-01-02T15:04:05Z")
}

// render returns events in the format of the command.
func (e *eventing) render(events []*history.Event) []byte {
	var b bytes.Buffer
	for _, event := range events {
		switch {
		case e.format == "json":
			_ = json.NewEncoder(&b).Encode(event) // a buffer takes everything
		case e.verbose:
			b.WriteString(history.Text(event))
		default:
			b.WriteString(history.Line(event) + "\n")
		}
	}
	return b.Bytes()
}
