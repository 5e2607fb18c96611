package evaluator

import (
	"testing"
	"time"

	"github.com/vitals-health/vitals/collectors/collectortest"
)

func TestStepped(t *testing.T) {
	for _, c := range []struct {
		name            string
		wall, monotonic time.Duration
		want            time.Duration
	}{
		{"both clocks go alike", time.Second, time.Second, 0},
		{"the wall clock is slewed", time.Second + 400*time.Millisecond, time.Second, 0},
		{"set forward", time.Hour, time.Second, time.Hour - time.Second},
		{"set back", -time.Hour, time.Second, -time.Hour - time.Second},
		{"suspended: both stand still", 0, 0, 0},
	} {
		if got := stepped(c.wall, c.monotonic); got != c.want {
			t.Errorf("%s: stepped(%s, %s) = %s, want %s", c.name, c.wall, c.monotonic, got, c.want)
		}
	}
}

// The wall clock of each reading is off by so many seconds.
func TestSettledTime(t *testing.T) {
	for _, c := range []struct {
		name string
		off  []int
		want int
	}{
		{"a steady clock", []int{0, 0}, 0},
		{"the first reading is wrong", []int{-3, 0, 0}, 0},
		{"the second reading is wrong", []int{0, -3, 0, 0}, 0},
		{"the clock is set before the first", []int{60, 60}, 60},
		{"the clock is set in between", []int{0, 60, 60}, 60},
	} {
		t.Run(c.name, func(t *testing.T) {
			at, readings := time.Now(), 0
			got := settledTime(func() time.Time {
				readings++
				return collectortest.StepClock(t, at, time.Duration(c.off[readings-1])*time.Second)
			})
			if off := got.Round(0).Sub(at.Round(0)); off != time.Duration(c.want)*time.Second || readings != len(c.off) {
				t.Errorf("settledTime() is %s off after %d readings, want %ds after %d", off, readings, c.want, len(c.off))
			}
		})
	}
}

// A clock that is set all the time does not hold the loop up.
func TestSettledTimeEnds(t *testing.T) {
	at, readings := time.Now(), 0
	settledTime(func() time.Time {
		readings++
		return collectortest.StepClock(t, at, time.Duration(readings)*time.Second)
	})
	if readings != maxReadings+1 {
		t.Errorf("%d readings, want %d", readings, maxReadings+1)
	}
}
