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

// share of the cgroup's limit that the heap and the runtime may use. The rest is for what
// the runtime does not count: the program itself, and buffers of the kernel.
const share = 0.9

// Limit returns the memory in bytes that the process may use, and its source: the smaller
// one of the cgroup's limit and GOMEMLIMIT. ok is false without a limit.
func Limit() (bytes int64, source string, ok bool) {
	return smaller(variable(), cgroup())
}

// Apply sets the soft limit of the Go runtime to 90 % of the cgroup's limit. A GOMEMLIMIT in
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

// softLimit returns the share of a limit that the Go runtime gets.
func softLimit(limit int64) int64 { return int64(float64(limit) * share) }

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
