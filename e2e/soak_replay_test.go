//go:build e2e

package e2e_test

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	// soakEdge is how near a timer is to its end where either result is right: the program
	// and the replay read the time from an exposition in milliseconds.
	soakEdge = 5 * time.Millisecond
	// soakLag is the time in which a change of a dependency must show: an interval, a time-out, an
	// evaluation, and the delays of a busy machine.
	soakLag = 10 * time.Second
)

// replay computes every verdict once more, from the samples in /metrics of each generation and
// nothing else, and compares.
type replay struct {
	rules map[string]soakRule
	deps  []*dependency

	// mu guards what follows.
	mu      sync.Mutex
	offsets []time.Duration
	stops   []stopSpan
	timers  map[string]*timer
	last    uint64
	// latest is the newest exposition, and usage what the process used over time.
	latest metrics
	usage  []usage
	// verdicts are those of the generations that were recorded, and given those of probes.
	verdicts map[uint64]verdicts
	given    map[answer]int
	problems []string
	// printed is how many of the problems progress has printed.
	printed int

	// busy is when the machine was last too busy to judge times.
	busy time.Time

	// recorded and missed are generations, judged and unjudged statuses, and measured how often a
	// dependency was compared with what it did.
	recorded, missed, judged, unjudged, measured, contradictions int
	failed                                                       map[string]int
}

// stopSpan is a time in which the process was stopped.
type stopSpan struct{ from, to time.Time }

// verdicts are those of one generation: whether the state passes.
type verdicts struct{ ready, alive bool }

// answer is the answer to a probe.
type answer struct {
	generation uint64
	alive      bool
	status     int
}

// timer is the replayed alert of a rule.
type timer struct {
	// known is not set where generations were missed: what the timer is cannot be computed.
	known, active, firing bool
	since, keepSince      time.Time
	wasOK                 bool
}

func newReplay(rules []soakRule, deps []*dependency) *replay {
	r := &replay{
		rules: map[string]soakRule{}, deps: deps, offsets: []time.Duration{0}, timers: map[string]*timer{},
		verdicts: map[uint64]verdicts{}, given: map[answer]int{}, failed: map[string]int{},
	}
	for _, rule := range rules {
		r.rules[rule.name] = rule
	}
	return r
}

// problem keeps the first few contradictions, with mu held.
func (r *replay) problem(format string, args ...any) {
	r.contradictions++
	if len(r.problems) < 10 {
		r.problems = append(r.problems, fmt.Sprintf(format, args...))
	}
}

// stepped takes note of a step of the process's clock, before it.
func (r *replay) stepped(offset time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.offsets = append(r.offsets, offset)
}

// stopped takes note that the process is stopped until to.
func (r *replay) stopped(from, to time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stops = append(r.stops, stopSpan{from, to})
}

// whileStopped reports whether the process was stopped in some of the time, or shortly before.
func (r *replay) whileStopped(from, to time.Time, shortly time.Duration) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stoppedLocked(from, to, shortly)
}

func (r *replay) stoppedLocked(from, to time.Time, shortly time.Duration) bool {
	return slices.ContainsFunc(r.stops, func(s stopSpan) bool { return from.Before(s.to.Add(shortly)) && to.After(s.from) })
}

// slowed takes note that the machine is busy.
func (r *replay) slowed(at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.busy = at
}

// probed takes note of the answer to a probe.
func (r *replay) probed(a answer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.given[a]++
}

// take replays one generation.
func (r *replay) take(generation uint64, m metrics, received time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if generation == r.last {
		return
	}
	if gap := generation - r.last; r.last > 0 && gap > 1 {
		r.missed += int(gap - 1)
	}
	if generation != r.last+1 {
		for _, t := range r.timers {
			t.known, t.wasOK = false, false // the rule may have been removed and added
		}
	}
	complete := r.last > 0 && generation == r.last+1
	r.last, r.latest = generation, m
	r.recorded++
	r.usage = append(r.usage, usageOf(m, received))
	at := r.realTime(m, received)
	samples, got := parseSamples(m), statuses(m)
	for name := range r.timers {
		if got[name] == "" { // removed by a reload
			delete(r.timers, name)
		}
	}
	for _, name := range names(got) {
		t := r.timers[name]
		if t == nil {
			t = &timer{known: complete}
			r.timers[name] = t
		}
		r.judge(t, r.rules[name], samples, got[name], at)
	}
	r.judgeStates(generation, m, got)
	r.judgeDependencies(samples, received)
}

// realTime returns when the rules were evaluated, by the host's clock.
func (r *replay) realTime(m metrics, received time.Time) time.Time {
	seconds, part := math.Modf(m["vitals_evaluation_timestamp_seconds"])
	shown := time.Unix(int64(seconds), int64(math.Round(part*1000))*int64(time.Millisecond))
	at := shown.Add(-r.offsets[len(r.offsets)-1])
	for _, offset := range r.offsets {
		if other := shown.Add(-offset); received.Sub(other).Abs() < received.Sub(at).Abs() {
			at = other
		}
	}
	if age := received.Sub(at); age.Abs() > 5*time.Second && !r.stoppedLocked(at, received, time.Second) {
		r.problem("the evaluation is %s old when it is read: the time %s does not follow the clock", age, shown)
	}
	return at
}

// judge advances the timer of a rule, as Prometheus documents it, and compares its status.
func (r *replay) judge(t *timer, rule soakRule, s soakSamples, got string, at time.Time) {
	holds, data := rule.holds(s)
	defer func() { t.wasOK = t.wasOK || got == "ok" }()
	if !t.known {
		t.adopt(got, holds, at)
		r.unjudged++
		return
	}
	edge := t.advance(rule, holds, at)
	want := "ok"
	switch {
	case t.firing:
		want = "failing"
	case t.active:
		want = "pending"
	case !data:
		want = "unknown"
	}
	r.judged++
	if got == want {
		return
	}
	if !edge {
		r.problem("rule %s is %s, want %s by the samples; %+v at %s", rule.name, got, want, *t, at)
	}
	t.adopt(got, holds, at)
}

// advance returns whether a timer is so near its end that either result is right.
func (t *timer) advance(rule soakRule, holds bool, at time.Time) (edge bool) {
	near := func(since time.Time, d time.Duration) bool { return d > 0 && (at.Sub(since)-d).Abs() < soakEdge }
	switch {
	case holds && !t.active:
		t.active, t.since = true, at
	case holds:
		t.keepSince = time.Time{}
	case t.firing && rule.keep > 0:
		if t.keepSince.IsZero() {
			t.keepSince = at
		}
		edge = near(t.keepSince, rule.keep)
		if at.Sub(t.keepSince) >= rule.keep {
			*t = timer{known: true, wasOK: t.wasOK}
		}
	default:
		*t = timer{known: true, wasOK: t.wasOK}
	}
	if holds && !t.firing {
		edge = near(t.since, rule.wait)
		t.firing = at.Sub(t.since) >= rule.wait
	}
	return edge
}

// adopt takes over a status where it is enough to continue from.
func (t *timer) adopt(got string, holds bool, at time.Time) {
	before := *t
	*t = timer{known: got == "ok" || got == "unknown" || got == "failing" && holds, wasOK: t.wasOK}
	if got == "failing" {
		t.active, t.firing, t.since = true, true, at
	}
	if got == "pending" && before.known && before.active {
		t.known, t.active, t.since = true, true, before.since
	}
}

// judgeStates derives the verdicts from the statuses, and compares.
func (r *replay) judgeStates(generation uint64, m metrics, got map[string]string) {
	v := verdicts{m[series("vitals_state", "state", "ready")] == 1, m[series("vitals_state", "state", "alive")] == 1}
	r.verdicts[generation] = v
	if !v.ready {
		r.failed["ready"]++
	}
	if !v.alive {
		r.failed["alive"]++
	}
	want, clear := verdicts{true, true}, true
	for name, status := range got {
		rule := r.rules[name]
		if !rule.decides() {
			continue
		}
		fails := status == "failing" || status == "unknown" && rule.state == "ready"
		clear = clear && (status != "pending" || r.timers[name].wasOK)
		want.ready = want.ready && !fails
		want.alive = want.alive && (!fails || rule.state != "alive")
	}
	if clear && v != want {
		r.problem("the verdicts of generation %d are %+v, want %+v by the rules: %v", generation, v, want, got)
	}
}

// judgeDependencies compares what is measured with how the dependencies behave.
func (r *replay) judgeDependencies(s soakSamples, received time.Time) {
	for _, d := range r.deps {
		since := time.Unix(0, d.since.Load())
		up, ok := s.up[d.name]
		if received.Sub(since) < soakLag || received.Sub(r.busy) < soakLag || r.stoppedLocked(received.Add(-soakLag), received, 0) {
			continue
		}
		r.measured++
		// Absent is unknown, which a dependency that hangs may be: its collector ends too late.
		if want := d.mode.Load() == works; (ok && up == 1) != want {
			r.problem("%s: up = %g (present: %t), and it is healthy: %t, since %s", d.name, up, ok, want, received.Sub(since))
		}
	}
}

// finish compares the answers to probes with the verdicts of their generations.
func (r *replay) finish() (compared, unknown int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for a, n := range r.given {
		v, ok := r.verdicts[a.generation]
		if !ok {
			unknown += n
			continue
		}
		compared += n
		passes := v.ready
		if a.alive {
			passes = v.alive
		}
		if want := map[bool]int{true: http.StatusOK, false: http.StatusServiceUnavailable}[passes]; a.status != want {
			r.problem("%d probes of generation %d (alive: %t) got %d, want %d", n, a.generation, a.alive, a.status, want)
		}
	}
	return compared, unknown
}

// parseExposition reads the text format without timestamps.
func parseExposition(body string) (metrics, error) {
	m := make(metrics, 4096)
	for line := range strings.Lines(body) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		i := strings.LastIndexByte(line, ' ')
		value, err := strconv.ParseFloat(line[i+1:], 64)
		if err != nil {
			return nil, fmt.Errorf("line %q: %w", line, err)
		}
		m[line[:max(0, i)]] = value
	}
	return m, nil
}
