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

// besides returns where below the mount a cgroup is, as far as two paths tell that
// climb out of the own cgroup namespace: that many levels down, of which nobody tells
// the names (cgroup_namespaces(7)), and then at rest. A container that has the host's
// mount sees the container next to it so: the mount's root is /../../.. and the
// cgroup /../cri-containerd-7a.scope.
func (m cgroupMount) besides(cgroup string) (levels int, rest string, ok bool) {
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

// beside looks for a cgroup under the mounts whose roots and the cgroup itself are known
// by such paths only. It is the one of this name that has the process.
func (f *finder) beside(ctx context.Context, mounts []cgroupMount, cgroup string, v2 bool) *place {
	for _, m := range mounts {
		levels, rest, ok := m.besides(cgroup)
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

// descend returns the directory with the process that is rest below one of the
// directories that many levels below dir; empty is none.
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
		return "" // a cgroup that is removed meanwhile, or hidden
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

// contains says whether a cgroup has the process. The kernel writes the numbers of the
// PID namespace of the one who reads.
func (f *finder) contains(dir string) bool {
	pids, err := f.search.Files.ReadPath(filepath.Join(dir, "cgroup.procs"))
	return err == nil && slices.ContainsFunc(bytes.Fields(pids), func(pid []byte) bool { return string(pid) == strconv.Itoa(f.pid) })
}
