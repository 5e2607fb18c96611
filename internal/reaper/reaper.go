// Package reaper reaps orphans: children that were re-parented to this process. That
// happens to the first process of a PID namespace and to a subreaper, see
// pid_namespaces(7) and PR_SET_CHILD_SUBREAPER in prctl(2). An orphan that has ended stays
// a zombie until its new parent waits for it.
package reaper

import (
	"cmp"
	"log/slog"
	"os"
	"sync"
	"time"
)

const (
	// defaultPause is the time between two checks of ended children.
	defaultPause = 500 * time.Millisecond
	// minChecks is the number of checks that find a child ended before it is reaped. A
	// waiter in this process, such as os/exec in another thread, waits before that.
	minChecks = 3
	// sweep is the number of pauses before a check without a signal.
	sweep = 60
	// maxStart bounds how long a start delays reaping: it may hang on a file server.
	maxStart = time.Minute
)

// Options configure a Reaper. The zero value is valid.
type Options struct {
	// Logger logs that the children cannot be listed; nil discards.
	Logger *slog.Logger
	// Pause is the time between two checks of ended children. They are zombies for 2 to 3
	// times as long. Zero is half a second.
	Pause time.Duration
}

// Reaper reaps orphans. It is safe for concurrent use.
type Reaper struct {
	logger          *slog.Logger
	pause, maxStart time.Duration
	// proc is the mount point of proc(5).
	proc string

	mu sync.Mutex // guards what follows
	// begun is the time of each running Start by its number.
	begun  map[int]time.Time
	starts int
	// held counts the callers that wait for each PID. It is 2 while a PID is already
	// reused and its first owner has not released it.
	held map[int]int
}

// New makes a Reaper, which does nothing before Run.
func New(opts Options) *Reaper {
	return &Reaper{
		logger: cmp.Or(opts.Logger, slog.New(slog.DiscardHandler)), pause: cmp.Or(opts.Pause, defaultPause), maxStart: maxStart, proc: "/proc",
		begun: map[int]time.Time{}, held: map[int]int{},
	}
}

// Start calls start, which starts a child that the caller waits for. The child is not
// reaped until release is called. If err is nil, call release once, after waiting for the
// child.
func (r *Reaper) Start(start func() (*os.Process, error)) (p *os.Process, release func(), err error) {
	number := r.begin()
	p, err = start()
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.begun, number)
	if err != nil {
		return nil, nil, err
	}
	pid := p.Pid
	r.held[pid]++
	return p, func() { r.release(pid) }, nil
}

func (r *Reaper) begin() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.starts++
	r.begun[r.starts] = time.Now()
	return r.starts
}

func (r *Reaper) release(pid int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.held[pid]--; r.held[pid] == 0 {
		delete(r.held, pid)
	}
}

// mayBeStartedLocked reports whether a child that had ended at a time may belong to a
// running Start, whose PID is not available yet.
func (r *Reaper) mayBeStartedLocked(ended time.Time) bool {
	for _, began := range r.begun {
		if !began.After(ended) && time.Since(began) < r.maxStart {
			return true
		}
	}
	return false
}
