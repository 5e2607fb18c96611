package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"syscall"

	"github.com/vitals-health/vitals/collectors"
)

// memory is the memory of a cgroup; nil is unknown.
type memory struct {
	usage, workingSet, swap, limit, oomKills *float64
	pressure                                 []pressure
}

// file reads a file of the cgroup. A file on another mount is rejected.
func (p *place) file(r *reader, name string) ([]byte, error) {
	return p.fileIn(r, p.dir, name)
}

func (p *place) fileIn(r *reader, dir, name string) ([]byte, error) {
	path := dir + "/" + name
	data, device, err := r.read(path)
	if err == nil && device != p.device {
		return nil, collectors.Errorf(unreadable, "%s is not on the mount of its cgroup", path)
	}
	return data, err
}

// read reads all required files. It continues after an error except for the usage.
func (p *place) read(r *reader) (memory, error) {
	if p.version == "v2" {
		return p.readV2(r)
	}
	return p.readV1(r)
}

// readV1 reads the files of Documentation/admin-guide/cgroup-v1/memory.rst. The files
// with memsw exist only if the kernel accounts for swap. They count memory and swap
// together. They are read first, so that memory allocated in between is not counted as
// swap.
func (p *place) readV1(r *reader) (memory, error) {
	var m memory
	both, errSwap := p.number(r, "memory.memsw.usage_in_bytes")
	usage, err := p.number(r, "memory.usage_in_bytes")
	if err != nil {
		return m, p.explain(err)
	}
	m.usage = usage
	if both != nil {
		m.swap = new(max(*both-*usage, 0))
	}
	var errLimit error
	stat, errStat := p.file(r, "memory.stat")
	if errStat == nil {
		// The keys with total_ include the cgroups below, as usage_in_bytes does.
		m.workingSet, errStat = workingSet(*usage, stat, "total_inactive_file")
		m.limit, errLimit = p.limitV1(r, stat)
	}
	var errOOM error
	m.oomKills, errOOM = p.counter(r, "memory.oom_control")
	return m, errors.Join(errStat, errLimit, absent(errSwap), errOOM)
}

// readV2 reads the files of Documentation/admin-guide/cgroup-v2.rst.
func (p *place) readV2(r *reader) (memory, error) {
	var m memory
	usage, err := p.number(r, "memory.current")
	if err != nil {
		return m, p.explain(err)
	}
	m.usage = usage
	stat, errStat := p.file(r, "memory.stat")
	if errStat == nil {
		m.workingSet, errStat = workingSet(*usage, stat, "inactive_file")
	}
	var errLimit, errSwap, errOOM error
	m.limit, errLimit = p.smallestLimit(r, "memory.max")
	m.swap, errSwap = p.number(r, "memory.swap.current")
	m.oomKills, errOOM = p.counter(r, "memory.events")
	pressure, errPressure := p.file(r, "memory.pressure")
	if errPressure == nil {
		m.pressure, errPressure = parsePressure(pressure)
	}
	if errors.Is(errPressure, syscall.EOPNOTSUPP) { // psi=0 on the kernel command line
		errPressure = nil
	}
	return m, errors.Join(errStat, errLimit, absent(errSwap), errOOM, absent(errPressure))
}

// number reads a file with one number.
func (p *place) number(r *reader, name string) (*float64, error) {
	data, err := p.file(r, name)
	if err != nil {
		return nil, err
	}
	n, err := parseBytes(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &n, nil
}

// counter reads the number of killed processes. Kernels before 4.13 do not count them.
func (p *place) counter(r *reader, name string) (*float64, error) {
	data, err := p.file(r, name)
	if err != nil {
		return nil, absent(err)
	}
	n, err := parseKey(data, "oom_kill")
	switch {
	case errors.Is(err, errNoKey):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &n, nil
}

// workingSet returns the usage without the inactive page cache. The two are not read at the
// same time, so the difference can be negative.
func workingSet(usage float64, stat []byte, key string) (*float64, error) {
	inactive, err := parseKey(stat, key)
	if err != nil {
		return nil, fmt.Errorf("memory.stat: %w", err)
	}
	return new(max(usage-inactive, 0)), nil
}

// limitV1 returns the smallest limit of the cgroup and all its parents, or of the visible
// ones if memory.stat does not have it.
func (p *place) limitV1(r *reader, stat []byte) (*float64, error) {
	limit, err := parseKey(stat, "hierarchical_memory_limit")
	switch {
	case errors.Is(err, errNoKey):
		return p.smallestLimit(r, "memory.limit_in_bytes")
	case err != nil:
		return nil, fmt.Errorf("memory.stat: %w", err)
	}
	return new(limitV1(limit)), nil
}

// smallestLimit returns the smallest limit of the cgroup and its visible parents. The root
// cgroup of version 2 has none.
func (p *place) smallestLimit(r *reader, name string) (*float64, error) {
	smallest := math.Inf(1)
	dir := p.dir
	for i := range p.above + 1 {
		data, err := p.fileIn(r, dir, name)
		if i > 0 && errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			return nil, err
		}
		limit, err := parseLimit(data)
		if err != nil {
			return nil, fmt.Errorf("%s/%s: %w", dir, name, err)
		}
		smallest = min(smallest, limit)
		dir = filepath.Dir(dir)
	}
	return &smallest, nil
}

// absent returns nil for a missing file, for files that not every kernel has.
func absent(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// explain adds a hint to the error of a missing usage file of an existing cgroup.
func (p *place) explain(err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if _, gone := os.Stat(p.dir); gone != nil {
		return gone
	}
	help := "the memory controller is not enabled: expected memory in cgroup.subtree_control of the cgroup above"
	// Only the root cgroup has no cgroup.type. It has no memory.current either.
	if _, err := os.Stat(filepath.Join(p.dir, "cgroup.type")); errors.Is(err, fs.ErrNotExist) {
		help = "the root cgroup does not account for its memory: run the process in another cgroup, or set path"
	}
	return collectors.Errorf(noController, "%w: %s", err, help)
}

// reader reads small files into a reused buffer.
type reader struct{ buf []byte }

// read returns the content of a file, valid until the next call, and the number of its file
// system.
func (r *reader) read(path string) (data []byte, device uint64, err error) {
	const most = 64 << 10 // bytes: memory.stat has less than 4 KiB
	if r.buf == nil {
		r.buf = make([]byte, most)
	}
	// O_NONBLOCK: a FIFO or a device must not block the collector.
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, 0, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer syscall.Close(fd)
	var stat syscall.Stat_t
	if err := syscall.Fstat(fd, &stat); err != nil {
		return nil, 0, &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	n := 0
	for n < len(r.buf) {
		k, err := syscall.Read(fd, r.buf[n:])
		switch {
		case err == syscall.EINTR:
			continue
		case err != nil:
			return nil, 0, &fs.PathError{Op: "read", Path: path, Err: err}
		case k == 0:
			return r.buf[:n], uint64(stat.Dev), nil
		}
		n += k
	}
	return nil, 0, fmt.Errorf("%s has %d bytes or more", path, most)
}
