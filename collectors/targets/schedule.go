package targets

import (
	"container/heap"
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/vitals-health/vitals/internal/panics"
)

const (
	// grace is how long a check may last beyond its timeout.
	grace = 250 * time.Millisecond
	// News is reported at most once in a twentieth of the interval, within these bounds: each
	// report costs the samples of all targets.
	newsShare = 20
	minNews   = 100 * time.Millisecond
	maxNews   = time.Second
	// idle is the longest wait of the schedule.
	idle = time.Minute
)

// schedule checks the targets of a group during one Run. Only its own goroutine uses it.
type schedule struct {
	*group
	changed func()
	checks  *errgroup.Group
	done    chan finished
	// members are the targets by their names, and queue has them by the time of their next check.
	members map[string]*member
	queue   queue
	// running is how many checks count for the limit of concurrency.
	running int
	// waiting are the targets of the start that have no result yet. The start ends when each Source
	// has found its targets once.
	waiting map[*member]bool
	started bool
	// news is set when a result is to be reported, and reported is the time of the last report.
	news     bool
	reported time.Time
}

// finished is the end of a check.
type finished struct {
	*member
	result result
}

// Run implements collectors.Runner.
func (g *group) Run(ctx context.Context, changed func()) {
	running, ctx := errgroup.WithContext(ctx)
	for i, s := range g.opts.Sources {
		running.Go(panics.Caught(func() {
			s.Run(ctx, func(targets []Target, err error) { g.take(i, targets, err) })
		}))
	}
	s := &schedule{group: g, changed: changed, checks: running, done: make(chan finished), waiting: map[*member]bool{}}
	running.Go(panics.Caught(func() { s.run(ctx) }))
	panics.Raise(running.Wait())
}

// run checks targets until ctx ends.
func (s *schedule) run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	s.adopt(time.Now())
	for {
		now := time.Now()
		s.start(ctx, now)
		timer.Reset(s.wait(now))
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-s.updated:
			s.adopt(time.Now())
		case f := <-s.done:
			s.finish(f)
		}
	}
}

// start reports news and begins the checks that are due.
func (s *schedule) start(ctx context.Context, now time.Time) {
	if s.news && !now.Before(s.reported.Add(s.newsInterval())) {
		s.news, s.reported = false, now
		s.changed()
	}
	for len(s.queue) > 0 && !s.queue[0].due.After(now) {
		m := s.queue[0]
		switch {
		case m.cancel != nil: // never two checks of a target at a time
			s.expire(m, now)
		case s.full():
			s.expireAll(now)
			if s.full() {
				return
			}
			continue
		default:
			s.begin(ctx, m, now)
		}
		for !m.due.After(now) {
			m.due = m.due.Add(s.env.Interval)
		}
		heap.Fix(&s.queue, m.index)
	}
}

// begin starts a check.
func (s *schedule) begin(ctx context.Context, m *member, now time.Time) {
	checking, cancel := context.WithTimeout(ctx, s.env.Timeout)
	m.began, m.cancel, m.late = now, cancel, false
	if !m.phased {
		m.phased, m.due = true, nextTick(now, phase(m.Name, s.env.Interval), s.env.Interval)
	}
	s.running++
	s.checks.Go(panics.Caught(func() {
		f := finished{m, m.check(checking)}
		select {
		case s.done <- f:
		case <-ctx.Done():
		}
	}))
}

// full reports whether no other check may begin.
func (s *schedule) full() bool { return s.running >= s.opts.Concurrency }

// expireAll ends the wait for all checks that have not ended with their contexts.
func (s *schedule) expireAll(now time.Time) {
	for _, m := range s.queue {
		if m.cancel != nil {
			s.expire(m, now)
		}
	}
}

// expire ends the wait for a check that has not ended with its context.
func (s *schedule) expire(m *member, now time.Time) {
	if m.late || now.Before(m.began.Add(s.env.Timeout+grace)) {
		return
	}
	m.late = true
	s.running--
	s.store(m, overdue(s.env.Timeout))
}

// finish takes over the result of a check.
func (s *schedule) finish(f finished) {
	m := f.member
	m.cancel()
	m.cancel = nil
	if !m.late {
		s.running--
		s.store(m, f.result)
	}
}

// store publishes the newest result of a target.
func (s *schedule) store(m *member, r result) {
	s.mu.Lock()
	before := m.result
	m.result = r
	s.mu.Unlock()
	s.news = s.news || r.differs(&before)
	if p := r.panic(); p != nil && before.panic() == nil && s.env.Logger != nil {
		s.env.Logger.Error("the check of a target panicked", "target", m.Name, "err", p, "stack", string(p.Stack))
	}
	if s.waiting[m] {
		delete(s.waiting, m)
		s.settle()
	}
}

// settle ends the wait of the first collection when each target of the start has a result. The
// results that it returns are no news.
func (s *schedule) settle() {
	if !s.started || len(s.waiting) > 0 {
		return
	}
	s.once.Do(func() {
		s.news = false
		close(s.first)
	})
}

// adopt follows the targets that are configured and found now.
func (s *schedule) adopt(now time.Time) {
	added, removed, complete := s.update()
	for _, m := range removed {
		s.remove(m)
	}
	for _, m := range added {
		m.due = now
		if s.started || m.result.ran {
			m.phased, m.due = true, nextTick(now, phase(m.Name, s.env.Interval), s.env.Interval)
		} else {
			s.waiting[m] = true
		}
		heap.Push(&s.queue, m)
	}
	s.news = true
	s.started = s.started || complete
	s.settle()
}

// remove ends the checks of a target that has left. Its result is dropped.
func (s *schedule) remove(m *member) {
	heap.Remove(&s.queue, m.index)
	m.index = -1
	delete(s.waiting, m)
	if m.cancel != nil && !m.late {
		m.late = true
		s.running--
		m.cancel()
	}
}

// wait returns how long nothing is to be done.
func (s *schedule) wait(now time.Time) time.Duration {
	next := now.Add(idle)
	if s.news {
		next = s.reported.Add(s.newsInterval())
	}
	if len(s.queue) > 0 {
		due := s.queue[0].due
		if !due.After(now) { // there is no room for another check
			due = now.Add(grace)
		}
		if due.Before(next) {
			next = due
		}
	}
	return max(0, next.Sub(now))
}

// newsInterval is the shortest time between two reports.
func (s *schedule) newsInterval() time.Duration {
	return min(max(s.env.Interval/newsShare, minNews), maxNews)
}
