// Package script runs a program and reads its verdict from its exit code and output.
package script

import (
	"context"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
	"github.com/vitals-health/vitals/internal/redact"
)

// What a script that does not exist means.
const (
	missingFail   = "fail"
	missingIgnore = "ignore"
)

// Config configures the kind script: a check or a hook that exists already is
// run, and what it says by its convention becomes gauges.
type Config struct {
	// Command is a program, by its absolute path, and its arguments. No shell is
	// involved unless the program is one.
	Command []string `yaml:"command"`
	// Convention is what exit codes and output mean; plain by default.
	Convention string `yaml:"convention"`
	// Environment is added to that of Vitals itself, and goes before it.
	Environment map[string]collectors.Secret `yaml:"environment,omitempty"`
	// Directory is where the program runs; that of Vitals where it is not set.
	Directory string `yaml:"directory,omitempty"`
	// OutputLimit is how much of the output is looked at, in bytes; 64KiB by default.
	OutputLimit collectors.Size `yaml:"output_limit"`
	// Missing is what it means that there is no such program: fail by default, or ignore.
	Missing string `yaml:"missing"`
	// ObjectLimit is how many performance data or objects one run may name; 100 by default.
	ObjectLimit int `yaml:"object_limit"`
}

// SetDefaults sets what the block has before it is decoded.
func (c *Config) SetDefaults() {
	c.Convention, c.Missing = conventionPlain, missingFail
	c.OutputLimit, c.ObjectLimit = 64<<10, 100
}

// Problems implements Kind.
func (c *Config) Problems() []collectors.Problem {
	var problems []collectors.Problem
	if len(c.Command) == 0 {
		problems = append(problems, collectors.Problem{Path: "command", Text: "no command: expected a program's absolute path and its arguments"})
	} else {
		problems = append(problems, remote.PathProblem("command[0]", c.Command[0])...)
	}
	for i, word := range c.Command {
		if strings.ContainsRune(word, 0) {
			problems = append(problems, collectors.Problem{Path: fmt.Sprintf("command[%d]", i), Text: "argument: expected none with a NUL"})
		}
	}
	if !slices.Contains(conventions(), c.Convention) {
		problems = append(problems, collectors.Problem{Path: "convention", Text: fmt.Sprintf("convention %q: expected one of %s", c.Convention, strings.Join(conventions(), ", "))})
	}
	for _, name := range slices.Sorted(maps.Keys(c.Environment)) {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.ContainsRune(c.Environment[name].Value(), 0) {
			problems = append(problems, collectors.Problem{Path: "environment", Text: fmt.Sprintf("variable %q: expected a name without '=', and no NUL", name)})
		}
	}
	if c.Directory != "" {
		problems = append(problems, remote.PathProblem("directory", c.Directory)...)
	}
	if c.Missing != missingFail && c.Missing != missingIgnore {
		problems = append(problems, collectors.Problem{Path: "missing", Text: fmt.Sprintf("missing %q: expected fail or ignore", c.Missing)})
	}
	if c.OutputLimit <= 0 {
		problems = append(problems, collectors.Problem{Path: "output_limit", Text: fmt.Sprintf("output_limit %s: expected more than 0B", c.OutputLimit)})
	}
	if c.ObjectLimit <= 0 {
		problems = append(problems, collectors.Problem{Path: "object_limit", Text: fmt.Sprintf("object_limit %d: expected more than 0", c.ObjectLimit)})
	}
	return problems
}

// External implements Kind: what a script looks at is its own matter, and taken for local.
func (c *Config) External() bool { return false }

// Uses implements Kind.
func (c *Config) Uses() []string { return nil }

// SecretValue implements SecretFinder: variables may hold secrets, whatever their names.
func (c *Config) SecretValue(path string) (secret, decided bool) {
	return path == "environment", path == "environment"
}

// New implements Kind.
func (c *Config) New(env collectors.Env) (collectors.Collector, error) {
	command := command{args: c.Command, dir: c.Directory, env: c.environment(os.Environ()), limit: int64(c.OutputLimit), guard: env.Start}
	if command.guard == nil {
		command.guard = unguarded
	}
	return &collector{name: env.Name, config: *c, command: command, secrets: c.secrets(), busy: make(chan struct{}, 1)}, nil
}

// minVariable is the length in bytes from which any variable may be a secret. A shorter
// one, such as a language, would be found in texts that have nothing to do with it.
const minVariable = 8

// plainPath is a value that says where something is.
var plainPath = regexp.MustCompile(`^(/[\w.-]+)+/?$`)

// secrets are values of arguments and variables that the script may print.
func (c *Config) secrets() []string {
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
func (s *collector) redacted(output []byte) []byte {
	if len(s.secrets) == 0 || len(output) == 0 {
		return output
	}
	return []byte(redact.Values(string(output), s.secrets))
}

// environment is the inherited one with what the configuration adds to it.
func (c *Config) environment(inherited []string) []string {
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

// collector is the collector of the kind collector.
type collector struct {
	name    string
	config  Config
	command command
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
func (s *collector) Collect(ctx context.Context) ([]collectors.Sample, error) {
	run := s.run(ctx)
	run.output, run.complaints = s.redacted(run.output), s.redacted(run.complaints)
	said := verdict{status: unknown, err: run.err}
	if run.exited {
		said = judgeScript(&s.config, run)
	}
	if s.config.Missing == missingIgnore && reasonOfScript(said.err) == missing {
		said = verdict{note: fmt.Sprintf("there is no %s", s.config.Command[0])}
	}
	if s.note = said.note; said.err != nil && s.note == "" {
		s.note = collectors.OneLine(said.err.Error(), maxScriptNote)
	}
	var b collectors.Batch
	s.outcome(&b, run, said)
	addPerfdata(&b, s.name, said.perfdata)
	for _, o := range said.objects {
		b.Set(objectOkMetric, collectors.Number(o.ok), s.name, said.category, o.name)
	}
	return b.Samples, said.err
}

// Note says what the script said last.
func (s *collector) Note() string { return s.note }

// outcome exports how the run ended and what that means.
func (s *collector) outcome(b *collectors.Batch, run run, said verdict) {
	if run.exited {
		b.Set(exitCodeMetric, float64(run.code), s.name)
	}
	if run.started {
		b.Set(signalMetric, float64(run.signal), s.name)
		b.Set(durationMetric, run.took.Seconds(), s.name)
	}
	if said.status != "" {
		for _, status := range statuses() {
			b.Set(statusMetric, collectors.Number(status == said.status), s.name, string(status))
		}
	}
	reason := reasonOfScript(said.err)
	for _, r := range reasons() {
		b.Set(failureMetric, collectors.Number(r == reason), s.name, string(r))
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
func (s *collector) run(ctx context.Context) run {
	select {
	case s.busy <- struct{}{}:
	default:
		return run{err: &collectors.Error[reason]{Reason: timeout, Err: fmt.Errorf("run %s: the process of an earlier round was killed, and has not ended", s.config.Command[0])}}
	}
	answer := make(chan run, 1)
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
		return run{err: s.command.late(time.Since(begin))}
	}
}

// within runs the command until shortly before ctx ends.
func (s *collector) within(ctx context.Context) run {
	if deadline, ok := ctx.Deadline(); ok {
		left := time.Until(deadline)
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, left-min(max(left/10, minScriptReserve), maxScriptReserve))
		defer cancel()
	}
	if ctx.Err() != nil { // a process that would be killed at once is not started
		return run{err: s.command.late(0)}
	}
	return s.command.run(ctx)
}

// Run implements Runner: it keeps nothing open, but does not return before a process
// that runs when ctx ends is killed and gone, so that Vitals leaves none behind.
func (s *collector) Run(ctx context.Context, _ func()) {
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
func (s *collector) Describe() []collectors.Desc { return collectors.Describe(defs()) }

// command is what to run, and how.
type command struct {
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

// run is how one run of a command ended.
type run struct {
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
func (c *command) late(after time.Duration) error {
	return collectors.Errorf(timeout, "run %s: killed after %s, it did not end by itself", c.args[0], after.Round(time.Millisecond))
}
