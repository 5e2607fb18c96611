package collectors

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/prometheus/procfs"
)

// ProcessSelector says which process is meant: the one of PID, the one whose number
// a file holds, or all that have a name, a program or a cgroup in common. Without
// any of them it is the process that asks. The kinds process, capability and cgroup
// share it.
type ProcessSelector struct {
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
	// Cgroup is the cgroup of the process, or one above it, as /proc/PID/cgroup has
	// it: /system.slice/kuryr-cni.service, without the mount point.
	Cgroup string `yaml:"cgroup,omitempty"`
	// ProcFS is where proc(5) is mounted; /proc where it is not set. A container that
	// measures its host mounts the host's elsewhere.
	ProcFS string `yaml:"procfs,omitempty"`
}

// processReason says why nothing is known of a process. The set is closed, because
// it is a label.
type processReason string

const (
	processGone       processReason = "gone"       // no such process
	processPIDFile    processReason = "pid_file"   // the PID file is missing or holds no number
	processForbidden  processReason = "forbidden"  // the kernel refuses to show it
	processUnreadable processReason = "unreadable" // what the kernel shows makes no sense, or proc(5) is not there
)

// processError is an error with its reason.
type processError struct {
	reason processReason
	err    error
}

func (e *processError) Error() string { return e.err.Error() }
func (e *processError) Unwrap() error { return e.err }

// reasonOfProcess is the reason why something could not be read of a process; nil is
// no reason.
func reasonOfProcess(err error) processReason {
	var known *processError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &known):
		return known.reason
	case errors.Is(err, fs.ErrPermission):
		return processForbidden
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ESRCH):
		return processGone
	}
	return processUnreadable
}

// keys are the keys that say which process is meant, in the order of the documentation.
func (s ProcessSelector) keys() []string {
	var set []string
	for _, k := range []struct {
		name string
		set  bool
	}{{"pid", s.PID != 0}, {"pid_file", s.PIDFile != ""}, {"name", s.Name != ""}, {"exe", s.Exe != ""}, {"cgroup", s.Cgroup != ""}} {
		if k.set {
			set = append(set, k.name)
		}
	}
	return set
}

// problems returns the mistakes that can be seen without looking at any process;
// prefix leads to the block, as "process." does.
func (s ProcessSelector) problems(prefix string) []Problem {
	var problems []Problem
	if set := s.keys(); len(set) > 1 {
		problems = append(problems, Problem{strings.TrimSuffix(prefix, "."), fmt.Sprintf("%s: expected at most one of pid, pid_file, name, exe, cgroup", strings.Join(set, ", "))})
	}
	if s.PID < 0 {
		problems = append(problems, Problem{prefix + "pid", fmt.Sprintf("pid %d: expected a number above 0", s.PID)})
	}
	if strings.ContainsAny(s.Name, "/\n") {
		problems = append(problems, Problem{prefix + "name", fmt.Sprintf("name %q: expected a process's name without its folder", s.Name)})
	}
	for _, p := range []struct{ key, path string }{{"pid_file", s.PIDFile}, {"exe", s.Exe}, {"cgroup", s.Cgroup}, {"procfs", s.ProcFS}} {
		if p.path != "" && !filepath.IsAbs(p.path) {
			problems = append(problems, Problem{prefix + p.key, fmt.Sprintf("path %q: expected an absolute path", p.path)})
		}
	}
	return problems
}

// processes are the processes that s means now, the oldest first and never none
// without an error. An error has its reason, see reasonOfProcess.
func (s ProcessSelector) processes(ctx context.Context) ([]procfs.Proc, error) {
	mount := s.ProcFS
	if mount == "" {
		mount = procfs.DefaultMountPoint
	}
	proc, err := procfs.NewFS(mount)
	if err != nil {
		return nil, &processError{processUnreadable, fmt.Errorf("open %s: %w", mount, err)}
	}
	switch {
	case s.PID > 0:
		return one(proc, s.PID)
	case s.PIDFile != "":
		pid, err := readPIDFile(s.PIDFile)
		if err != nil {
			return nil, &processError{processPIDFile, err}
		}
		return one(proc, pid)
	case len(s.keys()) == 0:
		self, err := proc.Self()
		if err != nil {
			return nil, &processError{reasonOfProcess(err), fmt.Errorf("look for the own process: %w", err)}
		}
		return []procfs.Proc{self}, nil
	}
	return s.search(ctx, proc)
}

// search goes through all processes. One that vanishes meanwhile is none of them.
func (s ProcessSelector) search(ctx context.Context, proc procfs.FS) ([]procfs.Proc, error) {
	all, err := proc.AllProcs()
	if err != nil {
		return nil, &processError{reasonOfProcess(err), fmt.Errorf("list processes: %w", err)}
	}
	type aged struct {
		procfs.Proc
		start uint64
	}
	var found []aged
	var refused error
	for _, p := range all {
		if ctx.Err() != nil {
			return nil, &processError{processUnreadable, fmt.Errorf("list processes: %w", context.Cause(ctx))}
		}
		ok, err := s.matches(p)
		if reasonOfProcess(err) == processForbidden {
			refused = err
		}
		if !ok {
			continue
		}
		stat, err := p.Stat()
		if err != nil {
			continue
		}
		found = append(found, aged{p, stat.Starttime})
	}
	switch {
	case len(found) > 0:
	case refused != nil:
		return nil, &processError{processForbidden, fmt.Errorf("look for %s: %w", s, refused)}
	default:
		return nil, &processError{processGone, fmt.Errorf("no process of %s", s)}
	}
	slices.SortFunc(found, func(a, b aged) int {
		if a.start != b.start {
			if a.start < b.start {
				return -1
			}
			return 1
		}
		return a.PID - b.PID
	})
	procs := make([]procfs.Proc, len(found))
	for i, p := range found {
		procs[i] = p.Proc
	}
	return procs, nil
}

// matches says whether a process is one of those that s means.
func (s ProcessSelector) matches(p procfs.Proc) (bool, error) {
	switch {
	case s.Name != "":
		const kept = 15 // TASK_COMM_LEN without the NUL, see proc(5)
		comm, err := p.Comm()
		return err == nil && comm == s.Name[:min(len(s.Name), kept)], err
	case s.Exe != "":
		exe, err := p.Executable()
		return err == nil && strings.TrimSuffix(exe, " (deleted)") == s.Exe, err
	}
	cgroups, err := p.Cgroups()
	if err != nil {
		return false, err
	}
	above := strings.TrimSuffix(s.Cgroup, "/") + "/"
	return slices.ContainsFunc(cgroups, func(c procfs.Cgroup) bool { return strings.HasPrefix(c.Path+"/", above) }), nil
}

// String names the process for people.
func (s ProcessSelector) String() string {
	switch {
	case s.PID > 0:
		return "pid " + strconv.Itoa(s.PID)
	case s.PIDFile != "":
		return "pid_file " + s.PIDFile
	case s.Name != "":
		return "name " + s.Name
	case s.Exe != "":
		return "exe " + s.Exe
	case s.Cgroup != "":
		return "cgroup " + s.Cgroup
	}
	return "the own process"
}

func one(proc procfs.FS, pid int) ([]procfs.Proc, error) {
	p, err := proc.Proc(pid)
	if err != nil {
		return nil, &processError{reasonOfProcess(err), fmt.Errorf("no process %d: %w", pid, err)}
	}
	return []procfs.Proc{p}, nil
}

// readPIDFile reads the number that a daemon wrote: the first line of the file.
func readPIDFile(path string) (int, error) {
	const most = 64 // bytes: a number of ten digits, and what surrounds it
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return 0, fmt.Errorf("read PID file: %w", err)
	}
	defer f.Close()
	data := make([]byte, most)
	n, _ := f.Read(data)
	line, _, _ := strings.Cut(string(data[:n]), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil || pid <= 0 {
		return 0, fmt.Errorf("read PID file %s: %.32q is no number of a process", path, line)
	}
	return pid, nil
}
