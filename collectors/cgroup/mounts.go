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

// mount is a mount of a cgroup hierarchy or of a part of one.
type mount struct {
	// device is the number of the file system as in stat(2).
	device uint64
	// root is the cgroup at the mount point as in /proc/PID/cgroup.
	root string
	// point is the mount point.
	point string
	// v2 is the unified hierarchy; all others are of version 1.
	v2 bool
	// memory is whether a hierarchy of version 1 has the memory controller.
	memory bool
}

// parseMounts returns the mounts of cgroups in a mount table, see
// proc_pid_mountinfo(5).
func parseMounts(r io.Reader) ([]mount, error) {
	const longest = 1 << 20 // bytes: the options of a file system with many layers are one page and more
	var mounts []mount
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, longest)
	for lines.Scan() {
		m, err := parseMount(lines.Text())
		if err != nil {
			return nil, &collectors.Error[reason]{Reason: unreadable, Err: err}
		}
		if m.point != "" {
			// A later mount at the same directory hides an earlier one.
			mounts = slices.DeleteFunc(mounts, func(hidden mount) bool { return hidden.point == m.point })
			mounts = append(mounts, m)
		}
	}
	return mounts, lines.Err()
}

// parseMount reads one line. It returns the zero value for another file system.
func parseMount(line string) (mount, error) {
	const fixed = 6 // fields before the optional ones
	fields := strings.Split(line, " ")
	var kind []string // type, source and options of the file system
	if len(fields) > fixed {
		if i := slices.Index(fields[fixed:], "-"); i >= 0 {
			kind = fields[fixed+i+1:]
		}
	}
	if len(kind) < 3 {
		return mount{}, fmt.Errorf("mount table: %.80q is not a mount", line)
	}
	if kind[0] != "cgroup" && kind[0] != "cgroup2" {
		return mount{}, nil
	}
	device, err := parseDevice(fields[2])
	if err != nil {
		return mount{}, fmt.Errorf("mount table: %w", err)
	}
	return mount{
		device: device,
		root:   unescapeMount(fields[3]),
		point:  unescapeMount(fields[4]),
		v2:     kind[0] == "cgroup2",
		memory: slices.Contains(strings.Split(kind[2], ","), "memory"),
	}, nil
}

// parseDevice converts major:minor of the mount table to the number of stat(2), see
// makedev(3).
func parseDevice(text string) (uint64, error) {
	major, minor, _ := strings.Cut(text, ":")
	a, errA := strconv.ParseUint(major, 10, 32)
	i, errI := strconv.ParseUint(minor, 10, 32)
	if errA != nil || errI != nil {
		return 0, fmt.Errorf("%.32q is not a device number", text)
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

// below returns the path of a cgroup below the mount point, and false outside of the mounted
// part. Both paths are relative to the cgroup namespace of the reader. One outside of it
// begins with /.., see cgroup_namespaces(7).
func (m mount) below(cgroup string) (string, bool) {
	rest, ok := strings.CutPrefix(cgroup+"/", strings.TrimSuffix(m.root, "/")+"/")
	rest = "/" + strings.TrimSuffix(rest, "/")
	return rest, ok && path.Clean(rest) == rest
}

// parseMemoryCgroup returns the cgroup that accounts for the memory of a process, from its
// /proc/PID/cgroup: that of version 1 if the memory controller has a hierarchy there, else
// that of version 2, or "".
func parseMemoryCgroup(text string) (cgroup string, v2 bool, err error) {
	for line := range strings.Lines(text) {
		// A path may have colons, but no line break.
		parts := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(parts) < 3 || !strings.HasPrefix(parts[2], "/") {
			return "", false, collectors.Errorf(unreadable, "cgroups of process: %.80q is invalid", line)
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
