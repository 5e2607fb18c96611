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

// ProcReader reads the files of proc(5) into one buffer. A search reads a file of each
// process of the host, and os.ReadFile costs twice as much. It is not safe for concurrent
// use.
type ProcReader struct {
	// Mount is the mount point of proc(5).
	Mount string
	buf   []byte
}

const (
	// wholeProcFile is the least size of a partial read, in bytes: the kernel fills pages.
	// A smaller result is the whole file.
	wholeProcFile = 512
	// maxProcFile is the most that is read of a file, in bytes.
	maxProcFile = 1 << 20
)

// list returns the numbers of all visible processes in the order of the kernel.
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
	return parseStat(text)
}

// bootTime returns the start of the host in seconds since the epoch. A change of the wall
// clock changes it.
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

// maxFDs returns the limit of open descriptors of a process.
func (r *ProcReader) maxFDs(pid int) (float64, error) {
	text, err := r.Read(pid, "limits")
	if err != nil {
		return 0, err
	}
	return parseMaxFDs(text)
}

// children returns the numbers of the children of all threads of a process. The error is
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
		if ReasonOf(err) == Gone && thread.Name() != leader { // the thread has ended
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

// processStat has the used fields of /proc/PID/stat.
type processStat struct {
	// state is a letter, see processStates.
	state byte
	// parent is the number of the parent; 0 is one outside of the PID namespace.
	parent  int
	threads int
	// start is the start time in ticks after the start of the host. With the number it
	// identifies a process, and no change of a clock affects it.
	start uint64
	// pages is the number of pages in RAM.
	pages uint64
}

// Ended reports whether the process is a zombie. A process with only its first thread ended
// has the same state, but still has other threads.
func (s processStat) Ended() bool {
	return (s.state == 'Z' || s.state == 'X') && s.threads <= 1
}

// parseStat parses /proc/PID/stat. The fields are counted from the name in parentheses,
// which can contain parentheses and spaces.
func parseStat(text []byte) (processStat, error) {
	const state, parent, threads, start, pages = 0, 1, 17, 19, 21 // (3), (4), (20), (22) and (24) in proc_pid_stat(5)
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) <= pages || len(fields[state]) != 1 {
		return processStat{}, fmt.Errorf("stat %.64q: expected at least %d fields after the name", text, pages+1)
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

// parseMaxFDs returns the soft limit of open files in /proc/PID/limits.
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

// StatusLine returns the value of a line of /proc/PID/status. The name of a process cannot
// add a line: the kernel escapes a line break.
func StatusLine(status []byte, key string) ([]byte, bool) {
	for line := range bytes.Lines(status) {
		if rest, ok := bytes.CutPrefix(line, []byte(key)); ok && len(rest) > 0 && rest[0] == ':' {
			return bytes.TrimSpace(rest[1:]), true
		}
	}
	return nil, false
}

// inCgroup reports whether a line of /proc/PID/cgroup (ID:CONTROLLERS:PATH, cgroups(7)) is
// of the cgroup or of one below it.
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

// readPIDFile reads the number in the first line of a file. An error has a reason and never
// the content: a link may lead to a file that only Vitals may read.
func readPIDFile(path string) (int, error) {
	const most = 64 // bytes: a number of ten digits and space around it
	// Without O_NONBLOCK a FIFO without a writer would block.
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

// pidFileError gives an error its reason: pidFile for a missing file only.
func pidFileError(err error) error {
	reason := ReasonOf(err)
	if reason == Gone || errors.Is(err, syscall.ENOTDIR) {
		reason = pidFile
	}
	return collectors.Errorf(reason, "read PID file: %w", err)
}
