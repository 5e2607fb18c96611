package main

import (
	"cmp"

	"github.com/vitals-health/vitals/internal/memlimit"
)

const (
	// noMemoryLimit stands for the limit of a process that has none, in bytes.
	noMemoryLimit = 2 << 30
	// seriesShare and bodiesShare are the parts of the limit that series, and answers while
	// they are parsed, may take: a quarter and a fifth. The rest is for snapshots, queries,
	// requests and garbage. targetsShare is the part that collectors may plan for their targets.
	seriesShare  = 4
	bodiesShare  = 5
	targetsShare = 4
	// A query may load samples of an eighth of the limit, at 16 bytes each, and at most
	// mostSamples.
	bytesPerSample = 8 * 16
	mostSamples    = 5_000_000
)

// memoryLimit returns the memory that the process may use, in bytes; 0 without a limit.
func memoryLimit() int64 {
	limit, _, _ := memlimit.Limit()
	return limit
}

// memoryToUse is memoryLimit with an assumption where there is no limit.
func memoryToUse() int64 { return cmp.Or(memoryLimit(), noMemoryLimit) }

// maxSamples returns how many samples a query may load.
func maxSamples() int { return int(min(memoryToUse()/bytesPerSample, mostSamples)) }
