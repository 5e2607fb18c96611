// Package process measures processes of this host and their sockets.
package process

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/internal/text"
)

// Config configures the kind process: processes and their sockets.
type Config struct {
	Selector `yaml:",inline"`
	Sockets  `yaml:",inline"`
}

// UnmarshalYAML decodes the keys as Selector does.
func (c *Config) UnmarshalYAML(unmarshal func(any) error) error {
	type Plain Selector // without its UnmarshalYAML
	plain := struct {
		Plain   `yaml:",inline"`
		Sockets `yaml:",inline"`
	}{Plain(c.Selector), c.Sockets}
	if err := unmarshal(&plain); err != nil {
		return err
	}
	c.Selector, c.Sockets = Selector(plain.Plain), plain.Sockets
	return refuseEmpty(unmarshal)
}

// Problems implements Kind.
func (c *Config) Problems() []collectors.Problem {
	return append(c.Selector.Problems(""), c.Sockets.problems()...)
}

// External implements Kind: processes are on this host.
func (c *Config) External() bool { return false }

// Uses implements Kind.
func (c *Config) Uses() []string { return nil }

// New implements Kind.
func (c *Config) New(env collectors.Env) (collectors.Collector, error) {
	return &collector{name: env.Name, selector: c.Selector, sockets: c.Sockets}, nil
}

type collector struct {
	name     string
	selector Selector
	sockets  Sockets

	// note is the summary of the last collection.
	note string
	// pid and start identify the oldest process of the last collection with one; pid is 0
	// before the first.
	pid      int
	start    uint64
	restarts float64
}

// Collect finds the processes and measures them.
func (c *collector) Collect(ctx context.Context) ([]collectors.Sample, error) {
	var b collectors.Batch
	c.note = ""
	found, err := c.selector.find(ctx)
	if err == nil {
		err = errors.Join(c.measure(ctx, &b, found)...)
	} else if reason := ReasonOf(err); reason == Gone || reason == pidFile {
		b.Set(upMetric, 0, c.name)
		b.Set(instancesMetric, 0, c.name)
	}
	b.Set(restartsMetric, c.restarts, c.name)
	AddFailure(&b, c.name, ReasonOf(err))
	switch {
	case err == nil || c.note != "":
	case c.sockets.named():
		c.note = c.sockets.missed(err)
	default:
		c.note = text.Clip(err.Error(), collectors.MaxNote)
	}
	return b.Samples, err
}

// Note implements Noter: the found sockets if any are configured, and what could not be
// found or measured.
func (c *collector) Note() string { return c.note }

// measure exports the measurements, and returns the errors of those that failed.
func (c *collector) measure(ctx context.Context, b *collectors.Batch, found []foundProcess) []error {
	running := stillRunning(found)
	b.Set(upMetric, collectors.Number(len(running) > 0), c.name)
	b.Set(instancesMetric, float64(len(running)), c.name)
	c.states(b, found)
	if len(running) == 0 {
		return []error{c.selector.noneLeft(len(found))}
	}
	oldest := running[0]
	if c.pid != 0 && (c.pid != oldest.PID || c.start != oldest.start) {
		c.restarts++
	}
	c.pid, c.start = oldest.PID, oldest.start

	var threads, memory float64
	for _, f := range running {
		threads += float64(f.threads)
		memory += float64(f.pages) * float64(os.Getpagesize())
	}
	b.Set(residentMemoryMetric, memory, c.name)
	b.Set(threadsMetric, threads, c.name)
	files := ProcReader{Mount: c.selector.Mount()}
	return []error{c.startTime(b, &files), c.descriptors(b, &files, running), c.zombies(ctx, b, &files, running), c.holds(ctx, b, &files, running)}
}

// processStates are the states of a process: the letter in /proc/PID/stat, and the name in
// /proc/PID/status. The last is for all others.
func processStates() [10]struct {
	letter byte
	state  string
} {
	return [...]struct {
		letter byte
		state  string
	}{
		{'R', "running"}, {'S', "sleeping"}, {'D', "disk_sleep"}, {'T', "stopped"}, {'t', "tracing_stop"},
		{'Z', "zombie"}, {'X', "dead"}, {'I', "idle"}, {'P', "parked"}, {0, "other"},
	}
}

func (c *collector) states(b *collectors.Batch, found []foundProcess) {
	states := processStates()
	var counts [len(states)]float64
	for _, f := range found {
		i := 0
		for i < len(states)-1 && states[i].letter != f.state {
			i++
		}
		counts[i]++
	}
	for i, s := range states {
		b.Set(statesMetric, counts[i], c.name, s.state)
	}
}

// startTime exports the start time of the oldest process.
func (c *collector) startTime(b *collectors.Batch, files *ProcReader) error {
	const ticks = 100 // a second: USER_HZ is that on all architectures of Go, see time(7)
	boot, err := files.bootTime()
	if err != nil {
		return procError("read the start of the host", err)
	}
	b.Set(startTimeMetric, boot+float64(c.start)/ticks, c.name)
	return nil
}

// descriptors exports the open descriptors of the process nearest to its limit. It fails
// if those of one process are unreadable.
func (c *collector) descriptors(b *collectors.Batch, files *ProcReader, running []foundProcess) error {
	open, limit, known := 0.0, 1.0, false
	for _, f := range running {
		n, err := f.FileDescriptorsLen()
		most, errLimit := files.maxFDs(f.PID)
		switch err := cmp.Or(err, errLimit); {
		case ReasonOf(err) == Gone: // it has ended in the meantime
		case err != nil:
			return fmt.Errorf("count descriptors of process %d: %w", f.PID, err)
		case !known, float64(n)/most > open/limit:
			open, limit, known = float64(n), most, true
		}
	}
	if known {
		b.Set(openFDsMetric, open, c.name)
		b.Set(maxFDsMetric, limit, c.name)
	}
	return nil
}

// zombies exports the number of zombie children. It exports nothing if the kernel does not
// list children.
func (c *collector) zombies(ctx context.Context, b *collectors.Batch, files *ProcReader, running []foundProcess) error {
	zombies, known := 0, false
	for _, f := range running {
		children, err := files.children(f.PID)
		if ReasonOf(err) == Gone {
			if now, err := files.Stat(f.PID); err == nil && now.start == f.start {
				return nil // the kernel was built without
			}
			continue // it has ended in the meantime
		}
		if err != nil {
			return fmt.Errorf("list children of process %d: %w", f.PID, err)
		}
		known = true
		for _, child := range children {
			if ctx.Err() != nil {
				return fmt.Errorf("read children of process %d: %w", f.PID, context.Cause(ctx))
			}
			if stat, err := files.Stat(child); err == nil && stat.Ended() {
				zombies++
			}
		}
	}
	if known {
		b.Set(zombieChildrenMetric, float64(zombies), c.name)
	}
	return nil
}

// holds exports the configured sockets of the processes.
func (c *collector) holds(ctx context.Context, b *collectors.Batch, files *ProcReader, running []foundProcess) error {
	if !c.sockets.named() {
		return nil
	}
	search := newSocketSearch(c.sockets, files)
	if found, err := search.find(ctx, running); err != nil || !found {
		return err
	}
	c.note = search.note(c.sockets, running)
	search.export(b, c.name, c.sockets)
	return nil
}

// Describe implements Collector.
func (c *collector) Describe() []collectors.Desc { return collectors.Describe(defs()) }
