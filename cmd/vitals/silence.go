package main

import (
	"fmt"

	"github.com/alecthomas/kingpin/v2"

	"github.com/vitals-health/vitals/internal/client"
	"github.com/vitals-health/vitals/internal/execprobe"
)

// silenceCommands declares the commands silence and maintenance.
func (p *program) silenceCommands(app *kingpin.Application, do func(func() int) kingpin.Action) {
	s := &client.Overriding{}
	cmd := app.Command("silence", "Silence RULE for a time: it is evaluated, shown and exported, and its state does not obey it until the silence ends by itself. Without RULE, list the silences. It stays over a reload, and replaces a silence of the same rule.")
	cmd.Arg("rule", "The rule to silence; all rules of this name.").StringVar(&s.Name)
	cmd.Flag("for", "How long, such as 30m, 2h or 1d; at most 30d.").Default("1h").StringVar(&s.For)
	cmd.Flag("state", "Silence only the rule of this state, where several have the name.").PlaceHolder("NAME").StringVar(&s.State)
	cmd.Flag("remove", "End the silence now.").BoolVar(&s.End)
	p.overridingFlags(cmd, s)
	cmd.Action(do(func() int {
		if s.Name == "" && (s.End || s.State != "" || s.Reason != "") {
			return p.failed(&execprobe.Result{Outcome: execprobe.Usage, Text: "expected the name of a rule; without flags, vitals silence lists the silences"})
		}
		return p.override(s)
	}))

	m := &client.Overriding{Maintenance: true}
	var state, turn string
	cmd = app.Command("maintenance", "Drain by hand: with \"on\", STATE fails with the reason \"maintenance\" until \"off\" or the end of --for. STATE is ready when none is given; alive and started are refused, because their probes restart the container. Without arguments, list the states under maintenance.")
	cmd.Arg("state", "The state; ready when only on or off is given.").StringVar(&state)
	cmd.Arg("switch", "on or off.").StringVar(&turn)
	cmd.Flag("for", "How long, such as 30m, 2h or 1d; at most 30d. Without it, until off.").PlaceHolder("TIME").StringVar(&m.For)
	p.overridingFlags(cmd, m)
	cmd.Action(do(func() int {
		if turn == "" && (state == "on" || state == "off") {
			state, turn = "ready", state
		}
		if turn != "on" && turn != "off" && state != "" {
			return p.failed(&execprobe.Result{Outcome: execprobe.Usage, Text: "expected on or off, such as: vitals maintenance ready on --for=30m"})
		}
		m.Name, m.End = state, turn == "off"
		return p.override(m)
	}))
}

// overridingFlags declares the flags that both commands have.
func (p *program) overridingFlags(cmd *kingpin.CmdClause, o *client.Overriding) {
	cmd.Flag("reason", "Why: one line of at most 200 bytes, for whoever looks next.").PlaceHolder("TEXT").StringVar(&o.Reason)
	cmd.Flag("timeout", "How long to wait for the daemon.").Default("5s").DurationVar(&o.Timeout)
	p.daemonFlags(cmd, &o.Daemon)
	cmd.Flag("token-file", "With --url: the file with server.operator_token of the daemon.").PlaceHolder("FILE").StringVar(&o.TokenFile)
	var format string
	cmd.Flag("format", "text for people, or json: the daemon's answer.").Default("text").EnumVar(&format, "text", "json")
	cmd.PreAction(func(*kingpin.ParseContext) error { o.JSON = format == "json"; return nil })
}

// override sends the request of a command and prints the answer.
func (p *program) override(o *client.Overriding) int {
	shown, failed := o.Run()
	if failed == nil {
		_, _ = fmt.Fprint(p.stdout, shown) // main reports a failed write for all commands
	}
	return p.failed(failed)
}
