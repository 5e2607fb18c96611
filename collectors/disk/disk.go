// Package disk measures file systems: their size, their free space and inodes, and whether
// they are writable.
package disk

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/internal/blocking"
	"github.com/vitals-health/vitals/internal/panics"
)

// Config configures the kind disk.
type Config struct {
	// Paths are absolute paths of files or directories. Each stands for the file system that
	// contains it.
	Paths []string `yaml:"paths"`
}

// Problems implements collectors.Kind.
func (c *Config) Problems() []collectors.Problem {
	if len(c.Paths) == 0 {
		return []collectors.Problem{{Path: "paths", Text: "no paths: expected at least one, such as /var/lib"}}
	}
	var problems []collectors.Problem
	for i, path := range c.Paths {
		at := fmt.Sprintf("paths[%d]", i)
		switch {
		case !filepath.IsAbs(path):
			problems = append(problems, collectors.Problem{Path: at, Text: fmt.Sprintf("path %q: expected an absolute path", path)})
		case slices.Contains(c.Paths[:i], path):
			problems = append(problems, collectors.Problem{Path: at, Text: fmt.Sprintf("path %q: expected each path once", path)})
		}
	}
	return problems
}

// External implements collectors.Kind: a mounted file system belongs to this host.
func (c *Config) External() bool { return false }

// Uses implements collectors.Kind.
func (c *Config) Uses() []string { return nil }

// New implements collectors.Kind.
func (c *Config) New(env collectors.Env) (collectors.Collector, error) {
	collector := &collector{name: env.Name}
	for _, path := range c.Paths {
		collector.disks = append(collector.disks, &disk{path: path, stat: func() result { return stat(path) }})
	}
	return collector, nil
}

// collector measures all paths of a configuration.
type collector struct {
	name  string
	disks []*disk
}

// disk is the file system of one path. A system call on it may hang for ever, so it has a
// goroutine of its own.
type disk struct {
	path string
	stat func() result
	call blocking.Call[result]
}

// result is the result of one system call.
type result struct {
	usage usage
	err   error
}

// usage is the state of a file system, in bytes and inodes.
type usage struct {
	size, free, available uint64
	// inodes is 0 on file systems that create inodes on demand, such as Btrfs.
	inodes, inodesFree uint64
	writable           bool
}

// reason is why a file system could not be measured. The set is closed, because it is a
// label.
type reason string

const (
	missing    reason = "missing"    // there is no such path
	forbidden  reason = "forbidden"  // the user of Vitals may not reach the path
	timeout    reason = "timeout"    // the file system did not answer before the deadline
	unreadable reason = "unreadable" // any other error
)

func reasons() []reason { return []reason{missing, forbidden, timeout, unreadable} }

func reasonOf(err error) reason {
	return collectors.ReasonOf(err, func(err error) reason {
		switch {
		case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
			return timeout
		case errors.Is(err, fs.ErrNotExist):
			return missing
		case errors.Is(err, fs.ErrPermission):
			return forbidden
		}
		return unreadable
	})
}

// Collect measures all paths at the same time, so that one that hangs does not delay the
// others. A path that cannot be measured has only vitals_disk_failure.
func (c *collector) Collect(ctx context.Context) ([]collectors.Sample, error) {
	results := make([]result, len(c.disks))
	var g errgroup.Group
	for i, d := range c.disks {
		g.Go(panics.Caught(func() { results[i] = d.measure(ctx) }))
	}
	panics.Raise(g.Wait())
	var b collectors.Batch
	var errs []error
	for i, d := range c.disks {
		c.export(&b, d.path, results[i])
		errs = append(errs, results[i].err)
	}
	return b.Samples, errors.Join(errs...)
}

// measure returns the state of the file system, or an error at the deadline.
func (d *disk) measure(ctx context.Context) result {
	r, err := d.call.Do(ctx, d.stat)
	if err == nil {
		err = r.err
	}
	if err != nil {
		return result{err: fmt.Errorf("stat file system of %s: %w", d.path, err)}
	}
	return r
}

func (c *collector) export(b *collectors.Batch, path string, r result) {
	if u := r.usage; r.err == nil {
		b.Set(sizeMetric, float64(u.size), c.name, path)
		b.Set(freeMetric, float64(u.free), c.name, path)
		b.Set(availableMetric, float64(u.available), c.name, path)
		b.Set(inodesMetric, float64(u.inodes), c.name, path)
		b.Set(inodesFreeMetric, float64(u.inodesFree), c.name, path)
		b.Set(writableMetric, collectors.Number(u.writable), c.name, path)
	}
	for _, reason := range reasons() {
		b.Set(failureMetric, collectors.Number(reasonOf(r.err) == reason), c.name, path, string(reason))
	}
}

// Describe implements collectors.Collector.
func (c *collector) Describe() []collectors.Desc { return collectors.Describe(defs()) }
