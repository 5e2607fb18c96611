package text

import (
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
