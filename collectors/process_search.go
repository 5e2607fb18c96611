package collectors

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/prometheus/procfs"
)

// foundProcess is a process that a selector means, with what its stat said when it
// was found.
type foundProcess struct {
	procfs.Proc
	stat procfs.ProcStat
}

// ended says whether the process is a zombie: it has ended, and its parent has not
// asked for its exit status. A process whose first thread alone has ended is in the
// same state and runs on in its other threads.
func (p foundProcess) ended() bool {
	return strings.Contains("ZXx", p.stat.State) && p.stat.NumThreads <= 1
}

// processes are the processes that s means now and that have not ended, the oldest
// first and never none without an error. An error has its reason, see reasonOfProcess.
func (s ProcessSelector) processes(ctx context.Context) ([]procfs.Proc, error) {
	found, err := s.find(ctx)
	if err == nil && found[0].ended() {
		err = s.noneLeft(len(found))
	}
	if err != nil {
		return nil, err
	}
	var procs []procfs.Proc
	for _, p := range found {
		if !p.ended() {
			procs = append(procs, p.Proc)
		}
	}
	return procs, nil
}

// noneLeft is the error when all processes that were found have ended.
func (s ProcessSelector) noneLeft(zombies int) error {
	return &processError{processGone, fmt.Errorf("look for %s: it has ended and is a zombie (%d found)", s, zombies)}
}

// find returns the processes that s means now: those that run, the oldest first, and
// then the zombies. There is one at least, or an error with its reason.
func (s ProcessSelector) find(ctx context.Context) ([]foundProcess, error) {
	proc, err := procfs.NewFS(s.mount())
	if err != nil {
		return nil, &processError{processUnreadable, fmt.Errorf("open proc(5): %w", err)}
	}
	search := processSearch{ProcessSelector: s, proc: proc, files: procReader{mount: s.mount()}}
	switch {
	case s.PID > 0:
		return search.one(s.PID)
	case s.PIDFile != "":
		pid, err := readPIDFile(s.PIDFile)
		if err != nil {
			return nil, err
		}
		return search.one(pid)
	case len(s.keys()) == 0:
		return search.self()
	}
	return search.all(ctx)
}

// processSearch is one search. It is not safe for concurrent use.
type processSearch struct {
	ProcessSelector
	proc  procfs.FS
	files procReader
}

// self finds the process that asks, by the number that it has where proc(5) is from.
func (s *processSearch) self() ([]foundProcess, error) {
	link, err := os.Readlink(filepath.Join(s.mount(), "self"))
	if err != nil {
		return nil, &processError{processUnreadable, fmt.Errorf("look for the own process: %w", err)}
	}
	pid, err := strconv.Atoi(link)
	if err != nil {
		return nil, &processError{processUnreadable, fmt.Errorf("look for the own process: self is %.32q, want a number", link)}
	}
	return s.one(pid)
}

// one finds the process with a number. The number of a thread is none of a process,
// although proc(5) answers to it: a stale PID file may hold one.
func (s *processSearch) one(pid int) ([]foundProcess, error) {
	p, err := s.look(pid)
	if err != nil {
		if reasonOfProcess(err) == processGone {
			return nil, s.nothing(fmt.Errorf("no process %d", pid))
		}
		return nil, fmt.Errorf("look at process %d: %w", pid, err)
	}
	if status, err := s.files.read(pid, "status"); err == nil {
		if leader, ok := statusLine(status, "Tgid"); ok && string(leader) != strconv.Itoa(pid) {
			return nil, &processError{processGone, fmt.Errorf("no process %d: it is a thread of %s", pid, leader)}
		}
	}
	return []foundProcess{p}, nil
}

// look reads the stat of a process.
func (s *processSearch) look(pid int) (foundProcess, error) {
	p, err := s.proc.Proc(pid)
	if err != nil {
		return foundProcess{}, err
	}
	stat, err := p.Stat()
	return foundProcess{p, stat}, err
}

// all goes through all processes. One that vanishes meanwhile is none of them.
func (s *processSearch) all(ctx context.Context) ([]foundProcess, error) {
	pids, err := s.files.list()
	if err != nil {
		return nil, &processError{processUnreadable, fmt.Errorf("list processes: %w", err)}
	}
	var found []foundProcess
	var refused, odd error
	for _, pid := range pids {
		if ctx.Err() != nil {
			return nil, &processError{processUnreadable, fmt.Errorf("look for %s: %w", s, context.Cause(ctx))}
		}
		var p foundProcess
		ok, err := s.matches(pid)
		if ok {
			p, err = s.look(pid)
		}
		switch reasonOfProcess(err) {
		case "":
			if ok {
				found = append(found, p)
			}
		case processForbidden:
			refused = err
		case processUnreadable:
			odd = err
		}
	}
	switch {
	case len(found) > 0:
		slices.SortFunc(found, older)
		return found, nil
	case refused != nil:
		return nil, &processError{processForbidden, fmt.Errorf("look for %s: %w", s, refused)}
	case odd != nil:
		return nil, &processError{processUnreadable, fmt.Errorf("look for %s: %w", s, odd)}
	}
	return nil, s.nothing(fmt.Errorf("no process of %s", s))
}

// older puts those that run before those that have ended, and then the older first.
func older(a, b foundProcess) int {
	if a.ended() != b.ended() {
		if b.ended() {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(a.stat.Starttime, b.stat.Starttime), cmp.Compare(a.PID, b.PID))
}

// nothing is the error when no process was found: it is gone, unless processes are
// kept from us. Each process is in a PID namespace whose first process has the number
// 1, so that proc(5) shows that one, or hides processes of others: hidepid=invisible
// and hidepid=ptraceable do, see proc(5).
func (s *processSearch) nothing(err error) error {
	reason := processGone
	if _, first := os.Lstat(filepath.Join(s.mount(), "1")); first != nil {
		reason, err = processForbidden, fmt.Errorf("%w that is shown: %s hides those of other users", err, s.mount())
		if _, self := os.Lstat(filepath.Join(s.mount(), "self")); self != nil {
			reason, err = processUnreadable, fmt.Errorf("no processes in %s: expected a mount of proc(5)", s.mount())
		}
	}
	return &processError{reason, err}
}

// matches says whether a process is one of those that s means. What it reads costs
// once for each process of the host, so it is one small file.
func (s *processSearch) matches(pid int) (bool, error) {
	switch {
	case s.Name != "":
		return s.matchesName(pid)
	case s.Exe != "":
		exe, err := os.Readlink(s.files.path(pid, "exe"))
		if errors.Is(err, fs.ErrNotExist) { // a thread of the kernel, a zombie, or gone
			return false, nil
		}
		return exe == s.Exe || exe == s.Exe+" (deleted)", err
	}
	cgroups, err := s.files.read(pid, "cgroup")
	return err == nil && inCgroup(cgroups, s.Cgroup), err
}

// commBytes is how many bytes the kernel keeps of a process's name: TASK_COMM_LEN
// without the NUL, see PR_SET_NAME in prctl(2). Threads of the kernel may have more.
const commBytes = 15

// matchesName compares the names. One that is too long for the kernel is shared by all
// that begin alike, and so the program's arguments and its path are asked, too.
func (s *processSearch) matchesName(pid int) (bool, error) {
	comm, err := s.files.read(pid, "comm")
	if err != nil {
		return false, err
	}
	comm = bytes.TrimSuffix(comm, []byte("\n"))
	if len(s.Name) <= commBytes || len(comm) > commBytes {
		return string(comm) == s.Name || titled(comm, s.Name), nil
	}
	if string(comm) != s.Name[:commBytes] {
		return false, nil
	}
	exe, _ := os.Readlink(s.files.path(pid, "exe"))
	cmdline, _ := s.files.read(pid, "cmdline")
	return sameLongName(s.Name, cmdline, exe), nil
}

// titled says whether the name is the beginning of a title that the process has written
// over its arguments: "kuryr-daemon: master process [...]". Python's setproctitle, which
// daemons made with cotyledon use, gives the kernel such a title for the name, too.
func titled(comm []byte, name string) bool {
	rest, ok := bytes.CutPrefix(comm, []byte(name))
	return ok && len(rest) > 0 && rest[0] == ':'
}

// sameLongName tells apart processes whose names begin with the same 15 bytes: by the
// first of argv[0] to argv[2] and the program that begins like the name. A script is
// argv[1] of its interpreter, or argv[2] behind an option. Where none begins so, as in
// a process that has written its title over its arguments, nothing tells them apart.
func sameLongName(name string, cmdline []byte, exe string) bool {
	args := strings.SplitN(string(cmdline), "\x00", 4)
	args = args[:min(len(args), 3)]
	for _, arg := range append(args, strings.TrimSuffix(exe, " (deleted)")) {
		base := filepath.Base(arg)
		if rest, ok := strings.CutPrefix(base, name); ok && (rest == "" || strings.ContainsAny(rest[:1], ": ")) {
			return true
		}
		if strings.HasPrefix(base, name[:commBytes]) {
			return false
		}
	}
	return true
}

// inCgroup says whether one of the lines of /proc/PID/cgroup, which are ID:CONTROLLERS:PATH
// as cgroups(7) has it, is of the cgroup or of one below it.
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

// statusLine returns the value of a line of /proc/PID/status.
func statusLine(status []byte, key string) ([]byte, bool) {
	for line := range bytes.Lines(status) {
		if rest, ok := bytes.CutPrefix(line, []byte(key)); ok && len(rest) > 0 && rest[0] == ':' {
			return bytes.TrimSpace(rest[1:]), true
		}
	}
	return nil, false
}

// procReader reads the small files of proc(5), all into one buffer.
type procReader struct {
	mount string
	buf   []byte
}

// maxProcFile is the most that is read of a file, in bytes.
const maxProcFile = 1 << 20

// list returns the numbers of all processes that are shown.
func (r *procReader) list() ([]int, error) {
	dir, err := os.Open(r.mount)
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

func (r *procReader) path(pid int, file string) string {
	return r.mount + "/" + strconv.Itoa(pid) + "/" + file
}

// read returns a file of a process; the bytes are valid until the next call.
func (r *procReader) read(pid int, file string) ([]byte, error) {
	return r.readPath(r.path(pid, file))
}

// readPath returns a file by its path; the bytes are valid until the next call.
func (r *procReader) readPath(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	buf := bytes.NewBuffer(r.buf[:0])
	_, err = buf.ReadFrom(io.LimitReader(f, maxProcFile))
	r.buf = buf.Bytes()
	return r.buf, err
}

// children returns the numbers of a process's children, of all its threads. The error
// is fs.ErrNotExist if the process has ended, or the kernel was built without
// CONFIG_PROC_CHILDREN.
func (r *procReader) children(pid int) ([]int, error) {
	leader := strconv.Itoa(pid)
	threads, err := os.ReadDir(r.path(pid, "task"))
	if err != nil {
		return nil, err
	}
	var children []int
	for _, thread := range threads {
		text, err := r.read(pid, "task/"+thread.Name()+"/children")
		if errors.Is(err, fs.ErrNotExist) && thread.Name() != leader { // the thread has ended
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

// stateOfStat returns the letter of the state in /proc/PID/stat, which stands behind
// the name in parentheses; a name may have parentheses of its own.
func stateOfStat(stat []byte) byte {
	if i := bytes.LastIndexByte(stat, ')'); i >= 0 && i+2 < len(stat) {
		return stat[i+2]
	}
	return 0
}

// readPIDFile reads the number that a daemon wrote: the first line of the file.
func readPIDFile(path string) (int, error) {
	const most = 64 // bytes: a number of ten digits, and what surrounds it
	// A FIFO that nobody writes to would hang without O_NONBLOCK.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return 0, pidFileError(err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return 0, &processError{processPIDFile, fmt.Errorf("read PID file %s: expected a regular file", path)}
	}
	data := make([]byte, most)
	n, err := f.Read(data)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, pidFileError(err)
	}
	line, _, _ := strings.Cut(string(data[:n]), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil || pid <= 0 {
		return 0, &processError{processPIDFile, fmt.Errorf("read PID file %s: %.32q is no number of a process", path, line)}
	}
	return pid, nil
}

// pidFileError gives an error its reason: only a file that is not there says that
// there is no process.
func pidFileError(err error) error {
	reason := reasonOfProcess(err)
	if reason == processGone || errors.Is(err, syscall.ENOTDIR) {
		reason = processPIDFile
	}
	return &processError{reason, fmt.Errorf("read PID file: %w", err)}
}
