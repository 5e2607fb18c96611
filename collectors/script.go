package collectors

import (
	"context"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/vitals-health/vitals/internal/redact"
)

// What a script that does not exist means.
const (
	scriptMissingFail   = "fail"
	scriptMissingIgnore = "ignore"
)

// ScriptConfig configures the kind script: a check or a hook that exists already is
// run, and what it says by its convention becomes gauges.
type ScriptConfig struct {
	// Command is a program, by its absolute path, and its arguments. No shell is
	// involved unless the program is one.
	Command []string `yaml:"command"`
	// Convention is what exit codes and output mean; plain by default.
	Convention string `yaml:"convention"`
	// Environment is added to that of Vitals itself, and goes before it.
	Environment map[string]Secret `yaml:"environment,omitempty"`
	// Directory is where the program runs; that of Vitals where it is not set.
	Directory string `yaml:"directory,omitempty"`
	// OutputLimit is how much of the output is looked at, in bytes; 64KiB by default.
	OutputLimit Size `yaml:"output_limit"`
	// Missing is what it means that there is no such program: fail by default, or ignore.
	Missing string `yaml:"missing"`
	// ObjectLimit is how many performance data or objects one run may name; 100 by default.
	ObjectLimit int `yaml:"object_limit"`
}

// SetDefaults sets what the block has before it is decoded.
func (c *ScriptConfig) SetDefaults() {
	c.Convention, c.Missing = conventionPlain, scriptMissingFail
	c.OutputLimit, c.ObjectLimit = 64<<10, 100
}

// Problems implements Kind.
func (c *ScriptConfig) Problems() []Problem {
	var problems []Problem
	if len(c.Command) == 0 {
		problems = append(problems, Problem{"command", "no command: expected a program's absolute path and its arguments"})
	} else {
		problems = append(problems, pathProblem("command[0]", c.Command[0])...)
	}
	for i, word := range c.Command {
		if strings.ContainsRune(word, 0) {
			problems = append(problems, Problem{fmt.Sprintf("command[%d]", i), "argument: expected none with a NUL"})
		}
	}
	if !slices.Contains(scriptConventions(), c.Convention) {
		problems = append(problems, Problem{"convention", fmt.Sprintf("convention %q: expected one of %s", c.Convention, strings.Join(scriptConventions(), ", "))})
	}
	for _, name := range slices.Sorted(maps.Keys(c.Environment)) {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.ContainsRune(c.Environment[name].Value(), 0) {
			problems = append(problems, Problem{"environment", fmt.Sprintf("variable %q: expected a name without '=', and no NUL", name)})
		}
	}
	if c.Directory != "" {
		problems = append(problems, pathProblem("directory", c.Directory)...)
	}
	if c.Missing != scriptMissingFail && c.Missing != scriptMissingIgnore {
		problems = append(problems, Problem{"missing", fmt.Sprintf("missing %q: expected fail or ignore", c.Missing)})
	}
	if c.OutputLimit <= 0 {
		problems = append(problems, Problem{"output_limit", fmt.Sprintf("output_limit %s: expected more than 0B", c.OutputLimit)})
	}
	if c.ObjectLimit <= 0 {
		problems = append(problems, Problem{"object_limit", fmt.Sprintf("object_limit %d: expected more than 0", c.ObjectLimit)})
	}
	return problems
}

// External implements Kind: what a script looks at is its own matter, and taken for local.
func (c *ScriptConfig) External() bool { return false }

// Uses implements Kind.
func (c *ScriptConfig) Uses() []string { return nil }

// SecretValue implements SecretFinder: variables may hold secrets, whatever their names.
func (c *ScriptConfig) SecretValue(path string) (secret, decided bool) {
	return path == "environment", path == "environment"
}

// New implements Kind.
func (c *ScriptConfig) New(env Env) (Collector, error) {
	command := scriptCommand{args: c.Command, dir: c.Directory, env: c.environment(os.Environ()), limit: int64(c.OutputLimit), guard: env.Start}
	if command.guard == nil {
		command.guard = unguarded
	}
	return &script{name: env.Name, config: *c, command: command, secrets: c.secrets(), busy: make(chan struct{}, 1)}, nil
}

// minVariable is the length in bytes from which any variable may be a secret. A shorter
// one, such as a language, would be found in texts that have nothing to do with it.
const minVariable = 8

// plainPath is a value that says where something is.
var plainPath = regexp.MustCompile(`^(/[\w.-]+)+/?$`)

// secrets are values of arguments and variables that the script may print.
func (c *ScriptConfig) secrets() []string {
	secrets := redact.Secrets(c.Command...)
	for _, name := range slices.Sorted(maps.Keys(c.Environment)) {
		value := c.Environment[name].Value()
		secrets = append(secrets, redact.Secrets(name+"="+value)...)
		if len(value) >= minVariable && !plainPath.MatchString(value) {
			secrets = append(secrets, value)
		}
	}
	return secrets
}

// redacted is output without secrets.
func (s *script) redacted(output []byte) []byte {
	if len(s.secrets) == 0 || len(output) == 0 {
		return output
	}
	return []byte(redact.Values(string(output), s.secrets))
}

// environment is the inherited one with what the configuration adds to it.
func (c *ScriptConfig) environment(inherited []string) []string {
	all := slices.DeleteFunc(slices.Clone(inherited), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		_, replaced := c.Environment[name]
		return replaced
	})
	for _, name := range slices.Sorted(maps.Keys(c.Environment)) {
		all = append(all, name+"="+c.Environment[name].Value())
	}
	return all
}

// script is the collector of the kind script.
type script struct {
	name    string
	config  ScriptConfig
	command scriptCommand
	// secrets are what the command must not show.
	secrets []string
	// busy holds an element while the command runs: it never runs twice at once.
	busy chan struct{}
	// note is what there is to say of the last round.
	note string
}

// Collect runs the command and exports what it says. An exit code is a measurement,
// whatever it is; that the command could not be run, or did not end by itself, is an
// error.
func (s *script) Collect(ctx context.Context) ([]Sample, error) {
	run := s.run(ctx)
	run.output, run.complaints = s.redacted(run.output), s.redacted(run.complaints)
	said := scriptVerdict{status: scriptUnknown, err: run.err}
	if run.exited {
		said = judgeScript(&s.config, run)
	}
	if s.config.Missing == scriptMissingIgnore && reasonOfScript(said.err) == scriptMissing {
		said = scriptVerdict{note: fmt.Sprintf("there is no %s", s.config.Command[0])}
	}
	if s.note = said.note; said.err != nil && s.note == "" {
		s.note = oneLine(said.err.Error(), maxScriptNote)
	}
	var b batch
	s.outcome(&b, run, said)
	addPerfdata(&b, s.name, said.perfdata)
	for _, o := range said.objects {
		b.set(scriptObjectOkMetric, number(o.ok), s.name, said.category, o.name)
	}
	return b.samples, said.err
}

// Note says what the script said last.
func (s *script) Note() string { return s.note }

// outcome exports how the run ended and what that means.
func (s *script) outcome(b *batch, run scriptRun, said scriptVerdict) {
	if run.exited {
		b.set(scriptExitCodeMetric, float64(run.code), s.name)
	}
	if run.started {
		b.set(scriptSignalMetric, float64(run.signal), s.name)
		b.set(scriptDurationMetric, run.took.Seconds(), s.name)
	}
	if said.status != "" {
		for _, status := range scriptStatuses() {
			b.set(scriptStatusMetric, number(status == said.status), s.name, string(status))
		}
	}
	reason := reasonOfScript(said.err)
	for _, r := range scriptReasons() {
		b.set(scriptFailureMetric, number(r == reason), s.name, string(r))
	}
}

// What is kept of a collector's time to end its command, and to deliver what is known.
const (
	minScriptReserve = 10 * time.Millisecond
	maxScriptReserve = 250 * time.Millisecond
)

// run runs the command in a goroutine of its own, of which there is never more than
// one: a process that cannot be killed, such as one that waits for a dead file server,
// holds that, and not its caller beyond ctx.
func (s *script) run(ctx context.Context) scriptRun {
	select {
	case s.busy <- struct{}{}:
	default:
		return scriptRun{err: &scriptError{scriptTimeout, fmt.Errorf("run %s: the process of an earlier round was killed, and has not ended", s.config.Command[0])}}
	}
	answer := make(chan scriptRun, 1)
	go func() {
		run := s.within(ctx)
		<-s.busy
		answer <- run
	}()
	begin := time.Now()
	select {
	case run := <-answer:
		return run
	case <-ctx.Done():
		return scriptRun{err: s.command.late(time.Since(begin))}
	}
}

// within runs the command until shortly before ctx ends.
func (s *script) within(ctx context.Context) scriptRun {
	if deadline, ok := ctx.Deadline(); ok {
		left := time.Until(deadline)
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, left-min(max(left/10, minScriptReserve), maxScriptReserve))
		defer cancel()
	}
	if ctx.Err() != nil { // a process that would be killed at once is not started
		return scriptRun{err: s.command.late(0)}
	}
	return s.command.run(ctx)
}

// Run implements Runner: it keeps nothing open, but does not return before a process
// that runs when ctx ends is killed and gone, so that Vitals leaves none behind.
func (s *script) Run(ctx context.Context, _ func()) {
	<-ctx.Done()
	timer := time.NewTimer(maxScriptReserve)
	defer timer.Stop()
	select {
	case s.busy <- struct{}{}:
		<-s.busy
	case <-timer.C:
	}
}

// Describe implements Collector.
func (s *script) Describe() []Desc { return describe(scriptDefs()) }

// scriptCommand is what to run, and how.
type scriptCommand struct {
	args, env []string
	dir       string
	// limit is how many bytes of the output are kept.
	limit int64
	// guard starts a process that nobody else waits for, as Env.Start does.
	guard func(start func() (*os.Process, error)) (p *os.Process, release func(), err error)
}

// unguarded is the guard where nobody else waits for any process.
func unguarded(start func() (*os.Process, error)) (p *os.Process, release func(), err error) {
	p, err = start()
	return p, func() {}, err
}

// scriptRun is how one run of a command ended.
type scriptRun struct {
	// started is whether there was a process, and exited whether it ended by itself.
	started, exited bool
	code            int
	// signal is the number of the signal that ended it; 0 is none.
	signal int
	took   time.Duration
	// output and complaints are what it printed to stdout and to stderr, and cut is
	// whether it was more than the limit to stdout.
	output, complaints []byte
	cut                bool
	// err is why it did not exit by itself.
	err error
}

// late is the error of a command that did not end in time.
func (c *scriptCommand) late(after time.Duration) error {
	return &scriptError{scriptTimeout, fmt.Errorf("run %s: killed after %s, it did not end by itself", c.args[0], after.Round(time.Millisecond))}
}
