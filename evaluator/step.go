package evaluator

import (
	"maps"
	"slices"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/evaluator/internal/workers"
)

// settling is the time after a step of the clock, or after the process was stopped. What was
// exported before is by the other clock, or outdated, so rules are evaluated when all collectors
// have run again. The zero value waits for nothing.
type settling struct {
	// since is when the step was noticed, with the monotonic reading.
	since time.Time
	// awaited are the collectors without a result of a collection that began after that.
	awaited map[collectors.Collector]bool
	// over fires at the end of the longest wait.
	over <-chan time.Time
}

// begin waits for the sources, at most for longest. Steps that follow one another do not
// extend that time.
func (s *settling) begin(now time.Time, sources []*source, longest time.Duration) {
	if !s.waits() {
		s.over = time.After(longest)
	}
	s.since, s.awaited = now, map[collectors.Collector]bool{}
	for _, source := range sources {
		s.awaited[source.Collector] = true
	}
}

// took takes note of the result of a collection.
func (s *settling) took(r workers.Result) {
	if r.Began.After(s.since) {
		delete(s.awaited, r.Collector)
	}
}

// keep waits no longer for collectors that are not among the sources.
func (s *settling) keep(sources []*source) {
	maps.DeleteFunc(s.awaited, func(c collectors.Collector, _ bool) bool {
		return !slices.ContainsFunc(sources, func(source *source) bool { return source.Collector == c })
	})
}

// waits reports whether results are awaited.
func (s *settling) waits() bool { return len(s.awaited) > 0 }

// stepped moves the times of the core by d and has all collectors run before the next
// evaluation. It waits for them half as long as a snapshot may be old: collectors that hang
// must not have alive fail.
func (e *Evaluator) stepped(now time.Time, d time.Duration) {
	e.opts.Logger.Warn("the clock stepped", "by", d)
	e.core.shift(d)
	if e.workers != nil {
		e.settling.begin(now, e.core.sources, e.core.maxAge()/2)
		e.workers.WakeUp()
	}
}

// resumeTime bounds the wait for collectors after the process was stopped. With the evaluation it
// is shorter than a request waits for it: the 200 ms of the server.
const resumeTime = 120 * time.Millisecond

// resumed has all collectors run before the next evaluation, because the process was stopped for
// about d: by a signal, by the freezer of a cgroup, or with its machine. Run always has an event
// within an interval, so a longer wait has no other cause.
func (e *Evaluator) resumed(now time.Time, d time.Duration) {
	e.opts.Logger.Warn("the process was stopped", "for", d)
	if e.workers != nil {
		e.settling.begin(now, e.core.sources, resumeTime)
		e.workers.WakeUp()
	}
}
