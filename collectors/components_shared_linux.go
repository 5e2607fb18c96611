package collectors

import (
	"syscall"
	"time"
)

// nap waits for d, or less where a signal comes in between, with a thread that
// sleeps in the kernel. It holds a thread and takes no notice of contexts, so it is
// for short waits that return again and again: for those it costs less than half of
// what a Go timer does, which wakes the scheduler and its monitor as well.
func nap(d time.Duration) {
	left := syscall.NsecToTimespec(d.Nanoseconds())
	_ = syscall.Nanosleep(&left, nil) // interrupted: the caller looks a little early
}
