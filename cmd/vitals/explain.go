package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/alecthomas/kingpin/v2"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/client"
	"github.com/vitals-health/vitals/internal/execprobe"
	"github.com/vitals-health/vitals/internal/explain"
	"github.com/vitals-health/vitals/internal/server"
)

// onceTimeout is how long one evaluation waits for collectors, as that of vitals once.
const onceTimeout = 15 * time.Second

// explaining is the command explain.
type explaining struct {
	state   string
	options explain.Options
	past    past
	format  string
	timeout time.Duration
	// timeoutGiven is set where it is not the default.
	timeoutGiven              bool
	daemon                    client.Daemon
	socketGiven, addressGiven bool
	// fileGiven, profileGiven and changeGiven are set where a flag names a configuration
	// to evaluate, or changes one.
	fileGiven, profileGiven, changeGiven bool
	// profileFromEnv is set where the environment names a profile and no flag a
	// configuration; withoutDaemon, where that profile is evaluated for want of a daemon.
	profileFromEnv, withoutDaemon bool
}

// explainCommand declares the command explain.
func (p *program) explainCommand(app *kingpin.Application, do func(func() int) kingpin.Action) {
	cmd := app.Command("explain", "Explain the verdict of STATE: the rules that decide, each with the current value of every part of its expression, since when, and the collectors that export it. Queries the daemon; with --config.file or --profile, or with VITALS_PROFILE where no daemon answers, collects and evaluates once instead, where for counts as 0. The exit code is 0 whatever the verdict.")
	e := &explaining{}
	cmd.Arg("state", "The state to explain; ready when none is given.").Default("ready").StringVar(&e.state)
	cmd.Flag("rule", "Explain this rule, failing or not: one of the state, or an alert without a state.").PlaceHolder("NAME").StringVar(&e.options.Rule)
	cmd.Flag("all", "Explain every rule of the state.").BoolVar(&e.options.All)
	cmd.Flag("last", "Print the last failure of the state, or of --rule, as it was explained then, and what followed.").BoolVar(&e.past.last)
	cmd.Flag("at", "Print the explanation of the verdict at this time, such as 03:12 in UTC, 1h for an hour ago, or 2006-01-02T15:04:05Z.").PlaceHolder("TIME").StringVar(&e.past.at)
	cmd.Flag("since", "Print every change since this time, explained: of the state and of its rules.").PlaceHolder("TIME").StringVar(&e.past.since)
	cmd.Flag("format", "text for people, or json: the body of /api/v1/explain/STATE.").Default("text").EnumVar(&e.format, "text", "json")
	cmd.Flag("timeout", "How long to wait for the daemon. With a configuration, for collectors: then 15s when not given.").Default("5s").IsSetByUser(&e.timeoutGiven).DurationVar(&e.timeout)
	p.daemonFlags(cmd, &e.daemon)
	cmd.GetFlag("socket").IsSetByUser(&e.socketGiven)
	cmd.GetFlag("url").IsSetByUser(&e.addressGiven)
	p.configFlags(cmd)
	cmd.GetFlag("config.file").Help("Collect and evaluate this configuration once instead of querying the daemon.").IsSetByUser(&e.fileGiven)
	cmd.GetFlag("profile").Help("Collect and evaluate this shipped configuration once instead of querying the daemon: one of those that \"vitals profiles\" lists.").IsSetByUser(&e.profileGiven)
	var kuryr, set, further bool
	cmd.GetFlag("kuryr.conf").IsSetByUser(&kuryr)
	cmd.GetFlag("set").IsSetByUser(&set)
	cmd.GetFlag("rules").IsSetByUser(&further)
	cmd.Action(do(func() int {
		e.changeGiven = kuryr || set || further
		e.profileFromEnv = p.profile != "" && !e.fileGiven && !e.profileGiven
		if e.past.given() {
			return p.runExplainPast(e)
		}
		return p.runExplain(e)
	}))
}

// runExplain prints an explanation, or an error on stderr.
func (p *program) runExplain(e *explaining) int {
	body, failed := p.explanation(e)
	if e.evaluateInstead(failed) {
		e.withoutDaemon = true
		body, failed = p.explanation(e)
	}
	if failed == nil && e.format == "text" {
		body, failed = e.text(body)
	}
	if failed != nil {
		if failed.Outcome == execprobe.NoDaemon {
			failed.Text += "; --config.file=FILE or --profile=NAME evaluate without a daemon"
		}
		fmt.Fprintln(p.stderr, failed.Text)
		return execprobe.Plain.Code(*failed)
	}
	_, _ = p.stdout.Write(body) // main reports a failed write for all commands
	return exitOK
}

// text returns an explanation in JSON for people.
func (e *explaining) text(body []byte) ([]byte, *execprobe.Result) {
	x, err := explain.Read(body)
	if err != nil {
		return nil, &execprobe.Result{Outcome: execprobe.Protocol, Text: "the answer is not the daemon's: " + err.Error()}
	}
	by := ""
	if e.once() {
		by = "one evaluation, in which for counts as 0"
	}
	return []byte(explain.Text(x, e.options.All || e.options.Rule != "", by)), nil
}

// explanation returns the explanation as JSON.
func (p *program) explanation(e *explaining) ([]byte, *execprobe.Result) {
	usage := func(format string, args ...any) *execprobe.Result {
		return &execprobe.Result{Outcome: execprobe.Usage, Text: fmt.Sprintf(format, args...)}
	}
	switch {
	case e.timeout <= 0:
		return nil, usage("--timeout=%s: expected a duration above 0", e.timeout)
	case url.PathEscape(e.state) != e.state || e.state == "":
		return nil, usage("state %.32q: expected a name such as ready or alive", e.state)
	case e.socketGiven && e.addressGiven:
		return nil, usage("both --socket and --url are given: expected one of them")
	case e.once() && (e.socketGiven || e.addressGiven):
		return nil, usage("a configuration and a daemon are given: expected --config.file or --profile, or --socket or --url")
	case !e.once() && e.changeGiven:
		return nil, usage("--kuryr.conf, --set and --rules change a profile: expected --profile=NAME with them")
	case e.once():
		x, err := p.explainOnce(e)
		if err != nil {
			return nil, usage("%v", err)
		}
		return server.ExplanationJSON(x), nil
	}
	return e.daemon.Explain(e.state, e.options.Rule, e.options.All, e.timeout)
}

// once reports whether to evaluate without a daemon. A profile that only the environment
// names is evaluated where a flag changes it, and where no daemon answers: see
// evaluateInstead.
func (e *explaining) once() bool {
	return e.fileGiven || e.profileGiven || e.changeGiven && e.profileFromEnv || e.withoutDaemon
}

// evaluateInstead reports whether a profile of the environment replaces a daemon that
// does not run, as it does for the exec probe.
func (e *explaining) evaluateInstead(failed *execprobe.Result) bool {
	return failed != nil && failed.Outcome == execprobe.NoDaemon && e.profileFromEnv && !e.socketGiven && !e.addressGiven
}

// explainOnce collects and evaluates once, and explains the result.
func (p *program) explainOnce(e *explaining) (x *explain.Explanation, err error) {
	if !e.timeoutGiven {
		e.timeout = onceTimeout
	}
	_, collectErr := p.withSnapshot(e.state, e.timeout, func(ctx context.Context, eval *evaluator.Evaluator, _ *evaluator.Snapshot) {
		x, err = explain.New(eval).Explain(ctx, e.state, e.options, time.Now())
	})
	return x, errors.Join(collectErr, err)
}
