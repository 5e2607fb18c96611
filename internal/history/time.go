package history

import (
	"time"

	"github.com/prometheus/common/model"
)

// ParseTime reads a time in RFC 3339, or a duration before now in the form of Prometheus or of
// Go, such as 2d or 1.5h.
func ParseTime(given string, now time.Time) (t time.Time, ok bool) {
	if d, err := model.ParseDuration(given); err == nil {
		return now.Add(-time.Duration(d)), true
	}
	if d, err := time.ParseDuration(given); err == nil && d >= 0 {
		return now.Add(-d), true
	}
	t, err := time.Parse(time.RFC3339, given)
	return t, err == nil
}

// ParsePast reads a time in UTC: one that ParseTime reads, or a time of the last 24 hours such as
// 03:12.
func ParsePast(given string, now time.Time) (t time.Time, ok bool) {
	now = now.UTC()
	if t, ok := ParseTime(given, now); ok {
		return t.UTC(), true
	}
	for _, layout := range []string{"15:04", time.TimeOnly} {
		clock, err := time.Parse(layout, given)
		if err != nil {
			continue
		}
		t := time.Date(now.Year(), now.Month(), now.Day(), clock.Hour(), clock.Minute(), clock.Second(), 0, time.UTC)
		if t.After(now) {
			t = t.AddDate(0, 0, -1)
		}
		return t, true
	}
	return time.Time{}, false
}
