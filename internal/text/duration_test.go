package text_test

import (
	"testing"
	"time"

	"github.com/vitals-health/vitals/internal/text"
)

func TestDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0:                                  "0s",
		time.Millisecond:                   "1s",
		7 * time.Second:                    "7s",
		6100 * time.Millisecond:            "7s",
		3 * time.Minute:                    "3m",
		179 * time.Second:                  "2m59s",
		10 * time.Minute:                   "10m",
		time.Hour:                          "1h",
		time.Hour + 30*time.Second:         "1h30s",
		time.Hour + 9*time.Minute:          "1h9m",
		30 * time.Hour:                     "30h",
		10*time.Hour + 10*time.Minute + 10: "10h10m1s",
	} {
		if got := text.Duration(d); got != want {
			t.Errorf("Duration(%s) = %q, want %q", d, got, want)
		}
	}
}
