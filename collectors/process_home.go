package collectors

import (
	"os"
	"slices"
	"strconv"
)

// processHome is where Vitals itself is among the processes. A search by what anybody may
// have in common would else find Vitals, or what has started it and has the name that is
// looked for among its arguments.
type processHome struct {
	files *procReader
	// self is Vitals; 0 where proc(5) is of a PID namespace that does not show it.
	self int
	// above are the processes that have started Vitals, without the first of the PID
	// namespace: that one inherits whatever has lost its parent, and is what a container
	// is there for as likely as not.
	above []int
}

// firstProcess is the number of the first process of each PID namespace.
const firstProcess = 1

// mostAncestors bounds the way from a process to the first one.
const mostAncestors = 1000

func newProcessHome(files *procReader) *processHome {
	h := &processHome{files: files}
	link, _ := os.Readlink(files.mount + "/self")
	h.self, _ = strconv.Atoi(link)
	h.above = h.ancestors(h.self)
	return h
}

// ancestors are the processes above one, without the first.
func (h *processHome) ancestors(pid int) []int {
	var above []int
	for range mostAncestors {
		stat, err := h.files.stat(pid)
		if err != nil || stat.parent <= firstProcess {
			break
		}
		pid = stat.parent
		above = append(above, pid)
	}
	return above
}

// related says whether a process is Vitals, has started it, or was started by it. Where
// Vitals is the first process, it inherits others, and only Vitals itself is known.
func (h *processHome) related(p foundProcess) bool {
	switch {
	case h.self == 0:
		return false
	case p.PID == h.self, slices.Contains(h.above, p.PID):
		return true
	}
	return h.self != firstProcess && slices.Contains(h.ancestors(p.PID), h.self)
}
