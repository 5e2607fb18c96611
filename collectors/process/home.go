package process

import (
	"os"
	"slices"
	"strconv"
)

// home is where Vitals itself is among the processes. A search by what anybody may
// have in common would else find Vitals, or what has started it and has the name that is
// looked for among its arguments.
type home struct {
	files *ProcReader
	// self is Vitals; 0 where proc(5) is of a PID namespace that does not show it.
	self int
	// above are the processes that have started Vitals, without the first of the PID
	// namespace: that one inherits whatever has lost its parent, and is what a container
	// is there for as likely as not.
	above []int
	// below says of processes whether Vitals is among their ancestors, as far as that was
	// looked up: those that are searched for often have the same parent.
	below map[int]bool
}

// firstProcess is the number of the first process of each PID namespace.
const firstProcess = 1

func newProcessHome(files *ProcReader) *home {
	h := &home{files: files, below: make(map[int]bool)}
	link, _ := os.Readlink(files.Mount + "/self")
	h.self, _ = strconv.Atoi(link)
	for pid := h.parent(h.self); pid > firstProcess && !slices.Contains(h.above, pid); pid = h.parent(pid) {
		h.above = append(h.above, pid)
	}
	return h
}

// parent is the number of a process's parent; 0 is none that is known.
func (h *home) parent(pid int) int {
	stat, err := h.files.Stat(pid)
	if err != nil {
		return 0
	}
	return stat.parent
}

// related says whether a process is Vitals, has started it, or was started by it. Where
// Vitals is the first process, it inherits others, and only Vitals itself is known.
func (h *home) related(p foundProcess) bool {
	switch {
	case h.self == 0:
		return false
	case p.PID == h.self, slices.Contains(h.above, p.PID):
		return true
	}
	return h.self != firstProcess && h.descends(p.PID)
}

// descends says whether Vitals is a process, or one of its ancestors.
func (h *home) descends(pid int) bool {
	if pid <= firstProcess || pid == h.self {
		return pid == h.self
	}
	if _, known := h.below[pid]; !known {
		h.below[pid] = false // also where processes that come and go seem to go in a circle
		h.below[pid] = h.descends(h.parent(pid))
	}
	return h.below[pid]
}
