package connlimit

import (
	"fmt"
	"syscall"
)

const (
	// maxServed connections of a pool are served at a time. A node has a handful of probers
	// and scrapers. One costs up to 200 KiB while it has a request, with its buffers in the
	// kernel, and 20 KiB while it is idle.
	maxServed = 256
	// maxWaiting connections wait until they are served. Each costs some 6 KiB.
	maxWaiting = 4096
	// least is the smallest bound: a kubelet has up to three probes at a time.
	least = 4
)

// Limits are the bounds of a pool.
type Limits struct {
	// Served is the number of connections that are served at a time.
	Served int
	// Waiting is the number of further connections that are accepted and not served yet.
	Waiting int
}

// LimitsOf returns the bounds of each of several pools in this process. Together they hold
// at most half of the file descriptors that the process may open: the other half is for
// collectors, files and listeners.
func LimitsOf(pools int) (Limits, error) {
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		return Limits{}, fmt.Errorf("limit of open files: %w", err)
	}
	return limitsOf(uint64(files.Cur), pools), nil
}

func limitsOf(files uint64, pools int) Limits {
	share := int(min(files/2/uint64(pools), maxServed+maxWaiting))
	served := max(least, min(maxServed, share/2))
	return Limits{Served: served, Waiting: max(least, min(maxWaiting, share-served))}
}
