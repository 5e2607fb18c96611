package process

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/prometheus/procfs"

	"github.com/vitals-health/vitals/collectors"
)

// The metrics of the kind process.
var (
	FailureMetric = collectors.NewGauge("vitals_process_failure", "Why something is not known of the process: 1 for that reason, 0 for all others.", "process", "reason")
)

// Selector says which process is meant: the one of PID, the one whose number
// a file holds, or all that have a name, a program, an argument or a cgroup in common.
// Without any of them it is the process that asks. The kinds process, capability and
// cgroup share it.
type Selector struct {
	// PID is the number of a process, as ProcFS counts.
	PID int `yaml:"pid,omitempty"`
	// PIDFile is the absolute path of a file that holds the number of a process, as
	// ProcFS counts.
	PIDFile string `yaml:"pid_file,omitempty"`
	// Name is the process's name, of which the kernel keeps 15 bytes: comm in
	// proc(5). For a script that is the script's name.
	Name string `yaml:"name,omitempty"`
	// Exe is the absolute path of the program that the process runs, as the process
	// itself sees it.
	Exe string `yaml:"exe,omitempty"`
	// Argument is one element of the process's command line, as it is or without its
	// folder: the name of a script behind that of its interpreter.
	Argument string `yaml:"argument,omitempty"`
	// Cgroup is the cgroup of the process, or one above it, as /proc/PID/cgroup has
	// it: /system.slice/kuryr-cni.service, without the mount point.
	Cgroup string `yaml:"cgroup,omitempty"`
	// ProcFS is where proc(5) is mounted; /proc where it is not set. A container that
	// measures its host mounts the host's elsewhere.
	ProcFS string `yaml:"procfs,omitempty"`
	// PIDNamespace is own or any: whether a search by name, program or argument finds the
	// processes of Vitals' own PID namespace alone, or those of others that are shown, too.
	// Where it is not set, own, or any with ProcFS.
	PIDNamespace string `yaml:"pid_namespace,omitempty"`
}

// UnmarshalYAML decodes the keys, and refuses those without a value: a name that a
// template or a variable left empty would else select the process that asks.
func (s *Selector) UnmarshalYAML(unmarshal func(any) error) error {
	type plain Selector
	if err := unmarshal((*plain)(s)); err != nil {
		return err
	}
	return refuseEmpty(unmarshal)
}

// refuseEmpty returns the first key of a block that has no value.
func refuseEmpty(unmarshal func(any) error) error {
	var given map[string]any
	if err := unmarshal(&given); err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(given)) {
		if value := given[key]; value == nil || value == "" || value == 0 {
			return fmt.Errorf("%s is empty: expected a value, or no such key", key)
		}
	}
	return nil
}

// reason says why nothing is known of a process. The set is closed, because
// it is a label.
type reason string

const (
	// Gone means that there is no such process.
	Gone       reason = "gone"
	pidFile    reason = "pid_file"   // the PID file is missing or holds no number
	forbidden  reason = "forbidden"  // the kernel refuses to show it
	unreadable reason = "unreadable" // what the kernel shows makes no sense, or proc(5) is not there
)

// reasons are all of them, in the order in which they are exported.
func reasons() [4]reason {
	return [...]reason{Gone, pidFile, forbidden, unreadable}
}

// AddProcessFailure appends the reason of a round's failure; an empty one is none.
func AddProcessFailure(b *collectors.Batch, name string, reason reason) {
	for _, r := range reasons() {
		b.Set(FailureMetric, collectors.Number(r == reason), name, string(r))
	}
}

// Error is an error with its reason.
type Error = collectors.Error[reason]

// ReasonOfProcess is the reason why something could not be read of a process; nil is
// no reason.
func ReasonOfProcess(err error) reason {
	return collectors.ReasonOf(err, func(err error) reason {
		switch {
		case errors.Is(err, fs.ErrPermission):
			return forbidden
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ESRCH):
			return Gone
		}
		return unreadable
	})
}

// Keys are the keys that say which process is meant, in the order of the documentation.
func (s Selector) Keys() []string {
	var set []string
	for _, k := range []struct {
		name string
		set  bool
	}{{"pid", s.PID != 0}, {"pid_file", s.PIDFile != ""}, {"name", s.Name != ""}, {"exe", s.Exe != ""}, {"argument", s.Argument != ""}, {"cgroup", s.Cgroup != ""}} {
		if k.set {
			set = append(set, k.name)
		}
	}
	return set
}

// Problems returns the mistakes that can be seen without looking at any process;
// prefix leads to the block, as "process." does.
func (s Selector) Problems(prefix string) []collectors.Problem {
	var problems []collectors.Problem
	if set := s.Keys(); len(set) > 1 {
		problems = append(problems, collectors.Problem{Path: strings.TrimSuffix(prefix, "."), Text: fmt.Sprintf("%s: expected at most one of pid, pid_file, name, exe, argument, cgroup", strings.Join(set, ", "))})
	}
	if s.PID < 0 {
		problems = append(problems, collectors.Problem{Path: prefix + "pid", Text: fmt.Sprintf("pid %d: expected a number above 0", s.PID)})
	}
	if strings.ContainsAny(s.Name, "/\n") {
		problems = append(problems, collectors.Problem{Path: prefix + "name", Text: fmt.Sprintf("name %q: expected a process's name without its folder", s.Name)})
	}
	if strings.Contains(s.Argument, "\x00") {
		problems = append(problems, collectors.Problem{Path: prefix + "argument", Text: fmt.Sprintf("argument %q: expected no NUL", s.Argument)})
	}
	switch s.PIDNamespace {
	case "":
	case pidNamespaceOwn, pidNamespaceAny:
		if !s.searched() {
			problems = append(problems, collectors.Problem{Path: prefix + "pid_namespace", Text: "pid_namespace without a search: expected name, exe or argument, too"})
		}
	default:
		problems = append(problems, collectors.Problem{Path: prefix + "pid_namespace", Text: fmt.Sprintf("pid_namespace %q: expected own or any", s.PIDNamespace)})
	}
	for _, p := range []struct{ key, path string }{{"pid_file", s.PIDFile}, {"exe", s.Exe}, {"cgroup", s.Cgroup}, {"procfs", s.ProcFS}} {
		if p.path != "" && !filepath.IsAbs(p.path) {
			problems = append(problems, collectors.Problem{Path: prefix + p.key, Text: fmt.Sprintf("path %q: expected an absolute path", p.path)})
		}
	}
	return problems
}

// searched says whether processes are meant that have something in common which anybody
// else may have, too.
func (s Selector) searched() bool { return s.Name+s.Exe+s.Argument != "" }

// ownOnly says whether a search passes over the processes of other PID namespaces.
func (s Selector) ownOnly() bool {
	return s.PIDNamespace == pidNamespaceOwn || s.PIDNamespace == "" && s.ProcFS == ""
}

// Mount is where the processes are looked for.
func (s Selector) Mount() string {
	if s.ProcFS == "" {
		return procfs.DefaultMountPoint
	}
	return s.ProcFS
}

// String names the process for people.
func (s Selector) String() string {
	switch {
	case s.PID > 0:
		return "pid " + strconv.Itoa(s.PID)
	case s.PIDFile != "":
		return "pid_file " + s.PIDFile
	case s.Name != "":
		return "name " + s.Name
	case s.Exe != "":
		return "exe " + s.Exe
	case s.Argument != "":
		return "argument " + s.Argument
	case s.Cgroup != "":
		return "cgroup " + s.Cgroup
	}
	return "the own process"
}
