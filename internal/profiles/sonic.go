package profiles

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
	"github.com/vitals-health/vitals/internal/config"
)

// sonicChoices are variables of the profile sonic. An empty path selects the profile's
// default, which need not exist.
type sonicChoices struct {
	criticalProcesses, watchdogProcesses string
	// heartbeat is the maximum time between two heartbeats of a program; 0 expects none.
	heartbeat model.Duration
}

// defaultWatchdogProcesses is the file in which SONiC lists the programs that send
// heartbeats.
const defaultWatchdogProcesses = "/etc/supervisor/watchdog_processes"

// adjustSonic applies --set and SONiC's files to the profile sonic.
func adjustSonic(o *Options, from *config.Sources, c *config.Config) []error {
	parts := sonicParts(c)
	choices := sonicChoices{heartbeat: parts.components.Deadline}
	errs := o.setVariables(c,
		choiceVariable("auto_restart", "enabled", "disabled", func() { replaceRules(c, "sonic-alive", "sonic-no-restart", "sonic-critical-shown") }),
		pathVariable("critical_processes", &choices.criticalProcesses),
		choiceVariable("critical_programs", "obey", "show", func() {
			replaceRules(c, "sonic-alive", "sonic-critical-shown")
			replaceRules(c, "sonic-no-restart")
		}),
		durationVariable("heartbeat", &choices.heartbeat),
		pathVariable("hook", &parts.hook.Command[0]),
		choiceVariable("hook_not_executable", "ignore", "fail", func() { replaceRules(c, "sonic-hook-skipped", "sonic-hook-refused") }),
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

func sonicParts(c *config.Config) sonicKinds {
	var parts sonicKinds
	eachKind(c, func(k *kinds.Kinds) {
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

// useCriticalProcesses sets the file that lists critical programs. The default file need
// not exist: a rule warns then. A file that --set names has to exist.
func useCriticalProcesses(from *config.Sources, parts sonicKinds, path string) {
	if path != "" {
		parts.supervisor.CriticalFile, parts.critical.Path = path, path
		return
	}
	if _, err := os.Stat(parts.supervisor.CriticalFile); err != nil && os.IsNotExist(err) {
		_, _ = from.Read(parts.supervisor.CriticalFile) // recorded as a source: its creation changes the configuration
		parts.supervisor.CriticalFile = ""
	}
}

// useHeartbeats expects heartbeats of the programs in SONiC's file, which most containers
// do not have. The supervisor collector reports whether the programs run: no heartbeat is
// expected of one that does not run.
func useHeartbeats(from *config.Sources, parts sonicKinds, choices sonicChoices) []error {
	c := parts.components
	c.Deadline = choices.heartbeat
	if choices.heartbeat == 0 {
		return nil
	}
	path := choices.watchdogProcesses
	if path == "" {
		path = defaultWatchdogProcesses
	}
	data, err := from.Read(path)
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

// parseWatchdogProcesses parses SONiC's list of programs with heartbeats: one in each line,
// as in program:orchagent. Blank lines are ignored. Each error has its line.
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
	return variable{name, func(_ *config.Config, value string) error {
		*path = value
		return nil
	}}
}

// durationVariable sets a duration, as in 60s; 0 is one, too.
func durationVariable(name string, d *model.Duration) variable {
	return variable{name, func(_ *config.Config, value string) error {
		parsed, err := model.ParseDuration(value)
		if err != nil {
			return fmt.Errorf("expected a duration such as 60s, or 0 for none")
		}
		*d = parsed
		return nil
	}}
}

// choiceVariable accepts one of two words: the profile's default, or the other one, which
// calls change.
func choiceVariable(name, own, other string, change func()) variable {
	return variable{name, func(_ *config.Config, value string) error {
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

// replaceRules replaces a shipped rule file, if it is there, by others.
func replaceRules(c *config.Config, before string, after ...string) {
	for i := range after {
		after[i] = config.BuiltinPrefix + after[i]
	}
	if i := slices.Index(c.RuleFiles, config.BuiltinPrefix+before); i >= 0 {
		c.RuleFiles = slices.Replace(c.RuleFiles, i, i+1, after...)
	}
}
