package reaper

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Run waits for orphans until ctx ends. It returns at once where none can become a child of
// this process.
func (r *Reaper) Run(ctx context.Context) {
	if !adopts() {
		return
	}
	signals := make(chan os.Signal, 1) // one may stand for many
	signal.Notify(signals, syscall.SIGCHLD)
	defer signal.Stop(signals)
	timer := time.NewTimer(0)
	defer timer.Stop()
	seen, blind := map[int]ended{}, false
	for {
		select {
		case <-ctx.Done():
			return
		case <-signals:
			if len(seen) > 0 {
				continue // the timer looks at that one too
			}
		case <-timer.C:
		}
		var err error
		if seen, err = r.look(seen); err != nil && !blind {
			r.logger.Warn("children that have ended cannot be listed", "err", err)
		}
		blind = err != nil
		wait := sweep * r.pause
		if len(seen) > 0 {
			wait = r.pause
		}
		timer.Reset(wait)
	}
}

// adopts says whether orphans become children of this process.
func adopts() bool {
	var subreaper int32
	_, _, errno := unix.RawSyscall(unix.SYS_PRCTL, unix.PR_GET_CHILD_SUBREAPER, uintptr(unsafe.Pointer(&subreaper)), 0)
	return os.Getpid() == 1 || errno == 0 && subreaper != 0
}

// ended is a child that has ended, and that nobody has waited for.
type ended struct {
	// since is when that was seen first, and looks how often it was.
	since time.Time
	looks int
}

// look waits for the children that were seen often enough, and returns the others. It is
// nearly free while no child has ended.
func (r *Reaper) look(before map[int]ended) (map[int]ended, error) {
	seen := map[int]ended{}
	if !hasEnded(unix.P_ALL, 0) {
		return seen, nil
	}
	pids, err := processes(r.proc)
	for _, pid := range pids {
		if !hasEnded(unix.P_PID, pid) {
			continue
		}
		child, known := before[pid]
		if !known {
			child.since = time.Now()
		}
		if child.looks++; r.keep(pid, child) {
			seen[pid] = child
		}
	}
	return seen, err
}

// keep waits for a child, or says that it has to be looked at again. One that is held has
// not: whoever holds it waits for it.
func (r *Reaper) keep(pid int, child ended) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.held[pid] > 0:
		return false
	case child.looks < looks, r.mayBeStartedLocked(child.since):
		return true
	}
	_, _ = syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
	return false
}

// hasEnded says whether a child has ended, or one of all of them, and leaves it to be waited for.
func hasEnded(idType, pid int) bool {
	var info unix.Siginfo // without a signal if there is none
	err := unix.Waitid(idType, pid, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
	return err == nil && info.Signo == int32(syscall.SIGCHLD)
}

// processes are the numbers of all processes that can be seen. Which of them are children,
// the kernel says when it is asked for each: not every one lists them.
func processes(mount string) ([]int, error) {
	if self, err := os.Readlink(filepath.Join(mount, "self")); err != nil {
		return nil, err
	} else if self != strconv.Itoa(os.Getpid()) {
		return nil, fmt.Errorf("list %s: it has this process as %s instead of %d: expected the proc(5) of this PID namespace", mount, self, os.Getpid())
	}
	dir, err := os.Open(mount)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	var pids []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			pids = append(pids, pid)
		}
	}
	if len(pids) == 0 {
		err = errors.Join(err, fmt.Errorf("list %s: no process in it: expected proc(5)", mount))
	}
	return pids, err
}
