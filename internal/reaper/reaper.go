// Package reaper waits for children that nobody else waits for. The first process of a
// PID namespace, or a subreaper, becomes the parent of those whose own parents have ended,
// see pid_namespaces(7) and PR_SET_CHILD_SUBREAPER in prctl(2). They stay zombies until
// somebody asks how they ended.
package reaper

import (
	"cmp"
	"log/slog"
	"os"
	"sync"
	"time"
)

const (
	// defaultPause is the time between two looks at children that have ended.
	defaultPause = 500 * time.Millisecond
	// looks is in how many of them a child is seen, ended, before it is waited for: who
	// waits for it, as os/exec does in a thread of its own, has done so by then.
	looks = 3
	// sweep is how many pauses go by before a look that nothing asked for.
	sweep = 60
	// maxStart is how long a start may take until it holds nobody up any more: the file
	// server of the program may be gone.
	maxStart = time.Minute
)

// Options are what a Reaper may be given.
type Options struct {
	// Logger is told when the children cannot be listed; nil tells nobody.
	Logger *slog.Logger
	// Pause is the time between two looks at children that have ended: they are zombies
	// for 2 to 3 times as long. Zero means half a second.
	Pause time.Duration
}

// Reaper waits for children that nobody else waits for. It is safe for concurrent use.
type Reaper struct {
	logger          *slog.Logger
	pause, maxStart time.Duration
	// proc is where proc(5) is mounted.
	proc string

	mu sync.Mutex // guards what follows
	// begun are the starts that go on, each with its own number and when it began.
	begun  map[int]time.Time
	starts int
	// held are the children that somebody else waits for. A number counts more than once
	// when it is already another child's while it is given back.
	held map[int]int
}

// New makes a Reaper, which does nothing until it runs.
func New(opts Options) *Reaper {
	return &Reaper{
		logger: cmp.Or(opts.Logger, slog.New(slog.DiscardHandler)), pause: cmp.Or(opts.Pause, defaultPause), maxStart: maxStart, proc: "/proc",
		begun: map[int]time.Time{}, held: map[int]int{},
	}
}

// Start calls start, which starts a child that the caller waits for, and leaves that child
// alone from its first moment until release is called. Without an error, release has to be
// called once, after the child was waited for.
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

// mayBeStartedLocked says whether a child that had ended at a time may be one that is being started,
// whose number nobody knows yet.
func (r *Reaper) mayBeStartedLocked(ended time.Time) bool {
	for _, began := range r.begun {
		if !began.After(ended) && time.Since(began) < r.maxStart {
			return true
		}
	}
	return false
}
