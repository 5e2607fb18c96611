package cgroup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/process"
)

// place is the position of a cgroup.
type place struct {
	// dir is the cgroup's directory.
	dir string
	// device is the number of the file system that dir is on.
	device uint64
	// above is the number of parent directories that are cgroups.
	above int
	// version is v1, v2 or hybrid: v1 for memory, with a mount of v2.
	version string
}

// finder finds the directory of a cgroup and caches it.
type finder struct {
	path     string
	cgroupfs string
	// search finds the process.
	search process.Search
	// self is the directory of Vitals in proc(5).
	self string

	// at is the cached result, or nil.
	at *place
	// pid is the process. dir is its directory in proc(5) and cgroups the content of its
	// file cgroup when at was found.
	pid          int
	dir, cgroups string
}

func newFinder(c *Config) *finder {
	var s process.Selector
	if c.Process != nil {
		s = *c.Process
	}
	return &finder{
		path: c.Path, cgroupfs: c.CgroupFS, self: filepath.Join(s.Mount(), "self"),
		search: process.Search{Selector: s, Files: process.ProcReader{Mount: s.Mount()}},
	}
}

// forget clears the cache.
func (f *finder) forget() { f.at = nil }

// find returns the place of the cgroup. It searches again after a change of the process or
// of its cgroup.
func (f *finder) find(ctx context.Context, r *reader) (*place, error) {
	if f.path != "" {
		var err error
		if f.at == nil {
			f.at, err = f.byPath()
		}
		return f.at, err
	}
	dir, err := f.processDir(ctx)
	if err != nil {
		return nil, &collectors.Error[reason]{Reason: noProcess, Err: err}
	}
	cgroups, _, err := r.read(filepath.Join(dir, "cgroup"))
	if err != nil {
		return nil, ofProcess(err)
	}
	if f.at == nil || f.dir != dir || f.cgroups != string(cgroups) {
		f.dir, f.cgroups = dir, string(cgroups)
		f.at, err = f.byProcess(ctx)
	}
	return f.at, err
}

// processDir returns the directory of the process in proc(5). It keeps a found process while
// it matches.
func (f *finder) processDir(ctx context.Context) (string, error) {
	s := f.search.Selector
	if len(s.Keys()) == 0 {
		return f.self, nil
	}
	if searched := s.PID == 0 && s.PIDFile == ""; !searched || !f.still() {
		processes, err := s.Processes(ctx)
		if err != nil {
			return "", err
		}
		f.pid = processes[0].PID
	}
	return filepath.Join(s.Mount(), strconv.Itoa(f.pid)), nil
}

// still reports whether the found process runs and matches. It is then still the oldest.
func (f *finder) still() bool {
	if f.pid == 0 {
		return false
	}
	if matches, err := f.search.Matches(f.pid); err != nil || !matches {
		return false
	}
	stat, err := f.search.Files.Stat(f.pid)
	return err == nil && !stat.Ended()
}

// ofProcess gives an error about a file of the process its reason. The files of a process
// that ends are missing or return EINVAL.
func ofProcess(err error) error {
	if reasonOf(err) == missing || errors.Is(err, syscall.EINVAL) {
		return &collectors.Error[reason]{Reason: noProcess, Err: err}
	}
	return err
}

// byProcess finds the cgroup of the process: in the mounts of Vitals by path or by the
// process in it, or else in the mounts of the process, for another container.
func (f *finder) byProcess(ctx context.Context) (*place, error) {
	cgroup, v2, err := parseMemoryCgroup(f.cgroups)
	switch {
	case err != nil:
		return nil, err
	case cgroup == "":
		return nil, collectors.Errorf(noController, "the kernel has no memory controller: see cgroup_disable and cgroup_enable for its command line")
	case strings.HasSuffix(cgroup, " (deleted)"): // see cgroups(7)
		return nil, collectors.Errorf(missing, "cgroup %s was removed", cgroup)
	}
	own, err := f.mounts()
	if err != nil {
		return nil, err
	}
	at, shown, err := choose(own, cgroup, v2, "/")
	if shown || f.dir == f.self {
		return at, err
	}
	if at := f.sibling(ctx, own, cgroup, v2); at != nil {
		return at, nil
	}
	if f.cgroupfs != "" {
		return nil, err
	}
	theirs, problem := readMounts(f.dir)
	if problem != nil {
		return nil, fmt.Errorf("%w (%v)", ofProcess(problem), err)
	}
	at, _, problem = choose(theirs, cgroup, v2, filepath.Join(f.dir, "root"))
	if at == nil {
		return nil, fmt.Errorf("for the process: %w; for Vitals: %v", problem, err)
	}
	return at, nil
}

// byPath finds the configured cgroup: a directory on a mount, or else a cgroup as in
// /proc/PID/cgroup.
func (f *finder) byPath() (*place, error) {
	mounts, err := f.mounts()
	if err != nil {
		return nil, err
	}
	dir, err := filepath.EvalSymlinks(f.path)
	if err != nil {
		dir = filepath.Clean(f.path)
	}
	var on mount // the last mount at the longest path is the visible one
	for _, m := range mounts {
		if strings.HasPrefix(dir+"/", m.point+"/") && len(m.point) >= len(on.point) {
			on = m
		}
	}
	memory := slices.IndexFunc(mounts, func(m mount) bool { return m.memory })
	switch {
	case on.point == "":
		at, _, err := choose(mounts, dir, memory < 0, "/")
		if err != nil {
			return nil, fmt.Errorf("path %s is not below a mount of cgroups: %w", f.path, err)
		}
		return at, nil
	case err != nil:
		return nil, err
	case memory >= 0 && !on.memory:
		return nil, collectors.Errorf(noController, "%s is in a hierarchy without the memory controller: expected a directory below %s", dir, mounts[memory].point)
	}
	return on.place(mounts, strings.TrimPrefix(dir, on.point), dir)
}

// mounts returns the mounts of Vitals at or below the configured directory.
func (f *finder) mounts() ([]mount, error) {
	mounts, err := readMounts(f.self)
	if err != nil || f.cgroupfs == "" {
		return mounts, err
	}
	return slices.DeleteFunc(mounts, func(m mount) bool {
		return !strings.HasPrefix(m.point+"/", filepath.Clean(f.cgroupfs)+"/")
	}), nil
}

// readMounts reads the mount table of a process.
func readMounts(process string) ([]mount, error) {
	file, err := os.Open(filepath.Join(process, "mountinfo"))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	mounts, err := parseMounts(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file.Name(), err)
	}
	return mounts, nil
}

// choose returns the place of a cgroup below one of the mounts, whose mount points are below
// prefix. Of several it is the one with most parent cgroups. shown is whether the path is
// in the mounted part of one of them.
func choose(mounts []mount, cgroup string, v2 bool, prefix string) (best *place, shown bool, err error) {
	for _, m := range mounts {
		if m.v2 != v2 || !v2 && !m.memory {
			continue
		}
		below, ok := m.below(cgroup)
		if !ok {
			err = cmp.Or(err, collectors.Errorf(missing, "cgroup %s is not in the part that is mounted at %s, %s", cgroup, m.point, m.root))
			continue
		}
		shown = true
		at, problem := m.place(mounts, below, filepath.Join(prefix, m.point, below))
		switch {
		case problem != nil:
			err = problem
		case best == nil || at.above > best.above:
			best = at
		}
	}
	switch {
	case best != nil:
		return best, true, nil
	case err != nil:
		return nil, shown, err
	case v2:
		return nil, false, collectors.Errorf(missing, "cgroup %s: version 2 is not mounted: expected it at a directory such as /sys/fs/cgroup", cgroup)
	}
	return nil, false, collectors.Errorf(missing, "cgroup %s: the memory hierarchy of version 1 is not mounted: expected it at a directory such as /sys/fs/cgroup/memory", cgroup)
}

// place checks that a directory is a cgroup of the mount.
func (m mount) place(all []mount, below, dir string) (*place, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return nil, err
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); !ok || uint64(stat.Dev) != m.device || !info.IsDir() {
		return nil, collectors.Errorf(unreadable, "%s is not a directory of the cgroups mounted at %s", dir, m.point)
	}
	at := &place{dir: dir, device: m.device, version: "v1"}
	if below = strings.Trim(below, "/"); below != "" {
		at.above = strings.Count(below, "/") + 1
	}
	switch {
	case m.v2:
		at.version = "v2"
	case slices.ContainsFunc(all, func(m mount) bool { return m.v2 }):
		at.version = "hybrid"
	}
	return at, nil
}
