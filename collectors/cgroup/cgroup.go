// Package cgroup measures the memory of a control group, of version 1 or 2.
package cgroup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/process"
)

// Config configures the kind cgroup: the memory of one cgroup, of version 1 or 2 of the
// kernel interface. Without Path and Process it is the cgroup of Vitals.
type Config struct {
	// Path is the absolute path of the directory of the cgroup, or the cgroup as in
	// /proc/PID/cgroup: /system.slice/kuryr-cni.service.
	Path string `yaml:"path,omitempty"`
	// Process selects the process whose cgroup is measured: the oldest of several. Its
	// procfs also has the mount table.
	Process *process.Selector `yaml:"process,omitempty"`
	// Limit is exported for rules; nil exports none.
	Limit *collectors.Size `yaml:"limit,omitempty"`
	// CgroupFS restricts the search to mounts at or below this directory. Empty is no
	// restriction.
	CgroupFS string `yaml:"cgroupfs,omitempty"`
}

// Problems implements Kind.
func (c *Config) Problems() []collectors.Problem {
	var problems []collectors.Problem
	if c.Path != "" && c.Process != nil && len(c.Process.Keys()) > 0 {
		problems = append(problems, collectors.Problem{Path: "process", Text: "process and path: expected one of them, or procfs alone"})
	}
	for _, p := range []struct{ key, path string }{{"path", c.Path}, {"cgroupfs", c.CgroupFS}} {
		if p.path != "" && (!filepath.IsAbs(p.path) || strings.Contains(p.path+"/", "/../")) {
			problems = append(problems, collectors.Problem{Path: p.key, Text: fmt.Sprintf("path %q: expected an absolute path without ..", p.path)})
		}
	}
	if c.Limit != nil && *c.Limit < 1<<20 { // less is a forgotten unit
		problems = append(problems, collectors.Problem{Path: "limit", Text: fmt.Sprintf("limit %s: expected 1MiB or more, with a unit such as MiB, or no limit", *c.Limit)})
	}
	if c.Process != nil {
		problems = append(problems, c.Process.Problems("process.")...)
	}
	return problems
}

// External implements Kind: a cgroup is on this host.
func (c *Config) External() bool { return false }

// Uses implements Kind.
func (c *Config) Uses() []string { return nil }

// New implements Kind.
func (c *Config) New(env collectors.Env) (collectors.Collector, error) {
	return &collector{name: env.Name, limit: c.Limit, finder: newFinder(c)}, nil
}

// reason is the reason of a failure. The set is closed, because it is a label.
type reason string

const (
	missing      reason = "missing"              // no such cgroup, or it was removed
	forbidden    reason = "forbidden"            // a missing permission
	noController reason = "no_memory_controller" // no accounting of its memory
	noProcess    reason = "process"              // the process was not found
	unreadable   reason = "unreadable"           // invalid data
)

// reasons returns all reasons, in the order of the documentation.
func reasons() []reason {
	return []reason{missing, forbidden, noController, noProcess, unreadable}
}

// reasonOf returns the reason of an error, and "" for nil. A read of a file of a removed
// cgroup returns ENODEV.
func reasonOf(err error) reason {
	return collectors.ReasonOf(err, func(err error) reason {
		switch {
		case errors.Is(err, fs.ErrPermission):
			return forbidden
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.ENODEV), errors.Is(err, syscall.ESRCH):
			return missing
		}
		return unreadable
	})
}

type collector struct {
	name   string
	limit  *collectors.Size
	finder *finder
	reader reader
}

// Collect reads the files of the cgroup. The values of an unreadable file are absent.
func (c *collector) Collect(ctx context.Context) ([]collectors.Sample, error) {
	var b collectors.Batch
	if c.limit != nil {
		b.Set(configuredLimitMetric, float64(*c.limit), c.name)
	}
	err := c.measure(ctx, &b)
	reason := reasonOf(err)
	for _, r := range reasons() {
		b.Set(failureMetric, collectors.Number(r == reason), c.name, string(r))
	}
	return b.Samples, err
}

// measure finds the cgroup and reads it. After a failure the next collection searches again.
func (c *collector) measure(ctx context.Context, b *collectors.Batch) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("find cgroup: %w", err)
	}
	at, err := c.finder.find(ctx, &c.reader)
	if err != nil {
		return fmt.Errorf("find cgroup: %w", err)
	}
	b.Set(infoMetric, 1, c.name, at.version)
	m, err := at.read(&c.reader)
	c.add(b, m)
	if err != nil {
		c.finder.forget()
		return fmt.Errorf("read cgroup: %w", err)
	}
	return nil
}

// add exports the known values.
func (c *collector) add(b *collectors.Batch, m memory) {
	for _, g := range []struct {
		metric *collectors.Def
		value  *float64
	}{
		{memoryUsageMetric, m.usage},
		{memoryWorkingSetMetric, m.workingSet},
		{memorySwapMetric, m.swap},
		{memoryLimitMetric, m.limit},
		{memoryOOMKillsMetric, m.oomKills},
	} {
		if g.value != nil {
			b.Set(g.metric, *g.value, c.name)
		}
	}
	for _, p := range m.pressure {
		b.Set(memoryPressureRatioMetric, p.avg10/100, c.name, p.kind, "10s")
		b.Set(memoryPressureRatioMetric, p.avg60/100, c.name, p.kind, "60s")
		b.Set(memoryPressureRatioMetric, p.avg300/100, c.name, p.kind, "300s")
		b.Set(memoryPressureSecondsTotalMetric, p.total/1e6, c.name, p.kind)
	}
}

// Describe implements Collector.
func (c *collector) Describe() []collectors.Desc { return collectors.Describe(defs()) }
