package collectors

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
)

// CgroupConfig configures the kind cgroup: the memory of one cgroup, of version 1 or 2
// of the kernel's interface. Without Path and Process it is the cgroup of the process
// that asks.
type CgroupConfig struct {
	// Path is the absolute path of the cgroup's directory, or the cgroup as
	// /proc/PID/cgroup has it: /system.slice/kuryr-cni.service.
	Path string `yaml:"path,omitempty"`
	// Process has the cgroup; of several processes it is the oldest's. Its procfs is also
	// where the mount table is read.
	Process *ProcessSelector `yaml:"process,omitempty"`
	// Limit is exported as it is, for rules that compare with it; nil exports none.
	Limit *Size `yaml:"limit,omitempty"`
	// CgroupFS is the directory at or below which the cgroups are mounted that are
	// looked at; empty means wherever they are mounted.
	CgroupFS string `yaml:"cgroupfs,omitempty"`
}

// Problems implements Kind.
func (c *CgroupConfig) Problems() []Problem {
	var problems []Problem
	if c.Path != "" && c.Process != nil && len(c.Process.keys()) > 0 {
		problems = append(problems, Problem{"process", "a process beside path: expected one of them, or procfs alone"})
	}
	for _, p := range []struct{ key, path string }{{"path", c.Path}, {"cgroupfs", c.CgroupFS}} {
		if p.path != "" && (!filepath.IsAbs(p.path) || strings.Contains(p.path+"/", "/../")) {
			problems = append(problems, Problem{p.key, fmt.Sprintf("path %q: expected an absolute path without ..", p.path)})
		}
	}
	if c.Limit != nil && *c.Limit < 1<<20 { // less is a forgotten unit
		problems = append(problems, Problem{"limit", fmt.Sprintf("limit %s: expected 1MiB or more, with a unit such as MiB, or no limit", *c.Limit)})
	}
	if c.Process != nil {
		problems = append(problems, c.Process.problems("process.")...)
	}
	return problems
}

// External implements Kind: a cgroup is on this host.
func (c *CgroupConfig) External() bool { return false }

// Uses implements Kind.
func (c *CgroupConfig) Uses() []string { return nil }

// New implements Kind.
func (c *CgroupConfig) New(env Env) (Collector, error) {
	return &cgroup{name: env.Name, limit: c.Limit, finder: newCgroupFinder(c)}, nil
}

// cgroupReason says why something is not known of a cgroup. The set is closed, because
// it is a label.
type cgroupReason string

const (
	cgroupMissing      cgroupReason = "missing"              // no such cgroup, or it was removed
	cgroupForbidden    cgroupReason = "forbidden"            // the kernel refuses to show it
	cgroupNoController cgroupReason = "no_memory_controller" // its memory is not accounted for
	cgroupProcess      cgroupReason = "process"              // the process whose cgroup it is was not found
	cgroupUnreadable   cgroupReason = "unreadable"           // what the kernel shows makes no sense
)

// cgroupReasons returns all reasons, in the order of the documentation.
func cgroupReasons() []cgroupReason {
	return []cgroupReason{cgroupMissing, cgroupForbidden, cgroupNoController, cgroupProcess, cgroupUnreadable}
}

// cgroupError is an error with its reason.
type cgroupError = reasonError[cgroupReason]

// reasonOfCgroup is the reason why something could not be measured; nil is no reason.
// ENODEV is what reading a file of a removed cgroup yields.
func reasonOfCgroup(err error) cgroupReason {
	var known *cgroupError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &known):
		return known.reason
	case errors.Is(err, fs.ErrPermission):
		return cgroupForbidden
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.ENODEV), errors.Is(err, syscall.ESRCH):
		return cgroupMissing
	}
	return cgroupUnreadable
}

type cgroup struct {
	name   string
	limit  *Size
	finder *cgroupFinder
	reader cgroupReader
}

// Collect reads the cgroup's files. What one of them does not say is absent, and the
// others count.
func (c *cgroup) Collect(ctx context.Context) ([]Sample, error) {
	var b batch
	if c.limit != nil {
		b.set(cgroupConfiguredLimitMetric, float64(*c.limit), c.name)
	}
	err := c.measure(ctx, &b)
	reason := reasonOfCgroup(err)
	for _, r := range cgroupReasons() {
		b.set(cgroupFailureMetric, number(r == reason), c.name, string(r))
	}
	return b.samples, err
}

// measure finds the cgroup and reads it. After a failure it is looked for again.
func (c *cgroup) measure(ctx context.Context, b *batch) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("find cgroup: %w", err)
	}
	at, err := c.finder.find(ctx, &c.reader)
	if err != nil {
		return fmt.Errorf("find cgroup: %w", err)
	}
	b.set(cgroupInfoMetric, 1, c.name, at.version)
	m, err := at.read(&c.reader)
	c.add(b, m)
	if err != nil {
		c.finder.forget()
		return fmt.Errorf("read cgroup: %w", err)
	}
	return nil
}

// add exports what is known.
func (c *cgroup) add(b *batch, m cgroupMemory) {
	for _, g := range []struct {
		metric *Def
		value  *float64
	}{
		{cgroupMemoryUsageMetric, m.usage},
		{cgroupMemoryWorkingSetMetric, m.workingSet},
		{cgroupMemorySwapMetric, m.swap},
		{cgroupMemoryLimitMetric, m.limit},
		{cgroupMemoryOOMKillsMetric, m.oomKills},
	} {
		if g.value != nil {
			b.set(g.metric, *g.value, c.name)
		}
	}
	for _, p := range m.pressure {
		b.set(cgroupMemoryPressureRatioMetric, p.avg10/100, c.name, p.kind, "10s")
		b.set(cgroupMemoryPressureRatioMetric, p.avg60/100, c.name, p.kind, "60s")
		b.set(cgroupMemoryPressureRatioMetric, p.avg300/100, c.name, p.kind, "300s")
		b.set(cgroupMemoryPressureSecondsTotalMetric, p.total/1e6, c.name, p.kind)
	}
}

// Describe implements Collector.
func (c *cgroup) Describe() []Desc { return describe(cgroupDefs()) }
