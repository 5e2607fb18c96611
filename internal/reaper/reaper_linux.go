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

// Run reaps orphans until ctx ends. It returns at once if orphans are not re-parented to
// this process.
func (r *Reaper) Run(ctx context.Context) {
	if !adopts() {
		return
	}
	signals := make(chan os.Signal, 1) // signals are merged
	signal.Notify(signals, syscall.SIGCHLD)
	defer signal.Stop(signals)
	timer := time.NewTimer(0)
	defer timer.Stop()
	seen, failed := map[int]ended{}, false
	for {
		select {
		case <-ctx.Done():
			return
		case <-signals:
			if len(seen) > 0 {
				continue // the timer triggers the next check
			}
		case <-timer.C:
		}
		var err error
		if seen, err = r.check(seen); err != nil && !failed {
			r.logger.Warn("Ended children cannot be listed", "err", err)
		}
		failed = err != nil
		wait := sweep * r.pause
		if len(seen) > 0 {
			wait = r.pause
		}
		timer.Reset(wait)
	}
}

// adopts reports whether orphans are re-parented to this process.
func adopts() bool {
	var subreaper int32
	_, _, errno := unix.RawSyscall(unix.SYS_PRCTL, unix.PR_GET_CHILD_SUBREAPER, uintptr(unsafe.Pointer(&subreaper)), 0)
	return os.Getpid() == 1 || errno == 0 && subreaper != 0
}

// ended is a child that has ended and was not waited for.
type ended struct {
	since  time.Time // of the first check that found it
	checks int       // that found it
}

// check reaps the children that were found by minChecks checks, and returns the others. It
// is one system call while no child has ended.
func (r *Reaper) check(before map[int]ended) (map[int]ended, error) {
	seen := map[int]ended{}
	if !hasEnded(unix.P_ALL, 0) {
		return seen, nil
	}
	pids, err := processes(r.proc)
	for _, pid := range pids {
		if !hasEnded(unix.P_PID, pid) {
			continue
		}
		child, found := before[pid]
		if !found {
			child.since = time.Now()
		}
		if child.checks++; r.keep(pid, child) {
			seen[pid] = child
		}
	}
	return seen, err
}

// keep reaps a child, or reports that it needs another check. A child that is held needs
// none: its holder waits for it.
func (r *Reaper) keep(pid int, child ended) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.held[pid] > 0:
		return false
	case child.checks < minChecks, r.mayBeStartedLocked(child.since):
		return true
	}
	_, _ = syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
	return false
}

// hasEnded reports whether a child, or any child with P_ALL, has ended. It does not reap.
func hasEnded(idType, pid int) bool {
	var info unix.Siginfo // Signo is 0 if there is none
	err := unix.Waitid(idType, pid, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
	return err == nil && info.Signo == int32(syscall.SIGCHLD)
}

// processes returns the PIDs of all visible processes. Not every kernel lists children, so
// that the caller checks each.
func processes(mount string) ([]int, error) {
	if self, err := os.Readlink(filepath.Join(mount, "self")); err != nil {
		return nil, err
	} else if self != strconv.Itoa(os.Getpid()) {
		return nil, fmt.Errorf("list %s: its self is %s instead of %d: expected the proc(5) of this PID namespace", mount, self, os.Getpid())
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
