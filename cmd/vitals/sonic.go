package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/collectors/components"
	"github.com/vitals-health/vitals/collectors/file"
	"github.com/vitals-health/vitals/collectors/kinds"
	"github.com/vitals-health/vitals/collectors/script"
	"github.com/vitals-health/vitals/collectors/supervisor"
)

// sonicChoices are what --set says to the profile sonic beside the places of things. An
// empty path is the profile's own, which need not be there.
type sonicChoices struct {
	criticalProcesses, watchdogProcesses string
	// heartbeat is the longest silence of a program that sends heartbeats; 0 asks for none.
	heartbeat model.Duration
}

// defaultWatchdogProcesses is where SONiC names the programs that send heartbeats.
const defaultWatchdogProcesses = "/etc/supervisor/watchdog_processes"

// adjustSonic applies --set and SONiC's files to the profile sonic.
func adjustSonic(p *program, from *sources, c *Config) []error {
	parts := sonicParts(c)
	choices := sonicChoices{heartbeat: parts.components.Deadline}
	errs := p.setVariables(c,
		choiceVariable("auto_restart", "enabled", "disabled", func() { c.replaceRules("sonic-alive", "sonic-no-restart") }),
		pathVariable("critical_processes", &choices.criticalProcesses),
		durationVariable("heartbeat", &choices.heartbeat),
		pathVariable("hook", &parts.hook.Command[0]),
		choiceVariable("hook_not_executable", "ignore", "fail", func() { c.replaceRules("sonic-hook-skipped", "sonic-hook-refused") }),
		pathVariable("socket", &parts.supervisor.Socket),
		pathVariable("watchdog_processes", &choices.watchdogProcesses),
	)
	useCriticalProcesses(from, parts, choices.criticalProcesses)
	return append(errs, useHeartbeats(from, parts, choices)...)
}

// sonicKinds are the collectors of the profile.
type sonicKinds struct {
	supervisor *supervisor.Config
	critical   *file.Config
	hook       *script.Config
	components *components.Config
}

func sonicParts(c *Config) sonicKinds {
	var parts sonicKinds
	c.eachKind(func(k *kinds.Kinds) {
		switch {
		case k.Supervisor != nil:
			parts.supervisor = k.Supervisor
		case k.File != nil:
			parts.critical = k.File
		case k.Script != nil:
			parts.hook = k.Script
		case k.Components != nil:
			parts.components = k.Components
		}
	})
	return parts
}

// useCriticalProcesses says where critical programs are named. The file of the profile
// need not be there: a rule warns then. One that is asked for has to be.
func useCriticalProcesses(from *sources, parts sonicKinds, path string) {
	if path != "" {
		parts.supervisor.CriticalFile, parts.critical.Path = path, path
		return
	}
	if _, err := os.Stat(parts.supervisor.CriticalFile); err != nil && os.IsNotExist(err) {
		_, _ = from.read(parts.supervisor.CriticalFile) // once it is there, this configuration is another one
		parts.supervisor.CriticalFile = ""
	}
}

// useHeartbeats expects heartbeats of the programs that SONiC's file names, which most
// containers do not have. supervisord is asked whether they run: otherwise none is missed.
func useHeartbeats(from *sources, parts sonicKinds, choices sonicChoices) []error {
	c := parts.components
	c.Deadline = choices.heartbeat
	if choices.heartbeat == 0 {
		return nil
	}
	path := choices.watchdogProcesses
	if path == "" {
		path = defaultWatchdogProcesses
	}
	data, err := from.read(path)
	if err != nil {
		if _, missing := os.Stat(path); choices.watchdogProcesses == "" && os.IsNotExist(missing) {
			return nil
		}
		return []error{fmt.Errorf("%s: %w", path, err)}
	}
	var errs []error
	c.Expect, errs = parseWatchdogProcesses(path, string(data))
	parts.supervisor.Programs = append(parts.supervisor.Programs, c.Expect...)
	return errs
}

// parseWatchdogProcesses reads a file of SONiC's that names programs with heartbeats, one
// in each line, as in program:orchagent. Blank lines are fine. Each mistake has its place.
func parseWatchdogProcesses(path, text string) (programs []string, errs []error) {
	number := 0
	for line := range strings.Lines(text) {
		number++
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		key, name, _ := strings.Cut(line, ":")
		component := components.Config{Expect: []string{name}}
		switch problems := component.Problems(); {
		case key != "program" || name == "" || strings.Contains(name, ":"):
			errs = append(errs, fmt.Errorf("%s:%d: %.64q: expected program:NAME", path, number, line))
		case len(problems) > 0:
			errs = append(errs, fmt.Errorf("%s:%d: %s", path, number, problems[0].Text))
		case slices.Contains(programs, name):
			errs = append(errs, fmt.Errorf("%s:%d: program %.64q: expected each once", path, number, name))
		default:
			programs = append(programs, name)
		}
	}
	return programs, errs
}

// pathVariable sets a path.
func pathVariable(name string, path *string) variable {
	return variable{name, func(_ *Config, value string) error {
		*path = value
		return nil
	}}
}

// durationVariable sets a duration, as in 60s; 0 is one, too.
func durationVariable(name string, d *model.Duration) variable {
	return variable{name, func(_ *Config, value string) error {
		parsed, err := model.ParseDuration(value)
		if err != nil {
			return fmt.Errorf("expected a duration such as 60s, or 0 for none")
		}
		*d = parsed
		return nil
	}}
}

// choiceVariable takes one of two words: that of the profile, or the other one, which
// changes it.
func choiceVariable(name, own, other string, change func()) variable {
	return variable{name, func(_ *Config, value string) error {
		switch value {
		case own:
		case other:
			change()
		default:
			return fmt.Errorf("expected %s or %s", own, other)
		}
		return nil
	}}
}

// replaceRules takes one shipped rule file in the place of another.
func (c *Config) replaceRules(before, after string) {
	for i, name := range c.RuleFiles {
		if name == builtinPrefix+before {
			c.RuleFiles[i] = builtinPrefix + after
		}
	}
}
