package process

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
)

// The values of Selector.PIDNamespace.
const (
	pidNamespaceOwn = "own"
	pidNamespaceAny = "any"
)

// The links of the namespaces that the kernel makes first, see PROC_PID_INIT_INO and
// PROC_CGROUP_INIT_INO in include/linux/proc_ns.h.
const (
	firstPIDNamespace    = "pid:[4026531836]"
	firstCgroupNamespace = "cgroup:[4026531835]"
)

// containerID is how container runtimes call the cgroup of a container, or a part of it.
var containerID = regexp.MustCompile(`^.*?[0-9a-f]{64}[^/]*`)

// ownProcesses tells the processes of Vitals' own PID namespace from those of others; and,
// in a container that was given the host's PID namespace, those of the container from all
// others of the host.
type ownProcesses struct {
	files *ProcReader
	// depth is how many PID namespaces Vitals is in, counted from the one that proc(5) is
	// of; 0 where the kernel does not tell. link is the innermost.
	depth int
	link  string
	// inside says by its cgroups whether a process is in the container; nil where Vitals
	// is in none, or has a PID namespace to itself.
	inside func(cgroups []byte) bool
}

// newOwnProcesses looks at Vitals itself, which is a process with a number.
func newOwnProcesses(files *ProcReader, self int) (*ownProcesses, error) {
	o := &ownProcesses{files: files}
	status, err := files.Read(self, "status")
	if err != nil {
		return nil, fmt.Errorf("look for the own PID namespace: %w", err)
	}
	o.depth = pidNamespaces(status)
	o.link, _ = os.Readlink(files.path(self, "ns/pid"))
	if o.link != firstPIDNamespace {
		return o, nil
	}
	cgroups, err := files.Read(self, "cgroup")
	if err != nil {
		return nil, fmt.Errorf("look for the own container: %w", err)
	}
	link, _ := os.Readlink(files.path(self, "ns/cgroup"))
	o.inside = insideContainer(link, cgroups)
	return o, nil
}

// insideContainer returns how to tell the processes of a container that has the host's PID
// namespace, by the cgroup namespace and the cgroups of one of them; nil for a process
// that is in no container. A cgroup namespace shows what is outside of it with a path that
// begins with /.., see cgroup_namespaces(7). Where the container has the host's, the
// container runtime's name for its cgroup tells.
func insideContainer(namespace string, cgroups []byte) func([]byte) bool {
	if namespace != "" && namespace != firstCgroupNamespace {
		return func(cgroups []byte) bool { return !inCgroup(cgroups, "/..") }
	}
	for line := range bytes.Lines(cgroups) {
		_, line, _ = bytes.Cut(line, []byte(":"))
		_, path, _ := bytes.Cut(bytes.TrimSuffix(line, []byte("\n")), []byte(":"))
		if container := containerID.Find(path); container != nil {
			prefix := string(container)
			return func(cgroups []byte) bool { return inCgroup(cgroups, prefix) }
		}
	}
	return nil
}

// has says whether a process is one of them.
func (o *ownProcesses) has(pid int) (bool, error) {
	status, err := o.files.Read(pid, "status")
	if err != nil {
		return false, err
	}
	if pidNamespaces(status) != o.depth {
		return false, nil
	}
	if o.depth > 1 { // proc(5) is of an outer namespace: as deep is not the same
		if link, err := os.Readlink(o.files.path(pid, "ns/pid")); err != nil || link != o.link {
			return false, err
		}
	}
	if o.inside == nil {
		return true, nil
	}
	cgroups, err := o.files.Read(pid, "cgroup")
	return err == nil && o.inside(cgroups), err
}

// pidNamespaces is in how many PID namespaces a process has a number: it has one in its
// own and in each around it, see NSpid in proc_pid_status(5).
func pidNamespaces(status []byte) int {
	numbers, _ := StatusLine(status, "NSpid")
	return len(bytes.Fields(numbers))
}
