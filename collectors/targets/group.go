package targets

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/internal/text"
)

const (
	// maxNamed is how many failing targets an error names.
	maxNamed = 3
	// settling is how long the first collection waits beyond its deadline for checks that began
	// with it and have the same timeout. It is shorter than what the program grants.
	settling = 100 * time.Millisecond
)

// Options configure the collector of several targets.
type Options struct {
	// Label has the name of a target in its series: dependency or component.
	Label string
	// Targets are listed in the configuration.
	Targets []Target
	// Sources find more targets, at most Limit in all.
	Sources []Source
	Limit   int
	// Concurrency is how many targets are checked at a time.
	Concurrency int
	// Kind returns the configuration for one target.
	Kind func(address string) collectors.Kind
}

// group is a collector that checks several targets. Run checks them; Collect returns the newest
// result of each.
type group struct {
	opts Options
	env  collectors.Env
	// updated has an element after a Source has found targets.
	updated chan struct{}
	// first is closed when each target that was known at the start has a result.
	first chan struct{}
	once  sync.Once

	mu sync.Mutex // guards what follows
	// found is the last result of each Source.
	found []found
	// members are the targets that are checked, in the order of their names.
	members []*member
	// dropped is how many found targets are not checked, and mistake is the reason of one.
	dropped int
	mistake error

	// The results of the last collection, for Describe and the notes. They belong to Collect.
	descs []collectors.Desc
	note  string
	notes map[string]string
}

// found is what a Source has found.
type found struct {
	// ran is set after the first call.
	ran     bool
	targets []Target
	err     error
}

// New returns a collector of several targets. It checks each once an interval of env, with the
// timeout of env.
func New(opts Options, env collectors.Env) collectors.Collector {
	return &group{
		opts: opts, env: env, found: make([]found, len(opts.Sources)),
		updated: make(chan struct{}, 1), first: make(chan struct{}),
	}
}

// Collect returns the newest samples of all targets. The first collection waits for them.
func (g *group) Collect(ctx context.Context) ([]collectors.Sample, error) {
	g.await(ctx)
	g.mu.Lock()
	defer g.mu.Unlock()
	var b collectors.Batch
	size := len(Defs())
	for _, m := range g.members {
		size += len(m.result.samples)
	}
	b.Samples = make([]collectors.Sample, 0, size)
	g.notes = make(map[string]string, len(g.members))
	var failed []string
	running := 0
	for _, m := range g.members {
		r := &m.result
		switch {
		case !r.ran:
			running++
		case r.err != nil:
			failed = append(failed, m.Name+": "+r.err.Error())
		}
		b.Samples = append(b.Samples, r.samples...)
		g.notes[m.Name] = r.note
	}
	if len(g.opts.Sources) > 0 {
		b.Set(upMetric, collectors.Number(g.discoveryLocked() == nil), g.env.Name)
		b.Set(targetsMetric, float64(len(g.members)), g.env.Name)
		b.Set(droppedMetric, float64(g.dropped), g.env.Name)
	}
	g.describeLocked()
	g.note = summary(len(g.members), len(failed), running)
	return b.Samples, g.errorLocked(failed)
}

// await waits for the first result of each target that was known at the start.
func (g *group) await(ctx context.Context) {
	select {
	case <-g.first:
		return
	case <-ctx.Done():
	}
	select {
	case <-g.first:
	case <-time.After(settling):
	}
}

// summary is the note of a collection.
func summary(targets, failed, running int) string {
	note := text.Plural(targets, "target")
	if failed > 0 {
		note += fmt.Sprintf(", %d failed", failed)
	}
	if running > 0 {
		note += fmt.Sprintf(", %d without a result yet", running)
	}
	return note
}

// discoveryLocked returns the first error of a Source, nil without one.
func (g *group) discoveryLocked() error {
	for _, f := range g.found {
		switch {
		case f.err != nil:
			return f.err
		case !f.ran:
			return errors.New("no result yet")
		}
	}
	return nil
}

// errorLocked returns the error of a collection with these failures.
func (g *group) errorLocked(failed []string) error {
	var all []string
	if err := g.discoveryLocked(); err != nil {
		all = append(all, "discover targets: "+err.Error())
	}
	if g.mistake != nil {
		all = append(all, fmt.Sprintf("%s dropped: %v", text.Plural(g.dropped, "target"), g.mistake))
	}
	if n := len(failed); n > 0 {
		named := strings.Join(failed[:min(n, maxNamed)], "; ")
		if n > maxNamed {
			named += fmt.Sprintf("; and %d more", n-maxNamed)
		}
		all = append(all, fmt.Sprintf("%d of %s failed: %s", n, text.Plural(len(g.members), "target"), named))
	}
	if len(all) == 0 {
		return nil
	}
	return errors.New(text.Short(strings.Join(all, "; "), collectors.MaxReason))
}

// describeLocked sets the metrics of all targets, each once.
func (g *group) describeLocked() {
	g.descs = nil
	known := map[string]bool{}
	if len(g.opts.Sources) > 0 {
		g.descs = collectors.Describe(Defs())
		for _, d := range g.descs {
			known[d.Name] = true
		}
	}
	var last []collectors.Desc
	for _, m := range g.members {
		if slices.Equal(last, m.result.descs) {
			continue
		}
		last = m.result.descs
		for _, d := range last {
			if !known[d.Name] {
				known[d.Name] = true
				g.descs = append(g.descs, d)
			}
		}
	}
}

// Describe lists the metrics of all targets.
func (g *group) Describe() []collectors.Desc { return slices.Clone(g.descs) }

// Note returns how many targets there are and how many fail.
func (g *group) Note() string { return g.note }

// PartNotes returns the note on each target.
func (g *group) PartNotes() (label string, notes map[string]string) {
	notes, g.notes = g.notes, nil
	return g.opts.Label, notes
}
