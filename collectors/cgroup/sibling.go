package cgroup

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// levelsBelow returns the position of a cgroup below the mount, if the paths of both leave
// the cgroup namespace: rest, below that many levels with unknown names
// (cgroup_namespaces(7)). An example is another container seen from a container with the
// mount of the host: the root of the mount is /../../.. and the cgroup
// /../cri-containerd-7a.scope.
func (m mount) levelsBelow(cgroup string) (levels int, rest string, ok bool) {
	rest = cgroup
	for root := m.root; root != ""; levels++ {
		if root, ok = strings.CutPrefix(root, "/.."); !ok {
			return 0, "", false
		}
	}
	for levels > 0 && strings.HasPrefix(rest+"/", "/../") {
		rest = strings.TrimPrefix(rest, "/..")
		levels--
	}
	return levels, rest, levels > 0 && filepath.Clean("/"+rest) == "/"+strings.TrimPrefix(rest, "/")
}

// sibling searches for a cgroup outside of the cgroup namespace of Vitals. The result has
// this name and contains the process.
func (f *finder) sibling(ctx context.Context, mounts []mount, cgroup string, v2 bool) *place {
	for _, m := range mounts {
		levels, rest, ok := m.levelsBelow(cgroup)
		if !ok || m.v2 != v2 || !v2 && !m.memory {
			continue
		}
		if dir := f.descend(ctx, m.point, levels, rest); dir != "" {
			if at, err := m.place(mounts, strings.TrimPrefix(dir, m.point), dir); err == nil {
				return at
			}
		}
	}
	return nil
}

// descend searches the directories the given number of levels below dir for one whose
// subdirectory rest contains the process; "" is none.
func (f *finder) descend(ctx context.Context, dir string, levels int, rest string) string {
	if levels == 0 {
		dir = filepath.Join(dir, rest)
		if f.contains(dir) {
			return dir
		}
		return ""
	}
	entries, err := os.ReadDir(dir)
	if err != nil || ctx.Err() != nil {
		return "" // a removed or hidden cgroup
	}
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		if found := f.descend(ctx, filepath.Join(dir, e.Name()), levels-1, rest); found != "" {
			return found
		}
	}
	return ""
}

// contains reports whether a cgroup has the process. The kernel writes the numbers of the
// PID namespace of the reader.
func (f *finder) contains(dir string) bool {
	pids, err := f.search.Files.ReadPath(filepath.Join(dir, "cgroup.procs"))
	return err == nil && slices.ContainsFunc(bytes.Fields(pids), func(pid []byte) bool { return string(pid) == strconv.Itoa(f.pid) })
}
