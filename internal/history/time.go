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
