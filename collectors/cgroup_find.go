package collectors

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/prometheus/procfs"
)

// cgroupFinder finds the directory of a cgroup, and keeps it.
type cgroupFinder struct {
	path     string
	selector ProcessSelector
	procfs   string
	cgroupfs string

	// at is what was found; nil is nothing.
	at *cgroupPlace
	// process and cgroups are what at was found by: the directory of the process in
	// proc(5) and its file cgroup. They are empty for a cgroup by path.
	process, cgroups string
}

func newCgroupFinder(c *CgroupConfig) *cgroupFinder {
	f := &cgroupFinder{path: c.Path, procfs: procfs.DefaultMountPoint, cgroupfs: c.CgroupFS}
	if c.Process != nil {
		f.selector = *c.Process
	}
	if f.selector.ProcFS != "" {
		f.procfs = f.selector.ProcFS
	}
	return f
}

// forget makes the next find look again.
func (f *cgroupFinder) forget() { f.at = nil }

// find returns the directory of the cgroup. It looks for it again when the process is
// another one or in another cgroup.
func (f *cgroupFinder) find(ctx context.Context, r *cgroupReader) (*cgroupPlace, error) {
	if f.path != "" {
		if f.at == nil {
			at, err := f.byPath()
			if err != nil {
				return nil, err
			}
			f.at = at
		}
		return f.at, nil
	}
	process, err := f.processDir(ctx)
	if err != nil {
		return nil, &cgroupError{cgroupProcess, err}
	}
	text, err := os.ReadFile(filepath.Join(process, "cgroup"))
	if err != nil {
		if reason := reasonOfCgroup(err); reason == cgroupMissing {
			err = &cgroupError{cgroupProcess, err}
		}
		return nil, err
	}
	if f.at != nil && f.process == process && f.cgroups == string(text) {
		return f.at, nil
	}
	f.at, f.process, f.cgroups = nil, process, string(text)
	f.at, err = f.byProcess()
	return f.at, err
}

// processDir is the directory of the process in proc(5).
func (f *cgroupFinder) processDir(ctx context.Context) (string, error) {
	if len(f.selector.keys()) == 0 {
		return filepath.Join(f.procfs, "self"), nil
	}
	processes, err := f.selector.processes(ctx)
	if err != nil {
		return "", err
	}
	return filepath.Join(f.procfs, strconv.Itoa(processes[0].PID)), nil
}

// byProcess finds the cgroup of the process: in the mounts that Vitals has, or else in
// those that the process has.
func (f *cgroupFinder) byProcess() (*cgroupPlace, error) {
	cgroup, v2, err := parseMemoryCgroup(f.cgroups)
	switch {
	case err != nil:
		return nil, err
	case cgroup == "":
		return nil, &cgroupError{cgroupNoController, errors.New("the kernel has no memory controller: see cgroup_disable and cgroup_enable on its command line")}
	case strings.HasSuffix(cgroup, " (deleted)"): // see cgroup_namespaces(7)
		return nil, &cgroupError{cgroupMissing, fmt.Errorf("cgroup %s was removed", cgroup)}
	}
	own, err := f.mounts(filepath.Join(f.procfs, "self"))
	if err != nil {
		return nil, err
	}
	at, err := choose(own, cgroup, v2, "/")
	if at != nil || f.process == filepath.Join(f.procfs, "self") {
		return at, err
	}
	theirs, errTheirs := f.mounts(f.process)
	if errTheirs != nil {
		return nil, errors.Join(err, errTheirs)
	}
	return choose(theirs, cgroup, v2, filepath.Join(f.process, "root"))
}

// byPath finds the cgroup that the configuration names.
func (f *cgroupFinder) byPath() (*cgroupPlace, error) {
	mounts, err := f.mounts(filepath.Join(f.procfs, "self"))
	if err != nil {
		return nil, err
	}
	dir, err := filepath.EvalSymlinks(f.path)
	if err != nil {
		dir = f.path
	}
	var on *cgroupMount // the one that is mounted last at the longest path
	for i, m := range mounts {
		if strings.HasPrefix(dir+"/", m.point+"/") && (on == nil || len(m.point) >= len(on.point)) {
			on = &mounts[i]
		}
	}
	switch {
	case on == nil:
		return choose(mounts, f.path, !slices.ContainsFunc(mounts, func(m cgroupMount) bool { return m.memory && !m.v2 }), "/")
	case err != nil:
		return nil, err
	case !on.v2 && !on.memory:
		return nil, &cgroupError{cgroupNoController, fmt.Errorf("%s is of a hierarchy without the memory controller", dir)}
	}
	return on.place(mounts, strings.TrimPrefix(dir, on.point), dir)
}

// mounts are the cgroup mounts that a process has, at or below the directory that the
// configuration gives.
func (f *cgroupFinder) mounts(process string) ([]cgroupMount, error) {
	file, err := os.Open(filepath.Join(process, "mountinfo"))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	mounts, err := parseCgroupMounts(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file.Name(), err)
	}
	if f.cgroupfs != "" && process == filepath.Join(f.procfs, "self") {
		mounts = slices.DeleteFunc(mounts, func(m cgroupMount) bool {
			return !strings.HasPrefix(m.point+"/", filepath.Clean(f.cgroupfs)+"/")
		})
	}
	return mounts, nil
}

// choose returns the directory of a cgroup under one of the mounts, whose mount points
// are below prefix. Where several have it, it is the one that shows most of the
// cgroups above it.
func choose(mounts []cgroupMount, cgroup string, v2 bool, prefix string) (*cgroupPlace, error) {
	var best *cgroupPlace
	var problem error
	for _, m := range mounts {
		if m.v2 != v2 || !v2 && !m.memory {
			continue
		}
		below, ok := m.below(cgroup)
		if !ok {
			continue
		}
		at, err := m.place(mounts, below, filepath.Join(prefix, m.point, below))
		switch {
		case err != nil:
			problem = errors.Join(problem, err)
		case best == nil || at.above > best.above:
			best = at
		}
	}
	switch {
	case best != nil:
		return best, nil
	case problem != nil:
		return nil, problem
	}
	kind := "the memory hierarchy of version 1"
	if v2 {
		kind = "version 2"
	}
	return nil, &cgroupError{cgroupMissing, fmt.Errorf("cgroup %s is in no mount of %s: expected one such as /sys/fs/cgroup", cgroup, kind)}
}

// place makes sure that a directory is a cgroup of the mount.
func (m cgroupMount) place(all []cgroupMount, below, dir string) (*cgroupPlace, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return nil, err
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); !ok || uint64(stat.Dev) != m.device || !info.IsDir() {
		return nil, &cgroupError{cgroupUnreadable, fmt.Errorf("%s is no directory on the mount of cgroups at %s", dir, m.point)}
	}
	at := &cgroupPlace{dir: dir, device: m.device, version: "v1"}
	if below = strings.Trim(below, "/"); below != "" {
		at.above = strings.Count(below, "/") + 1
	}
	switch {
	case m.v2:
		at.version = "v2"
	case slices.ContainsFunc(all, func(m cgroupMount) bool { return m.v2 }):
		at.version = "hybrid"
	}
	return at, nil
}
