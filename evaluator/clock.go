package evaluator

import "time"

// minStep is the smallest difference between the wall clock and the monotonic one
// that counts as a step. Slewing (at most 0.05 %, adjtime(3)) stays far below it
// between two looks a second apart.
const minStep = 500 * time.Millisecond

// stepWatch notices when the wall clock is set: between two looks it then moves by
// another amount than the monotonic clock.
type stepWatch struct{ last time.Time }

func newStepWatch(now time.Time) stepWatch { return stepWatch{now} }

// step returns by how much the wall clock stepped since the last look, forward or
// (negative) back; 0 if it did not.
func (w *stepWatch) step(now time.Time) time.Duration {
	d := stepped(now.Round(0).Sub(w.last.Round(0)), now.Sub(w.last))
	w.last = now
	return d
}

// shifted moves a time by d. What has not happened yet stays zero.
func shifted(t time.Time, d time.Duration) time.Time {
	if t.IsZero() {
		return t
	}
	return t.Add(d)
}

// stepped compares how far the wall clock and the monotonic clock went.
func stepped(wall, monotonic time.Duration) time.Duration {
	if d := wall - monotonic; d >= minStep || d <= -minStep {
		return d
	}
	return 0
}
