package evaluator

import "time"

// minStep is the smallest difference between the wall clock and the monotonic one
// that counts as a step. Slewing (at most 0.05 %, adjtime(3)) stays far below it
// between two calls a second apart.
const minStep = 500 * time.Millisecond

// stepWatch detects when the wall clock is set: between two calls of step it then moves
// by another amount than the monotonic clock.
type stepWatch struct{ last time.Time }

func newStepWatch(now time.Time) stepWatch { return stepWatch{now} }

// step returns by how much the wall clock stepped since the last call, negative if back;
// 0 if it did not.
func (w *stepWatch) step(now time.Time) time.Duration {
	d := stepped(now.Round(0).Sub(w.last.Round(0)), now.Sub(w.last))
	w.last = now
	return d
}

// maxReadings bounds how often settledTime reads the clock.
const maxReadings = 10

// settledTime returns the time of two readings, one right after the other, between which the
// wall clock does not step. time.Now reads the wall clock and then the monotonic one: in a thread
// that is stopped in between, one reading alone looks like a step.
func settledTime(clock func() time.Time) time.Time {
	now := clock()
	for range maxReadings {
		last := newStepWatch(now)
		now = clock()
		if last.step(now) == 0 {
			break
		}
	}
	return now
}

// shifted moves a time by d; the zero time stays zero.
func shifted(t time.Time, d time.Duration) time.Time {
	if t.IsZero() {
		return t
	}
	return t.Add(d)
}

// stepped returns the difference between the two clocks if it is large enough to be a step.
func stepped(wall, monotonic time.Duration) time.Duration {
	if d := wall - monotonic; d >= minStep || d <= -minStep {
		return d
	}
	return 0
}
