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
	"github.com/vitals-health/vitals/internal/budget"
	"github.com/vitals-health/vitals/internal/panics"
	"github.com/vitals-health/vitals/internal/redact"
	"github.com/vitals-health/vitals/internal/text"
)

// The values of missing: the effect of a script that does not exist.
const (
	missingFail   = "fail"
	missingIgnore = "ignore"
)

// Config configures the kind script: it runs an existing check or hook, and exports the result
// by its convention.
type Config struct {
	// Command is a program, by its absolute path, and its arguments. There is no
	// shell unless the program is one.
	Command []string `yaml:"command"`
	// Convention is the meaning of exit codes and output; plain by default.
	Convention string `yaml:"convention"`
	// Environment holds variables of the program, in addition to those that it inherits.
	// It overrides those.
	Environment map[string]collectors.Secret `yaml:"environment,omitempty"`
	// Inherit names the variables of Vitals that the program gets, in addition to PATH, LANG, TZ
	// and HOME.
	Inherit []string `yaml:"inherit,omitempty"`
	// Directory is the working directory; that of Vitals by default.
	Directory string `yaml:"directory,omitempty"`
	// OutputLimit is how much of the output is read, in bytes; 64KiB by default.
	OutputLimit collectors.Size `yaml:"output_limit"`
	// Missing is the effect of a program that does not exist: fail by default, or ignore.
	Missing string `yaml:"missing"`
	// ObjectLimit is how many performance data or objects one run may have; 100 by default.
	ObjectLimit int `yaml:"object_limit"`
}

// SetDefaults sets the defaults of the block before it is decoded.
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
	for i, name := range c.Inherit {
		if name == "" || strings.ContainsAny(name, "=*\x00") {
			problems = append(problems, collectors.Problem{Path: fmt.Sprintf("inherit[%d]", i), Text: "expected the name of a variable, without '=' and '*'"})
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

// External implements Kind: what a script checks is unknown, and counts as local.
func (c *Config) External() bool { return false }

// Uses implements Kind.
func (c *Config) Uses() []string { return nil }

// SecretValue implements SecretFinder: every variable may hold a secret.
func (c *Config) SecretValue(path string) (secret, decided bool) {
	return path == "environment", path == "environment"
}

// New implements Kind.
func (c *Config) New(env collectors.Env) (collectors.Collector, error) {
	command := command{args: c.Command, dir: c.Directory, env: c.environment(os.Environ()), limit: int64(c.OutputLimit), guard: env.Start, bodies: env.Bodies}
	if command.guard == nil {
		command.guard = unguarded
	}
	return &collector{name: env.Name, config: *c, command: command, secrets: c.secrets(), busy: make(chan struct{}, 1)}, nil
}

// outputFactor is what output takes for each of its bytes: the buffer while it grows, and copies
// without the secrets.
const outputFactor = 6

// minVariable is the length in bytes from which any variable may be a secret. A shorter one, such
// as a language, would match in unrelated texts.
const minVariable = 8

// plainPath matches a path, which is no secret.
var plainPath = regexp.MustCompile(`^(/[\w.-]+)+/?$`)

// secrets returns the values of arguments and variables to redact in output.
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

// redacted returns output without secrets.
func (c *collector) redacted(output []byte) []byte {
	if len(c.secrets) == 0 || len(output) == 0 {
		return output
	}
	return []byte(redact.Values(string(output), c.secrets))
}

// alwaysInherited returns the names of the variables that every program gets: to find others, and
// for its language, its time zone and its files.
func alwaysInherited() []string { return []string{"PATH", "LANG", "TZ", "HOME"} }

// environment returns the variables of Vitals that the program inherits, and the configured ones.
func (c *Config) environment(own []string) []string {
	names := slices.Concat(alwaysInherited(), c.Inherit)
	all := slices.DeleteFunc(slices.Clone(own), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		_, replaced := c.Environment[name]
		return replaced || !slices.Contains(names, name)
	})
	for _, name := range slices.Sorted(maps.Keys(c.Environment)) {
		all = append(all, name+"="+c.Environment[name].Value())
	}
	return all
}

// collector is a collector of the kind script.
type collector struct {
	name    string
	config  Config
	command command
	// secrets are redacted in the output.
	secrets []string
	// busy holds an element while the command runs, so that it never runs twice at once.
	busy chan struct{}
	// running is the goroutine of the last run, nil if its result was returned.
	running *panics.Task[run]
	// note is that of the last collection.
	note string
}

// Collect runs the command and exports the result. Every exit code is a measurement; a command
// that could not be started or did not exit is an error.
func (c *collector) Collect(ctx context.Context) ([]collectors.Sample, error) {
	run := c.run(ctx)
	v := verdict{status: unknown, err: run.err}
	if run.exited {
		v = run.verdict
	}
	if c.config.Missing == missingIgnore && reasonOf(v.err) == missing {
		v = verdict{note: fmt.Sprintf("there is no %s", c.config.Command[0])}
	}
	if c.note = v.note; v.err != nil && c.note == "" {
		c.note = text.Short(v.err.Error(), maxNote)
	}
	var b collectors.Batch
	c.addOutcome(&b, run, v)
	addPerfdata(&b, c.name, v.perfdata)
	for _, o := range v.objects {
		b.Set(objectOkMetric, collectors.Number(o.ok), c.name, v.category, o.name)
	}
	return b.Samples, v.err
}

// Note returns the message of the last run.
func (c *collector) Note() string { return c.note }

// addOutcome exports how the run ended, and its status.
func (c *collector) addOutcome(b *collectors.Batch, run run, v verdict) {
	if run.exited {
		b.Set(exitCodeMetric, float64(run.code), c.name)
	}
	if run.started {
		b.Set(signalMetric, float64(run.signal), c.name)
		b.Set(durationMetric, run.took.Seconds(), c.name)
	}
	if v.status != "" {
		for _, status := range statuses() {
			b.Set(statusMetric, collectors.Number(status == v.status), c.name, string(status))
		}
	}
	reason := reasonOf(v.err)
	for _, r := range reasons() {
		b.Set(failureMetric, collectors.Number(r == reason), c.name, string(r))
	}
}

// The part of a collector's timeout that is reserved to kill the command and to return.
const (
	minReserve = 10 * time.Millisecond
	maxReserve = 250 * time.Millisecond
)

// run runs the command in a goroutine, of which there is at most one. A process that cannot be
// killed, such as one that waits for a dead file server, blocks that goroutine; the caller
// returns at the end of ctx.
func (c *collector) run(ctx context.Context) run {
	if c.running != nil {
		select {
		case <-c.running.Done():
			c.end() // too late: dropped, unless it panicked
		default:
		}
	}
	select {
	case c.busy <- struct{}{}:
	default:
		return run{err: &collectors.Error[reason]{Reason: timeout, Err: fmt.Errorf("run %s: the process of an earlier collection was killed, and has not ended", c.config.Command[0])}}
	}
	c.running = panics.Go(func() run {
		defer func() { <-c.busy }()
		return c.within(ctx)
	})
	begin := time.Now()
	select {
	case <-c.running.Done():
		return c.end()
	case <-ctx.Done():
		return run{err: c.command.timeoutError(time.Since(begin))}
	}
}

// end returns the result of the last run, which has ended.
func (c *collector) end() run {
	ended := c.running
	c.running = nil
	return ended.Result()
}

// within runs the command until shortly before ctx ends, and interprets its output.
func (c *collector) within(ctx context.Context) run {
	if deadline, ok := ctx.Deadline(); ok {
		left := time.Until(deadline)
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, left-min(max(left/10, minReserve), maxReserve))
		defer cancel()
	}
	if ctx.Err() != nil { // a process that would be killed at once is not started
		return run{err: c.command.timeoutError(0)}
	}
	run := c.command.run(ctx)
	defer run.release()
	run.output, run.stderr = c.redacted(run.output), c.redacted(run.stderr)
	if run.exited {
		run.verdict = interpret(&c.config, run)
	}
	return run
}

// Run implements Runner: when ctx ends, it returns after a running process was killed and has
// ended, so that Vitals leaves none behind.
func (c *collector) Run(ctx context.Context, _ func()) {
	<-ctx.Done()
	timer := time.NewTimer(maxReserve)
	defer timer.Stop()
	select {
	case c.busy <- struct{}{}:
		<-c.busy
	case <-timer.C:
	}
}

// Describe implements Collector.
func (c *collector) Describe() []collectors.Desc { return collectors.Describe(defs()) }

// command is a command and how to run it.
type command struct {
	args, env []string
	dir       string
	// limit is how many bytes of the output are kept.
	limit int64
	// bodies is that of Env.
	bodies *budget.Bodies
	// guard starts a process that no other code waits for, as Env.Start does.
	guard func(start func() (*os.Process, error)) (p *os.Process, release func(), err error)
}

// unguarded is the guard if no other code waits for processes.
func unguarded(start func() (*os.Process, error)) (p *os.Process, release func(), err error) {
	p, err = start()
	return p, func() {}, err
}

// run is the result of one run of a command.
type run struct {
	// started reports whether there was a process, and exited whether it exited.
	started, exited bool
	code            int
	// signal is the number of the signal that ended it, or 0.
	signal int
	took   time.Duration
	// output and stderr are what it printed to stdout and to stderr; cut reports whether
	// stdout was larger than the limit.
	output, stderr []byte
	cut            bool
	// verdict is that of a command that exited.
	verdict verdict
	// reserved is the memory of the output.
	reserved []*budget.Reader
	// err is why it did not exit.
	err error
}

// release drops the output and returns its memory.
func (r *run) release() {
	r.output, r.stderr = nil, nil
	for _, reader := range r.reserved {
		reader.Release()
	}
	r.reserved = nil
}

// timeoutError returns the error of a command that did not end in time.
func (c *command) timeoutError(after time.Duration) error {
	return collectors.Errorf(timeout, "run %s: killed after %s, it did not exit", c.args[0], after.Round(time.Millisecond))
}
