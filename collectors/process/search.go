package process

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"
	"github.com/vitals-health/vitals/collectors"
)

// foundProcess is a process that a selector means, with what its stat said when it
// was found.
type foundProcess struct {
	procfs.Proc
	processStat
}

// Processes are the processes that s means now and that have not ended, the oldest
// first and never none without an error. An error has its reason, see ReasonOfProcess.
func (s Selector) Processes(ctx context.Context) ([]procfs.Proc, error) {
	found, err := s.find(ctx)
	if err != nil {
		return nil, err
	}
	running := stillRunning(found)
	if len(running) == 0 {
		return nil, s.noneLeft(len(found))
	}
	procs := make([]procfs.Proc, len(running))
	for i, p := range running {
		procs[i] = p.Proc
	}
	return procs, nil
}

// stillRunning are those of the processes that find returned that have not ended.
func stillRunning(found []foundProcess) []foundProcess {
	if i := slices.IndexFunc(found, foundProcess.Ended); i >= 0 {
		return found[:i]
	}
	return found
}

// noneLeft is the error when all processes that were found have ended.
func (s Selector) noneLeft(zombies int) error {
	return collectors.Errorf(Gone, "look for %s: it has ended and is a zombie (%d found)", s, zombies)
}

// find returns the processes that s means now: those that run, the oldest first, and
// then the zombies. There is one at least, or an error with its reason.
func (s Selector) find(ctx context.Context) ([]foundProcess, error) {
	proc, err := procfs.NewFS(s.Mount())
	if err != nil {
		return nil, procError("open proc(5)", err)
	}
	search := Search{Selector: s, proc: proc, Files: ProcReader{Mount: s.Mount()}}
	switch {
	case s.PID > 0:
		return search.one(s.PID)
	case s.PIDFile != "":
		pid, err := readPIDFile(s.PIDFile)
		if err != nil {
			return nil, err
		}
		return search.one(pid)
	case len(s.Keys()) == 0:
		return search.self()
	}
	return search.all(ctx)
}

// procError is the error when proc(5) itself cannot be read, which is no sign that a
// process is gone.
func procError(operation string, err error) error {
	reason := ReasonOfProcess(err)
	if reason != forbidden {
		reason = unreadable
	}
	return collectors.Errorf(reason, "%s: %w", operation, err)
}

// Search is one search. It is not safe for concurrent use.
type Search struct {
	Selector
	proc  procfs.FS
	Files ProcReader
	// home and own are nil until they are needed: most processes match nothing.
	home *home
	own  *ownProcesses
	// related and foreign are the numbers of processes that match, and are not meant.
	related, foreign []int
}

// self finds the process that asks, by the number that it has where proc(5) is from.
func (s *Search) self() ([]foundProcess, error) {
	link, err := os.Readlink(filepath.Join(s.Mount(), "self"))
	if err != nil {
		return nil, procError("look for the own process", err)
	}
	pid, err := strconv.Atoi(link)
	if err != nil {
		return nil, collectors.Errorf(unreadable, "look for the own process: self is %.32q, want a number", link)
	}
	return s.one(pid)
}

// one finds the process with a number. The number of a thread is none of a process,
// although proc(5) answers to it: a stale PID file may hold one.
func (s *Search) one(pid int) ([]foundProcess, error) {
	p, err := s.look(pid)
	if err != nil {
		if ReasonOfProcess(err) == Gone {
			return nil, s.nothing(fmt.Errorf("no process %d", pid))
		}
		return nil, fmt.Errorf("look at process %d: %w", pid, err)
	}
	status, err := s.Files.Read(pid, "status")
	if leader, ok := StatusLine(status, "Tgid"); err == nil && ok && string(leader) != strconv.Itoa(pid) {
		return nil, collectors.Errorf(Gone, "no process %d: it is a thread of %s", pid, leader)
	}
	return []foundProcess{p}, nil
}

// look reads the stat of a process.
func (s *Search) look(pid int) (foundProcess, error) {
	p, err := s.proc.Proc(pid)
	if err != nil {
		return foundProcess{}, err
	}
	stat, err := s.Files.Stat(pid)
	return foundProcess{p, stat}, err
}

// all goes through all processes. One that vanishes meanwhile is none of them.
func (s *Search) all(ctx context.Context) ([]foundProcess, error) {
	pids, err := s.Files.list()
	if err != nil {
		return nil, procError("list processes", err)
	}
	var found []foundProcess
	var refused, odd error
	for _, pid := range pids {
		if ctx.Err() != nil {
			return nil, collectors.Errorf(unreadable, "look for %s: %w", s, context.Cause(ctx))
		}
		p, ok, err := s.meant(pid)
		switch ReasonOfProcess(err) {
		case "":
			if ok {
				found = append(found, p)
			}
		case forbidden:
			refused = err
		case unreadable:
			odd = err
		}
	}
	switch {
	case len(found) > 0:
		slices.SortFunc(found, older)
		return found, nil
	case refused != nil:
		return nil, collectors.Errorf(forbidden, "look for %s: %w", s, refused)
	case odd != nil:
		return nil, collectors.Errorf(unreadable, "look for %s: %w", s, odd)
	}
	return nil, s.nothing(s.noProcess())
}

// meant says whether a process is one of those that s means, and looks at it.
func (s *Search) meant(pid int) (p foundProcess, ok bool, err error) {
	if ok, err := s.Matches(pid); !ok || err != nil {
		return p, false, err
	}
	if p, err = s.look(pid); err != nil || !s.searched() {
		return p, err == nil, err
	}
	if s.home == nil {
		s.home = newProcessHome(&s.Files)
	}
	if s.home.related(p) {
		s.related = append(s.related, pid)
		return p, false, nil
	}
	if !s.ownOnly() || s.PIDNamespace == "" && s.home.self == 0 {
		return p, true, nil
	}
	if s.own == nil {
		if s.own, err = newOwnProcesses(&s.Files, s.home.self); err != nil {
			return p, false, &Error{Reason: unreadable, Err: err}
		}
	}
	if ok, err = s.own.has(pid); err == nil && !ok {
		s.foreign = append(s.foreign, pid)
	}
	return p, ok, err
}

// noProcess is what to say when a search has found nothing.
func (s *Search) noProcess() error {
	target, err := filepath.EvalSymlinks(s.Exe)
	if err == nil && s.Exe != "" && target != s.Exe {
		return fmt.Errorf("no process of %s, which links to %s: processes show that", s, target)
	}
	if len(s.foreign) > 0 {
		return fmt.Errorf("no process of %s in the own PID namespace and container, as %d is in another: pid_namespace any means those, too", s, slices.Min(s.foreign))
	}
	if len(s.related) > 0 {
		return fmt.Errorf("no process of %s but %d, which is Vitals, has started it or was started by it: only pid and pid_file mean such a process", s, slices.Min(s.related))
	}
	return fmt.Errorf("no process of %s", s)
}

// older puts those that run before those that have ended, and then the older first.
func older(a, b foundProcess) int {
	if a.Ended() != b.Ended() {
		if b.Ended() {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.PID, b.PID))
}

// nothing is the error when no process was found: it is gone, unless processes are
// kept from us. Each process is in a PID namespace whose first process has the number
// 1, so that proc(5) shows that one, or hides processes of others: hidepid=invisible
// and hidepid=ptraceable do, see proc(5).
func (s *Search) nothing(err error) error {
	reason := Gone
	if _, first := os.Lstat(filepath.Join(s.Mount(), "1")); first != nil {
		reason, err = forbidden, fmt.Errorf("%w that is shown: %s hides those of other users", err, s.Mount())
		if _, self := os.Lstat(filepath.Join(s.Mount(), "self")); self != nil {
			reason, err = unreadable, fmt.Errorf("no processes in %s: expected a mount of proc(5)", s.Mount())
		}
	}
	return &Error{Reason: reason, Err: err}
}

// Matches says whether a process is one of those that s means. What it reads costs
// once for each process of the host, so it is one small file.
func (s *Search) Matches(pid int) (bool, error) {
	switch {
	case s.Name != "":
		return s.matchesName(pid)
	case s.Exe != "":
		exe, err := os.Readlink(s.Files.path(pid, "exe"))
		if errors.Is(err, fs.ErrNotExist) { // a thread of the kernel, a zombie, or gone
			return false, nil
		}
		return exe == s.Exe || exe == s.Exe+" (deleted)", err
	case s.Argument != "":
		cmdline, err := s.Files.Read(pid, "cmdline")
		return err == nil && hasArgument(cmdline, s.Argument), err
	}
	cgroups, err := s.Files.Read(pid, "cgroup")
	return err == nil && inCgroup(cgroups, s.Cgroup), err
}

// commBytes is how many bytes the kernel keeps of a process's name: TASK_COMM_LEN
// without the NUL, see PR_SET_NAME in prctl(2). Threads of the kernel may have more.
const commBytes = 15

// matchesName compares the names. One that is too long for the kernel is shared by all
// that begin alike, and so the program's arguments and its path are asked, too.
func (s *Search) matchesName(pid int) (bool, error) {
	comm, err := s.Files.Read(pid, "comm")
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
	exe, _ := os.Readlink(s.Files.path(pid, "exe"))
	cmdline, _ := s.Files.Read(pid, "cmdline")
	return sameLongName(s.Name, cmdline, exe), nil
}

// hasArgument says whether the argument is an element of a command line, or one without
// its folder. Of an option, as in --log-dir=/var/log/nova, the whole counts. A process
// that has written a title over its arguments has no others, and is told by what is before
// the title's first colon or space: "neutron-dhcp-agent (/usr/bin/python3 ...)".
func hasArgument(cmdline []byte, argument string) bool {
	first := true
	for element := range bytes.SplitSeq(cmdline, []byte{0}) {
		if string(element) == argument {
			return true
		}
		if base := element[bytes.LastIndexByte(element, '/')+1:]; string(base) == argument && element[0] != '-' {
			return true
		}
		rest, begins := bytes.CutPrefix(element, []byte(argument))
		if first && begins && (rest[0] == ':' || rest[0] == ' ') {
			return true
		}
		first = false
	}
	return false
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
		if !strings.HasPrefix(arg, name[:commBytes]) { // a title may have slashes of its own
			arg = filepath.Base(arg)
		}
		if rest, ok := strings.CutPrefix(arg, name); ok && (rest == "" || strings.ContainsAny(rest[:1], ": ")) {
			return true
		}
		if strings.HasPrefix(arg, name[:commBytes]) {
			return false
		}
	}
	return true
}
