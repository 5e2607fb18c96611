package cgroup

import (
	"bufio"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/vitals-health/vitals/collectors"
)

// cgroupMount is a mount of a cgroup hierarchy, or of a part of one.
type cgroupMount struct {
	// device is the file system's number, as stat(2) has it.
	device uint64
	// root is the cgroup that is at the mount point, as /proc/PID/cgroup would have it.
	root string
	// point is the mount point.
	point string
	// v2 is the unified hierarchy; all others are of version 1.
	v2 bool
	// memory says whether a hierarchy of version 1 has the memory controller.
	memory bool
}

// parseCgroupMounts returns the mounts of cgroups in a mount table, see
// proc_pid_mountinfo(5).
func parseCgroupMounts(r io.Reader) ([]cgroupMount, error) {
	const longest = 1 << 20 // bytes: the options of a file system with many layers are one page and more
	var mounts []cgroupMount
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, longest)
	for lines.Scan() {
		m, err := parseCgroupMount(lines.Text())
		if err != nil {
			return nil, &collectors.Error[reason]{Reason: unreadable, Err: err}
		}
		if m.point != "" {
			// What is mounted later at the same directory hides what was there before.
			mounts = slices.DeleteFunc(mounts, func(hidden cgroupMount) bool { return hidden.point == m.point })
			mounts = append(mounts, m)
		}
	}
	return mounts, lines.Err()
}

// parseCgroupMount reads one line. It returns the zero value for another file system.
func parseCgroupMount(line string) (cgroupMount, error) {
	const fixed = 6 // fields before the optional ones
	fields := strings.Split(line, " ")
	var kind []string // type, source and options of the file system
	if len(fields) > fixed {
		if i := slices.Index(fields[fixed:], "-"); i >= 0 {
			kind = fields[fixed+i+1:]
		}
	}
	if len(kind) < 3 {
		return cgroupMount{}, fmt.Errorf("mount table: %.80q is no mount", line)
	}
	if kind[0] != "cgroup" && kind[0] != "cgroup2" {
		return cgroupMount{}, nil
	}
	device, err := parseDevice(fields[2])
	if err != nil {
		return cgroupMount{}, fmt.Errorf("mount table: %w", err)
	}
	return cgroupMount{
		device: device,
		root:   unescapeMount(fields[3]),
		point:  unescapeMount(fields[4]),
		v2:     kind[0] == "cgroup2",
		memory: slices.Contains(strings.Split(kind[2], ","), "memory"),
	}, nil
}

// parseDevice turns the mount table's major:minor into the number that stat(2)
// returns, see makedev(3).
func parseDevice(text string) (uint64, error) {
	major, minor, _ := strings.Cut(text, ":")
	a, errA := strconv.ParseUint(major, 10, 32)
	i, errI := strconv.ParseUint(minor, 10, 32)
	if errA != nil || errI != nil {
		return 0, fmt.Errorf("%.32q is no number of a device", text)
	}
	return i&0xff | a&0xfff<<8 | i&^0xff<<12 | a&^0xfff<<32, nil
}

// unescapeMount replaces the octal escapes of the mount table, such as \040 for a blank.
func unescapeMount(text string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+3 < len(text) {
			if c, err := strconv.ParseUint(text[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(c))
				i += 3
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// below returns where under the mount point a cgroup is. It is not there when it lies
// outside of the part that is mounted. Both paths are relative to the cgroup namespace
// of the process that reads, so one outside of it begins with /.. and its parts are
// names only after that, see cgroup_namespaces(7).
func (m cgroupMount) below(cgroup string) (string, bool) {
	rest, ok := strings.CutPrefix(cgroup+"/", strings.TrimSuffix(m.root, "/")+"/")
	rest = "/" + strings.TrimSuffix(rest, "/")
	return rest, ok && path.Clean(rest) == rest
}

// parseMemoryCgroup returns the cgroup in which the memory of a process is accounted
// for, out of its /proc/PID/cgroup: the one of version 1 if the memory controller has
// a hierarchy there, and else the one of version 2. Empty is neither.
func parseMemoryCgroup(text string) (cgroup string, v2 bool, err error) {
	for line := range strings.Lines(text) {
		// A path may have colons, but no line break.
		parts := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(parts) < 3 || !strings.HasPrefix(parts[2], "/") {
			return "", false, collectors.Errorf(unreadable, "cgroups of process: %.80q is none", line)
		}
		switch {
		case slices.Contains(strings.Split(parts[1], ","), "memory"):
			return parts[2], false, nil
		case parts[0] == "0" && parts[1] == "":
			cgroup, v2 = parts[2], true
		}
	}
	return cgroup, v2, nil
}
