// Package process measures processes of this host and their sockets.
package process

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/vitals-health/vitals/collectors"
)

// Config configures the kind process: whether processes run, since when, and
// what they hold.
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

	// note is what the last round saw of the sockets.
	note string
	// The oldest process of the last round in which there was one; a number of zero
	// means none yet.
	pid      int
	start    uint64
	restarts float64
}

// Collect looks for the processes and measures them.
func (p *collector) Collect(ctx context.Context) ([]collectors.Sample, error) {
	var b collectors.Batch
	p.note = ""
	found, err := p.selector.find(ctx)
	if err == nil {
		err = errors.Join(p.measure(ctx, &b, found)...)
	} else if reason := ReasonOfProcess(err); reason == Gone || reason == pidFile {
		b.Set(upMetric, 0, p.name)
		b.Set(instancesMetric, 0, p.name)
	}
	b.Set(restartsMetric, p.restarts, p.name)
	AddProcessFailure(&b, p.name, ReasonOfProcess(err))
	switch {
	case err == nil || p.note != "":
	case p.sockets.named():
		p.note = p.sockets.missed(err)
	default:
		p.note = collectors.ShortNote(err.Error())
	}
	return b.Samples, err
}

// Note implements Noter: what was seen of the sockets if any are looked for, and what
// could not be found or measured.
func (p *collector) Note() string { return p.note }

// measure exports what the processes show, and returns what they do not.
func (p *collector) measure(ctx context.Context, b *collectors.Batch, found []foundProcess) []error {
	running := stillRunning(found)
	b.Set(upMetric, collectors.Number(len(running) > 0), p.name)
	b.Set(instancesMetric, float64(len(running)), p.name)
	p.states(b, found)
	if len(running) == 0 {
		return []error{p.selector.noneLeft(len(found))}
	}
	oldest := running[0]
	if p.pid != 0 && (p.pid != oldest.PID || p.start != oldest.start) {
		p.restarts++
	}
	p.pid, p.start = oldest.PID, oldest.start

	var threads, memory float64
	for _, f := range running {
		threads += float64(f.threads)
		memory += float64(f.pages) * float64(os.Getpagesize())
	}
	b.Set(residentMemoryMetric, memory, p.name)
	b.Set(threadsMetric, threads, p.name)
	files := ProcReader{Mount: p.selector.Mount()}
	return []error{p.startTime(b, &files), p.descriptors(b, &files, running), p.zombies(ctx, b, &files, running), p.holds(ctx, b, &files, running)}
}

// processStates are the states of a process: the letters of /proc/PID/stat, and the
// kernel's words for them in /proc/PID/status. The last is for all others.
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

func (p *collector) states(b *collectors.Batch, found []foundProcess) {
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
		b.Set(statesMetric, counts[i], p.name, s.state)
	}
}

// startTime exports when the oldest process was started.
func (p *collector) startTime(b *collectors.Batch, files *ProcReader) error {
	const ticks = 100 // a second: USER_HZ is that on all architectures of Go, see time(7)
	boot, err := files.bootTime()
	if err != nil {
		return procError("read when the host was started", err)
	}
	b.Set(startTimeMetric, boot+float64(p.start)/ticks, p.name)
	return nil
}

// descriptors exports the open descriptors of the process that is nearest to its limit.
// Where one of the processes does not show them, that cannot be said.
func (p *collector) descriptors(b *collectors.Batch, files *ProcReader, running []foundProcess) error {
	open, limit, known := 0.0, 1.0, false
	for _, f := range running {
		n, err := f.FileDescriptorsLen()
		most, errLimit := files.maxFDs(f.PID)
		switch err := cmp.Or(err, errLimit); {
		case ReasonOfProcess(err) == Gone: // it has ended since it was found
		case err != nil:
			return fmt.Errorf("count descriptors of process %d: %w", f.PID, err)
		case !known, float64(n)/most > open/limit:
			open, limit, known = float64(n), most, true
		}
	}
	if known {
		b.Set(openFDsMetric, open, p.name)
		b.Set(maxFDsMetric, limit, p.name)
	}
	return nil
}

// zombies exports how many children have ended without being asked for their status.
// Where the kernel does not tell the children, that is not known.
func (p *collector) zombies(ctx context.Context, b *collectors.Batch, files *ProcReader, running []foundProcess) error {
	zombies, known := 0, false
	for _, f := range running {
		children, err := files.children(f.PID)
		if ReasonOfProcess(err) == Gone {
			if now, err := files.Stat(f.PID); err == nil && now.start == f.start {
				return nil // the kernel was built without
			}
			continue // it has ended since it was found
		}
		if err != nil {
			return fmt.Errorf("list children of process %d: %w", f.PID, err)
		}
		known = true
		for _, child := range children {
			if ctx.Err() != nil {
				return fmt.Errorf("look at children of process %d: %w", f.PID, context.Cause(ctx))
			}
			if stat, err := files.Stat(child); err == nil && stat.Ended() {
				zombies++
			}
		}
	}
	if known {
		b.Set(zombieChildrenMetric, float64(zombies), p.name)
	}
	return nil
}

// holds exports what sockets the processes have, as far as any are looked for.
func (p *collector) holds(ctx context.Context, b *collectors.Batch, files *ProcReader, running []foundProcess) error {
	if !p.sockets.named() {
		return nil
	}
	search := newSocketSearch(p.sockets, files)
	if found, err := search.find(ctx, running); err != nil || !found {
		return err
	}
	p.note = search.note(p.sockets, running)
	search.export(b, p.name, p.sockets)
	return nil
}

// Describe implements Collector.
func (p *collector) Describe() []collectors.Desc { return collectors.Describe(defs()) }
