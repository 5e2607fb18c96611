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

// foundProcess is a selected process with its stat at that time.
type foundProcess struct {
	procfs.Proc
	processStat
}

// Processes returns the running processes that s selects, the oldest first: at least one,
// or an error with a reason (ReasonOf).
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

// stillRunning returns the processes of find that have not ended.
func stillRunning(found []foundProcess) []foundProcess {
	if i := slices.IndexFunc(found, foundProcess.Ended); i >= 0 {
		return found[:i]
	}
	return found
}

// noneLeft is the error for zombies only.
func (s Selector) noneLeft(zombies int) error {
	return collectors.Errorf(Gone, "find %s: it has ended and is a zombie (%d found)", s, zombies)
}

// find returns the processes that s selects: the running ones, the oldest first, then the
// zombies. It returns at least one, or an error with a reason.
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

// procError is the error for an unreadable proc(5). It never has the reason Gone.
func procError(operation string, err error) error {
	reason := ReasonOf(err)
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
	// home and own are created on first use.
	home *home
	own  *ownProcesses
	// related and foreign are the numbers of processes that match and are excluded.
	related, foreign []int
}

// self finds the process of Vitals by its number in this proc(5).
func (s *Search) self() ([]foundProcess, error) {
	link, err := os.Readlink(filepath.Join(s.Mount(), "self"))
	if err != nil {
		return nil, procError("find the process of Vitals", err)
	}
	pid, err := strconv.Atoi(link)
	if err != nil {
		return nil, collectors.Errorf(unreadable, "find the process of Vitals: self is %.32q, want a number", link)
	}
	return s.one(pid)
}

// one finds the process with a number. It rejects the number of a thread, which proc(5)
// accepts and a stale PID file may have.
func (s *Search) one(pid int) ([]foundProcess, error) {
	p, err := s.read(pid)
	if err != nil {
		if ReasonOf(err) == Gone {
			return nil, s.nothing(fmt.Errorf("no process %d", pid))
		}
		return nil, fmt.Errorf("read process %d: %w", pid, err)
	}
	status, err := s.Files.Read(pid, "status")
	if leader, ok := StatusLine(status, "Tgid"); err == nil && ok && string(leader) != strconv.Itoa(pid) {
		return nil, collectors.Errorf(Gone, "no process %d: it is a thread of %s", pid, leader)
	}
	return []foundProcess{p}, nil
}

// read reads the stat of a process.
func (s *Search) read(pid int) (foundProcess, error) {
	p, err := s.proc.Proc(pid)
	if err != nil {
		return foundProcess{}, err
	}
	stat, err := s.Files.Stat(pid)
	return foundProcess{p, stat}, err
}

// all checks all processes. It ignores one that ends in the meantime.
func (s *Search) all(ctx context.Context) ([]foundProcess, error) {
	pids, err := s.Files.list()
	if err != nil {
		return nil, procError("list processes", err)
	}
	var found []foundProcess
	var refused, odd error
	for _, pid := range pids {
		if ctx.Err() != nil {
			return nil, collectors.Errorf(unreadable, "find %s: %w", s, context.Cause(ctx))
		}
		p, ok, err := s.selected(pid)
		switch ReasonOf(err) {
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
		return nil, collectors.Errorf(forbidden, "find %s: %w", s, refused)
	case odd != nil:
		return nil, collectors.Errorf(unreadable, "find %s: %w", s, odd)
	}
	return nil, s.nothing(s.noProcess())
}

// selected reports whether s selects a process, and returns it.
func (s *Search) selected(pid int) (p foundProcess, ok bool, err error) {
	if ok, err := s.Matches(pid); !ok || err != nil {
		return p, false, err
	}
	if p, err = s.read(pid); err != nil || !s.searched() {
		return p, err == nil, err
	}
	if s.home == nil {
		s.home = newHome(&s.Files)
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

// noProcess is the error of a search without a result.
func (s *Search) noProcess() error {
	target, err := filepath.EvalSymlinks(s.Exe)
	if err == nil && s.Exe != "" && target != s.Exe {
		return fmt.Errorf("no process of %s, which links to %s: use that path", s, target)
	}
	if len(s.foreign) > 0 {
		return fmt.Errorf("no process of %s in the PID namespace and container of Vitals: process %d is in another, pid_namespace any selects it too", s, slices.Min(s.foreign))
	}
	if len(s.related) > 0 {
		return fmt.Errorf("no process of %s except %d, which is Vitals, its ancestor or its descendant: only pid and pid_file select it", s, slices.Min(s.related))
	}
	return fmt.Errorf("no process of %s", s)
}

// older orders running processes before zombies, then by start.
func older(a, b foundProcess) int {
	if a.Ended() != b.Ended() {
		if b.Ended() {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.PID, b.PID))
}

// nothing is the error for no process. The reason is Gone, unless proc(5) hides processes.
// Each PID namespace has a process 1. Without it, proc(5) hides those of other users:
// hidepid=invisible or hidepid=ptraceable, see proc(5).
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

// Matches reports whether the keys of s match a process. It reads one small file, because
// a search calls it for each process of the host.
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

// commBytes is the length to which the kernel cuts the name of a process: TASK_COMM_LEN
// without the NUL, see PR_SET_NAME in prctl(2). Kernel threads may have more.
const commBytes = 15

// matchesName compares the names. For a name longer than commBytes it also compares the
// arguments and the path of the program.
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

// hasArgument reports whether the argument is an element of a command line, or the base
// name of one. An option such as --log-dir=/var/log/nova must match as a whole. For a
// process title in place of the arguments it compares the text before the first colon or
// space: "neutron-dhcp-agent (/usr/bin/python3 ...)".
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

// titled reports whether the name is the beginning of a process title:
// "kuryr-daemon: master process [...]". setproctitle of Python, which cotyledon uses, also
// sets the name to the title.
func titled(comm []byte, name string) bool {
	rest, ok := bytes.CutPrefix(comm, []byte(name))
	return ok && len(rest) > 0 && rest[0] == ':'
}

// sameLongName distinguishes processes whose names begin with the same 15 bytes. It
// compares the first of argv[0] to argv[2] and the program that begins with them. A script
// is argv[1] of its interpreter, or argv[2] after an option. Without such an element, as
// for a process title, all of them match.
func sameLongName(name string, cmdline []byte, exe string) bool {
	args := strings.SplitN(string(cmdline), "\x00", 4)
	args = args[:min(len(args), 3)]
	for _, arg := range append(args, strings.TrimSuffix(exe, " (deleted)")) {
		if !strings.HasPrefix(arg, name[:commBytes]) { // a title may contain slashes
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
