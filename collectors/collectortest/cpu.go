package collectortest

import (
	"syscall"
	"testing"
	"time"
)

// CPU returns the user and system CPU time that the process has used.
func CPU(b *testing.B) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
