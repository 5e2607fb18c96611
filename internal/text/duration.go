package text

import (
	"fmt"
	"strings"
	"time"
)

// Duration returns d in whole seconds, rounded up and without units that are zero, such as
// 3m or 1h30s.
func Duration(d time.Duration) string {
	s := (d + time.Second - 1).Truncate(time.Second).String()
	if rest, ok := strings.CutSuffix(s, "m0s"); ok {
		s = rest + "m"
	}
	return strings.Replace(s, "h0m", "h", 1)
}

// Span returns a duration in two units: 0s, 12s, 2m10s, 3h5m, 2d4h.
func Span(d time.Duration) string {
	d = max(d, 0).Truncate(time.Second)
	units := []struct {
		name string
		of   time.Duration
	}{{"d", 24 * time.Hour}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}}
	for i, u := range units[:len(units)-1] {
		if d >= u.of {
			text := fmt.Sprintf("%d%s", d/u.of, u.name)
			if rest := d % u.of / units[i+1].of; rest > 0 {
				text += fmt.Sprintf("%d%s", rest, units[i+1].name)
			}
			return text
		}
	}
	return fmt.Sprintf("%ds", d/time.Second)
}
