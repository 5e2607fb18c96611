package collectortest

import (
	"testing"
	"time"
	"unsafe"
)

// StepClock returns the time t as it would be had the wall clock been set by d before it
// was read: the monotonic reading is that of t. d is in whole seconds. It fails the test
// if t has no monotonic reading.
//
// Package time has no function for it. The field wall is in time.Time since Go 1.9: bit 63
// marks a monotonic reading, and 33 bits from bit 30 on are the seconds since 1885.
func StepClock(tb testing.TB, t time.Time, d time.Duration) time.Time {
	tb.Helper()
	const secondsAt = 30
	stepped := t
	wall := (*uint64)(unsafe.Pointer(&stepped))
	*wall += uint64(int64(d/time.Second)) << secondsAt
	if stepped.Sub(t) != 0 || stepped.Round(0).Sub(t.Round(0)) != d {
		tb.Fatalf("the clock of %v cannot be set by %s", t, d)
	}
	return stepped
}
