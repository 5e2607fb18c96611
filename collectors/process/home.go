package process

import (
	"os"
	"slices"
	"strconv"
)

// home is the position of Vitals in the tree of processes. Without it a search could find
// Vitals, or an ancestor with the text among its arguments.
type home struct {
	files *ProcReader
	// self is Vitals; 0 if the PID namespace of proc(5) does not show it.
	self int
	// above are the ancestors of Vitals without the first process of the PID namespace.
	// That one inherits orphans and is often the workload of a container.
	above []int
	// below caches whether Vitals is an ancestor of a process.
	below map[int]bool
}

// firstProcess is the number of the first process of each PID namespace.
const firstProcess = 1

func newHome(files *ProcReader) *home {
	h := &home{files: files, below: make(map[int]bool)}
	link, _ := os.Readlink(files.Mount + "/self")
	h.self, _ = strconv.Atoi(link)
	for pid := h.parent(h.self); pid > firstProcess && !slices.Contains(h.above, pid); pid = h.parent(pid) {
		h.above = append(h.above, pid)
	}
	return h
}

// parent returns the number of the parent of a process, 0 if unknown.
func (h *home) parent(pid int) int {
	stat, err := h.files.Stat(pid)
	if err != nil {
		return 0
	}
	return stat.parent
}

// related reports whether a process is Vitals, its ancestor or its descendant. A Vitals
// that is the first process inherits others, so only Vitals is related then.
func (h *home) related(p foundProcess) bool {
	switch {
	case h.self == 0:
		return false
	case p.PID == h.self, slices.Contains(h.above, p.PID):
		return true
	}
	return h.self != firstProcess && h.descends(p.PID)
}

// descends reports whether a process is Vitals or its descendant.
func (h *home) descends(pid int) bool {
	if pid <= firstProcess || pid == h.self {
		return pid == h.self
	}
	if _, known := h.below[pid]; !known {
		h.below[pid] = false // ends a cycle of reused numbers
		h.below[pid] = h.descends(h.parent(pid))
	}
	return h.below[pid]
}
