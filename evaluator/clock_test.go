package evaluator

import (
	"testing"
	"time"
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
