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

// containerID matches the cgroup that a container runtime creates for a container.
var containerID = regexp.MustCompile(`^.*?[0-9a-f]{64}[^/]*`)

// ownProcesses selects the processes in the PID namespace of Vitals. In a container with
// the PID namespace of the host it selects those of the container.
type ownProcesses struct {
	files *ProcReader
	// depth is the number of nested PID namespaces of Vitals, from that of proc(5); 0 if
	// unknown. link identifies the innermost.
	depth int
	link  string
	// inside reports by its cgroups whether a process is in the container. It is nil
	// without a container and with a separate PID namespace.
	inside func(cgroups []byte) bool
}

// newOwnProcesses reads the namespaces of Vitals; self is its number.
func newOwnProcesses(files *ProcReader, self int) (*ownProcesses, error) {
	o := &ownProcesses{files: files}
	status, err := files.Read(self, "status")
	if err != nil {
		return nil, fmt.Errorf("find the PID namespace of Vitals: %w", err)
	}
	o.depth = pidNamespaces(status)
	o.link, _ = os.Readlink(files.path(self, "ns/pid"))
	if o.link != firstPIDNamespace {
		return o, nil
	}
	cgroups, err := files.Read(self, "cgroup")
	if err != nil {
		return nil, fmt.Errorf("find the container of Vitals: %w", err)
	}
	link, _ := os.Readlink(files.path(self, "ns/cgroup"))
	o.inside = insideContainer(link, cgroups)
	return o, nil
}

// insideContainer returns a test for the processes of a container with the PID namespace of
// the host; nil without a container. The arguments are those of one of its processes. In a
// cgroup namespace, the path of a process outside begins with /.., see
// cgroup_namespaces(7). With the cgroup namespace of the host, the name that the container
// runtime gave to the cgroup is compared.
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

// has reports whether a process is one of them.
func (o *ownProcesses) has(pid int) (bool, error) {
	status, err := o.files.Read(pid, "status")
	if err != nil {
		return false, err
	}
	if pidNamespaces(status) != o.depth {
		return false, nil
	}
	if o.depth > 1 { // proc(5) is of an outer namespace: another one can have the same depth
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

// pidNamespaces returns the number of nested PID namespaces of a process, see NSpid in
// proc_pid_status(5).
func pidNamespaces(status []byte) int {
	numbers, _ := StatusLine(status, "NSpid")
	return len(bytes.Fields(numbers))
}
