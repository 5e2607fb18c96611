//go:build !linux

package collectors

import "time"

// nap waits for d.
func nap(d time.Duration) { <-time.NewTimer(d).C }
