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

// FailureMetric is the reason of a failure. The kind capability exports it too.
var FailureMetric = collectors.NewGauge("vitals_process_failure", "Reason why something of the process is unknown: 1 for that reason, 0 for all others.", "process", "reason")

// Selector selects processes: by number, by a file with the number, or by a common name,
// program, argument or cgroup. The zero value selects Vitals. The kinds process, capability
// and cgroup share it.
type Selector struct {
	// PID is the number of a process, as ProcFS counts.
	PID int `yaml:"pid,omitempty"`
	// PIDFile is the absolute path of a file that holds the number of a process, as
	// ProcFS counts.
	PIDFile string `yaml:"pid_file,omitempty"`
	// Name is the name of the process: comm in proc(5), of which the kernel keeps 15
	// bytes. For a script it is the name of the script.
	Name string `yaml:"name,omitempty"`
	// Exe is the absolute path of the program in the mount namespace of the process.
	Exe string `yaml:"exe,omitempty"`
	// Argument is one element of the command line or its base name, such as the name of a
	// script after its interpreter.
	Argument string `yaml:"argument,omitempty"`
	// Cgroup is the cgroup of the process or a parent of it, as in /proc/PID/cgroup:
	// /system.slice/kuryr-cni.service, without the mount point.
	Cgroup string `yaml:"cgroup,omitempty"`
	// ProcFS is the mount point of proc(5). Empty is /proc. A container can mount that of
	// its host.
	ProcFS string `yaml:"procfs,omitempty"`
	// PIDNamespace restricts a search by name, program or argument to the PID namespace of
	// Vitals (own), or does not (any). Empty is own, or any with ProcFS.
	PIDNamespace string `yaml:"pid_namespace,omitempty"`
}

// UnmarshalYAML decodes the keys. It rejects those without a value: an empty name from a
// template or a variable would select Vitals.
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

// reason is the reason of a failure. The set is closed, because it is a label.
type reason string

const (
	// Gone is the reason for a process that does not exist.
	Gone       reason = "gone"
	pidFile    reason = "pid_file"   // the PID file is missing or holds no number
	forbidden  reason = "forbidden"  // the permission is missing
	unreadable reason = "unreadable" // invalid data, or no proc(5)
)

// reasons are all reasons in the order of the export.
func reasons() [4]reason {
	return [...]reason{Gone, pidFile, forbidden, unreadable}
}

// AddFailure appends the samples of FailureMetric; an empty reason is no failure.
func AddFailure(b *collectors.Batch, name string, reason reason) {
	for _, r := range reasons() {
		b.Set(FailureMetric, collectors.Number(r == reason), name, string(r))
	}
}

// Error is an error with its reason.
type Error = collectors.Error[reason]

// ReasonOf returns the reason of an error about a process, and "" for nil.
func ReasonOf(err error) reason {
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

// Keys returns the keys in use that select a process, in the order of the documentation.
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

// Problems returns the mistakes of the configuration. prefix is the path of the block, such
// as "process.".
func (s Selector) Problems(prefix string) []collectors.Problem {
	var problems []collectors.Problem
	if set := s.Keys(); len(set) > 1 {
		problems = append(problems, collectors.Problem{Path: strings.TrimSuffix(prefix, "."), Text: fmt.Sprintf("%s: expected at most one of pid, pid_file, name, exe, argument, cgroup", strings.Join(set, ", "))})
	}
	if s.PID < 0 {
		problems = append(problems, collectors.Problem{Path: prefix + "pid", Text: fmt.Sprintf("pid %d: expected a number above 0", s.PID)})
	}
	if strings.ContainsAny(s.Name, "/\n") {
		problems = append(problems, collectors.Problem{Path: prefix + "name", Text: fmt.Sprintf("name %q: expected the name of a process without its directory", s.Name)})
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

// searched reports whether s selects by a property that unrelated processes can have.
func (s Selector) searched() bool { return s.Name+s.Exe+s.Argument != "" }

// ownOnly reports whether a search ignores other PID namespaces.
func (s Selector) ownOnly() bool {
	return s.PIDNamespace == pidNamespaceOwn || s.PIDNamespace == "" && s.ProcFS == ""
}

// Mount returns the mount point of proc(5).
func (s Selector) Mount() string {
	if s.ProcFS == "" {
		return procfs.DefaultMountPoint
	}
	return s.ProcFS
}

// String describes the selection.
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
	return "the process of Vitals"
}
