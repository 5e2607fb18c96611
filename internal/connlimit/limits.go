package connlimit

import (
	"fmt"
	"syscall"
)

const (
	// maxServed connections of a pool are served at a time. A node has a handful of probers
	// and scrapers. One costs up to servedCost bytes: 96 KiB of buffers in the kernel, or 8 streams
	// of HTTP/2 with their headers. Together they take at most a servedShare of the memory limit.
	maxServed   = 256
	servedCost  = 128 << 10
	servedShare = 4
	// maxWaiting connections of all pools wait until they are served. Each costs up to
	// waitingCost bytes, most of them in the kernel, and together they take at most a
	// waitingShare of the memory limit.
	maxWaiting   = 1024
	waitingCost  = 8 << 10
	waitingShare = 16
	// least is the smallest bound: a kubelet has up to three probes at a time.
	least = 4
	// maxQuiet of the served connections are kept without a request, and at most every fourth:
	// while there are fewer, the oldest request gives way to a client without a connection.
	maxQuiet = 16
)

// Limits are the bounds of pools.
type Limits struct {
	// Served is the number of connections of one pool that are served at a time.
	Served int
	// Waiting is the number of further connections of all pools that are accepted and not
	// served yet.
	Waiting int
}

// LimitsOf returns the bounds of several pools in a process with a memory limit in bytes.
// Together they hold at most half of the file descriptors that the process may open: the other
// half is for collectors, files and listeners.
func LimitsOf(pools int, memory int64) (Limits, error) {
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		return Limits{}, fmt.Errorf("limit of open files: %w", err)
	}
	return limitsOf(uint64(files.Cur), pools, memory), nil
}

func limitsOf(files uint64, pools int, memory int64) Limits {
	share := int(min(files/2/uint64(pools), maxServed+maxWaiting))
	served := max(least, min(maxServed, share/2, int(min(memory/servedShare/servedCost, 1<<20))/pools))
	waiting := max(least, min(int(min(memory/waitingShare/waitingCost, maxWaiting)), pools*(share-served)))
	return Limits{Served: served, Waiting: waiting}
}

// quiet returns how many served connections without a request a newcomer leaves alone.
func (l Limits) quiet() int { return min(maxQuiet, l.Served/4) }
