package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kingpin/v2"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/client"
	"github.com/vitals-health/vitals/internal/completion"
	"github.com/vitals-health/vitals/internal/config"
	"github.com/vitals-health/vitals/internal/listen"
	"github.com/vitals-health/vitals/internal/profiles"
	"github.com/vitals-health/vitals/internal/text"
)

// completionFlag is the flag, of the flag parser, with which scripts get candidates.
const completionFlag = "--completion-bash"

// completionTimeout bounds how long a key press waits for the daemon.
const completionTimeout = 500 * time.Millisecond

// maxCandidate bounds a candidate, in bytes. Longer names are not offered.
const maxCandidate = 200

// completionCommand declares the command completion.
func (p *program) completionCommand(app *kingpin.Application, do func(func() int) kingpin.Action) {
	cmd := app.Command("completion", "Print the script with which a shell completes commands, flags, states, profiles and the names of rules. To load it: source <(vitals completion bash), or vitals completion fish | source.")
	shell := cmd.Arg("shell", "bash, zsh or fish.").Required().Enum(completion.Shells()...)
	cmd.Action(do(func() int {
		_, _ = p.stdout.Write([]byte(completion.Script(*shell))) // main reports a failed write for all commands
		return exitOK
	}))
}

// completing returns the arguments of a script in the form that the flag parser completes: it has
// no candidates for --flag=value, but for --flag value.
func completing(args []string) []string {
	if len(args) == 0 || args[0] != completionFlag {
		return args
	}
	if len(args) == 2 && !strings.HasPrefix(args[1], "-") {
		return args[:1] // the beginning of a command, which would count as an argument of run
	}
	var all []string
	for _, arg := range args {
		if flag, value, ok := strings.Cut(arg, "="); ok && strings.HasPrefix(flag, "--") {
			all = append(all, flag, value)
		} else {
			all = append(all, arg)
		}
	}
	return all
}

// hints declares what completes the names of states, rules and profiles. All commands must be
// declared.
func (p *program) hints(app *kingpin.Application) {
	noOthers(app, app.Model().Commands)
	for _, name := range []string{"run", "once", "explain", "check config", "check rules", "check collectors", "generate rbac", "generate rules"} {
		cmd := commandOf(app, name)
		cmd.GetFlag("profile").HintAction(profileNames)
		cmd.GetFlag("rules").HintAction(config.ShippedRules)
	}
	for _, name := range []string{"once", "wait", "explain", "maintenance"} {
		commandOf(app, name).GetArg("state").HintAction(p.stateNames)
	}
	for _, name := range []string{"events", "silence"} {
		commandOf(app, name).GetFlag("state").HintAction(p.stateNames)
	}
	for _, name := range []string{"explain", "events"} {
		commandOf(app, name).GetFlag("rule").HintAction(p.ruleNames)
	}
	commandOf(app, "silence").GetArg("rule").HintAction(p.ruleNames)
	commandOf(app, "maintenance").GetArg("switch").HintOptions("on", "off")
	commandOf(app, "check rules").GetArg("file").HintAction(config.ShippedRules)
	commandOf(app, "completion").GetArg("shell").HintAction(completion.Shells)
	commandOf(app, "profiles show").GetArg("name").HintAction(profileNames)
	commandOf(app, "generate dashboards").GetFlag("rules").HintAction(config.ShippedRules)
	commandOf(app, "generate alerts").GetFlag("rules").HintAction(config.ShippedRules)
}

// noOthers gives each flag with a value an empty candidate, which scripts ignore. The flag parser
// would complete the arguments of the command in place of a value without candidates.
func noOthers(app *kingpin.Application, commands []*kingpin.CmdModel) {
	for _, c := range commands {
		noOthers(app, c.Commands)
		cmd := commandOf(app, c.FullCommand)
		for _, f := range c.Flags {
			// The parser does not export that a value is one of a list, which it completes itself.
			if !f.IsBoolFlag() && fmt.Sprintf("%T", f.Value) != "*kingpin.enumValue" {
				cmd.GetFlag(f.Name).HintOptions("\n")
			}
		}
	}
}

// commandOf returns the command with these words.
func commandOf(app *kingpin.Application, words string) *kingpin.CmdClause {
	get := app.GetCommand
	var cmd *kingpin.CmdClause
	for word := range strings.FieldsSeq(words) {
		cmd = get(word)
		get = cmd.GetCommand
	}
	return cmd
}

// profileNames are the names of the shipped configurations.
func profileNames() []string {
	var names []string
	for _, pr := range profiles.All() {
		names = append(names, pr.Name)
	}
	return names
}

// stateNames completes a state: those that always exist, where no others can be found.
func (p *program) stateNames() []string {
	if states, _ := p.names(); len(states) > 0 {
		return states
	}
	return []string{evaluator.Alive, evaluator.Ready, evaluator.Started}
}

// ruleNames completes a rule.
func (p *program) ruleNames() []string {
	_, rules := p.names()
	return rules
}

// names returns the states and rules of the configuration on the command line or, without one,
// of the daemon. A mistake makes no candidates: the command itself reports it.
func (p *program) names() (states, rules []string) {
	if p.configFile == "" && p.profile == "" {
		d := p.daemon()
		if states, rules, err := d.Names(completionTimeout); err == nil {
			return offered(states), offered(rules)
		}
		p.environment(os.Environ())
	}
	l, errs := p.load()
	if len(errs) > 0 {
		return nil, nil
	}
	for _, f := range l.Rules {
		for _, g := range f.Groups {
			for _, r := range g.Rules {
				rules = append(rules, r.Alert)
			}
		}
	}
	slices.Sort(rules)
	return offered(l.Config.StateNames()), offered(slices.Compact(rules))
}

// daemon is the one that the words on the command line choose, as completing leaves them.
func (p *program) daemon() client.Daemon {
	d := client.Daemon{Socket: listen.DefaultSocket}
	for i, word := range p.arguments[:len(p.arguments)-1] {
		switch word {
		case "--socket":
			d.Socket = p.arguments[i+1]
		case "--url":
			d.Address = p.arguments[i+1]
		}
	}
	setOthers(&d)
	return d
}

// offered returns the names that fit on a command line.
func offered(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return name == "" || text.Line(name, maxCandidate) != name
	})
}
