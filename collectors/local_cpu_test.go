package collectors

import (
	"syscall"
	"testing"
	"time"
)

// localCPU is the processor time that the process has used.
func localCPU(b *testing.B) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
