package process

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/internal/files"
)

// ProcReader reads the files of proc(5), all into one buffer. It asks the kernel for as
// little as it can, because a search reads a file of each process of the host: os.ReadFile
// costs twice as much.
type ProcReader struct {
	Mount string
	buf   []byte
}

const (
	// wholeProcFile is what the kernel hands out at once, in bytes, at least: it fills
	// pages. A file that is smaller needs no second read to see its end.
	wholeProcFile = 512
	// maxProcFile is the most that is read of a file, in bytes.
	maxProcFile = 1 << 20
)

// list returns the numbers of all processes that are shown, in the kernel's order.
func (r *ProcReader) list() ([]int, error) {
	dir, err := os.Open(r.Mount)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	pids := make([]int, 0, len(names))
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil && pid > 0 {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

func (r *ProcReader) path(pid int, file string) string {
	return r.Mount + "/" + strconv.Itoa(pid) + "/" + file
}

// Read returns a file of a process; the bytes are valid until the next call.
func (r *ProcReader) Read(pid int, file string) ([]byte, error) {
	return r.ReadPath(r.path(pid, file))
}

// ReadPath returns a file; the bytes are valid until the next call.
func (r *ProcReader) ReadPath(path string) ([]byte, error) {
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer syscall.Close(fd)
	r.buf = r.buf[:0]
	for len(r.buf) < maxProcFile {
		r.buf = slices.Grow(r.buf, wholeProcFile)
		n, err := syscall.Read(fd, r.buf[len(r.buf):cap(r.buf)])
		if err != nil {
			return nil, &fs.PathError{Op: "read", Path: path, Err: err}
		}
		r.buf = r.buf[:len(r.buf)+n]
		if n == 0 || len(r.buf) < wholeProcFile {
			break
		}
	}
	return r.buf, nil
}

// Stat reads the stat of a process.
func (r *ProcReader) Stat(pid int) (processStat, error) {
	text, err := r.Read(pid, "stat")
	if err != nil {
		return processStat{}, err
	}
	return parseProcessStat(text)
}

// bootTime returns when the host was started, in seconds since the epoch. It moves when
// the clock is set.
func (r *ProcReader) bootTime() (float64, error) {
	text, err := r.ReadPath(r.Mount + "/stat")
	if err != nil {
		return 0, err
	}
	_, line, _ := bytes.Cut(text, []byte("\nbtime "))
	line, _, _ = bytes.Cut(line, []byte("\n"))
	boot, err := strconv.ParseUint(string(line), 10, 63)
	if err != nil {
		return 0, collectors.Errorf(unreadable, "no number btime in %s/stat", r.Mount)
	}
	return float64(boot), nil
}

// maxFDs returns how many descriptors a process may open.
func (r *ProcReader) maxFDs(pid int) (float64, error) {
	text, err := r.Read(pid, "limits")
	if err != nil {
		return 0, err
	}
	return parseMaxFDs(text)
}

// children returns the numbers of a process's children, of all its threads. The error is
// fs.ErrNotExist if the process has ended, or if the kernel was built without
// CONFIG_PROC_CHILDREN.
func (r *ProcReader) children(pid int) ([]int, error) {
	leader := strconv.Itoa(pid)
	threads, err := os.ReadDir(r.path(pid, "task"))
	if err != nil {
		return nil, err
	}
	var children []int
	for _, thread := range threads {
		text, err := r.Read(pid, "task/"+thread.Name()+"/children")
		if ReasonOfProcess(err) == Gone && thread.Name() != leader { // the thread has ended
			continue
		}
		if err != nil {
			return nil, err
		}
		for number := range bytes.FieldsSeq(text) {
			if child, err := strconv.Atoi(string(number)); err == nil {
				children = append(children, child)
			}
		}
	}
	return children, nil
}

// processStat is what /proc/PID/stat says, as far as it is of use.
type processStat struct {
	// state is a letter, see processStates.
	state byte
	// parent is the number of the process that has started this one, or of the one that
	// has inherited it; 0 is one outside of the PID namespace.
	parent  int
	threads int
	// start is when the process was started, in ticks after the host was: no two
	// processes have both this and their number in common, and no clock moves it.
	start uint64
	// pages are those in RAM.
	pages uint64
}

// ended says whether the process is a zombie: it has ended, and its parent has not asked
// for its exit status. A process whose first thread alone has ended is in the same state,
// and runs on in its other threads.
func (s processStat) Ended() bool {
	return (s.state == 'Z' || s.state == 'X') && s.threads <= 1
}

// parseProcessStat reads /proc/PID/stat: its fields are counted from the name, which
// stands in parentheses and may have parentheses and spaces of its own.
func parseProcessStat(text []byte) (processStat, error) {
	const state, parent, threads, start, pages = 0, 1, 17, 19, 21 // (3), (4), (20), (22) and (24) in proc_pid_stat(5)
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) <= pages || len(fields[state]) != 1 {
		return processStat{}, fmt.Errorf("stat %.64q: expected at least %d fields behind the name", text, pages+1)
	}
	s := processStat{state: fields[state][0]}
	var errs [4]error
	s.parent, errs[0] = strconv.Atoi(string(fields[parent]))
	s.threads, errs[1] = strconv.Atoi(string(fields[threads]))
	s.start, errs[2] = strconv.ParseUint(string(fields[start]), 10, 64)
	s.pages, errs[3] = strconv.ParseUint(string(fields[pages]), 10, 64)
	if err := errors.Join(errs[:]...); err != nil {
		return processStat{}, fmt.Errorf("stat %.64q: %w", text, err)
	}
	return s, nil
}

// parseMaxFDs reads the limit that holds, which is the soft one, out of /proc/PID/limits.
func parseMaxFDs(limits []byte) (float64, error) {
	for line := range bytes.Lines(limits) {
		rest, ok := bytes.CutPrefix(line, []byte("Max open files"))
		soft := bytes.Fields(rest)
		if !ok || len(soft) == 0 {
			continue
		}
		if string(soft[0]) == "unlimited" {
			return math.Inf(1), nil
		}
		n, err := strconv.ParseUint(string(soft[0]), 10, 64)
		if err != nil {
			return 0, fmt.Errorf("limits: %.32q is no number of open files", soft[0])
		}
		return float64(n), nil
	}
	return 0, errors.New("limits: no line Max open files")
}

// StatusLine returns the value of a line of /proc/PID/status. The name of the process,
// which anyone may choose, cannot make a line: the kernel writes a line break as \n.
func StatusLine(status []byte, key string) ([]byte, bool) {
	for line := range bytes.Lines(status) {
		if rest, ok := bytes.CutPrefix(line, []byte(key)); ok && len(rest) > 0 && rest[0] == ':' {
			return bytes.TrimSpace(rest[1:]), true
		}
	}
	return nil, false
}

// inCgroup says whether one of the lines of /proc/PID/cgroup, which are
// ID:CONTROLLERS:PATH as cgroups(7) has it, is of the cgroup or of one below it.
func inCgroup(lines []byte, cgroup string) bool {
	cgroup = strings.TrimSuffix(cgroup, "/")
	for line := range bytes.Lines(lines) {
		_, line, _ = bytes.Cut(line, []byte(":"))
		_, path, _ := bytes.Cut(bytes.TrimSuffix(line, []byte("\n")), []byte(":"))
		rest, ok := bytes.CutPrefix(path, []byte(cgroup))
		if ok && len(path) > 0 && (len(rest) == 0 || rest[0] == '/' || string(rest) == " (deleted)") {
			return true
		}
	}
	return false
}

// readPIDFile reads the number that a daemon wrote: the first line of the file. An error
// has its reason, and nothing of the content: where others may write the path, it may
// lead to a file that only Vitals may read.
func readPIDFile(path string) (int, error) {
	const most = 64 // bytes: a number of ten digits, and what surrounds it
	// Without O_NONBLOCK a FIFO that nobody writes to would hang.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return 0, pidFileError(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, pidFileError(err)
	}
	if !info.Mode().IsRegular() {
		return 0, collectors.Errorf(pidFile, "read PID file %s: it is a %s, expected a regular file", path, files.Type(info.Mode()))
	}
	data := make([]byte, most)
	n, err := f.Read(data)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, pidFileError(err)
	}
	line, _, _ := strings.Cut(string(data[:n]), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil || pid <= 0 {
		return 0, collectors.Errorf(pidFile, "read PID file %s: its first line is no number of a process", path)
	}
	return pid, nil
}

// pidFileError gives an error its reason: only a file that is not there says that there
// is no process.
func pidFileError(err error) error {
	reason := ReasonOfProcess(err)
	if reason == Gone || errors.Is(err, syscall.ENOTDIR) {
		reason = pidFile
	}
	return collectors.Errorf(reason, "read PID file: %w", err)
}
