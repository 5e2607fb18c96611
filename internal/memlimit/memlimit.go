// Package memlimit reads how much memory the process may use, and makes the garbage
// collector keep to it.
package memlimit

import (
	"log/slog"
	"math"
	"os"
	"runtime/debug"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

// The sources of a limit.
const (
	// Variable is the environment variable that the Go runtime reads.
	Variable = "GOMEMLIMIT"
	// Cgroup is the cgroup of the process, of version 1 or 2, or one of its parents.
	Cgroup = "cgroup"
)

// What the runtime does not count needs the rest of the cgroup's limit: the program itself, and
// buffers of the kernel. With 13 MiB of 128 left, the kernel read pages of the program again and again,
// 180 times a second, until requests timed out (TestLabelExplosion of e2e).
const (
	// share of the limit is the most that the heap and the runtime may use.
	share = 0.9
	// program is the least that is left, in bytes: most of the pages of a program of 35 MB.
	program = 26 << 20
	// least is the share that the heap and the runtime may use of any limit.
	least = 0.5
)

// Limit returns the memory in bytes that the process may use, and its source: the smaller
// one of the cgroup's limit and GOMEMLIMIT. ok is false without a limit.
func Limit() (bytes int64, source string, ok bool) {
	return smaller(variable(), cgroup())
}

// Apply sets the soft limit of the Go runtime to the cgroup's limit without the memory of the program. A GOMEMLIMIT in
// the environment has precedence, also one that is off. It logs the limit.
func Apply(logger *slog.Logger) {
	if value, given := os.LookupEnv(Variable); given {
		logger.Debug("memory limit", "source", Variable, "gomemlimit", value)
		return
	}
	limit := cgroup()
	if limit == math.MaxInt64 {
		logger.Debug("no memory limit")
		return
	}
	soft := softLimit(limit)
	debug.SetMemoryLimit(soft)
	logger.Info("memory limit", "source", Cgroup, "bytes", limit, "gomemlimit", soft)
}

// softLimit returns what the Go runtime gets of a limit: all but 26 MiB, at least half of it and at
// most 90 %.
func softLimit(limit int64) int64 {
	return max(int64(float64(limit)*least), min(int64(float64(limit)*share), limit-program))
}

// smaller returns the smaller limit. math.MaxInt64 is none.
func smaller(variable, cgroup int64) (bytes int64, source string, ok bool) {
	switch {
	case variable == math.MaxInt64 && cgroup == math.MaxInt64:
		return 0, "", false
	case variable <= cgroup:
		return variable, Variable, true
	}
	return cgroup, Cgroup, true
}

// variable returns the limit in GOMEMLIMIT; math.MaxInt64 is none.
func variable() int64 {
	if _, given := os.LookupEnv(Variable); !given {
		return math.MaxInt64 // the runtime has the limit that Apply set
	}
	return debug.SetMemoryLimit(-1)
}

// cgroup returns the cgroup's limit; math.MaxInt64 is none. Without access to the cgroup
// there is no limit to keep to.
func cgroup() int64 {
	limit, err := memlimit.FromCgroup()
	if err != nil {
		return math.MaxInt64
	}
	return int64(min(limit, math.MaxInt64))
}
