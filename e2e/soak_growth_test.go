//go:build e2e

package e2e_test

import (
	"fmt"
	"slices"
	"time"
)

// usage is what the process uses at one time.
type usage struct {
	at     time.Time
	values [len(soakUsage)]float64
}

// soakUsage is what must not grow, and by how much the second half may exceed the first: a
// share, and a number for what is small.
var soakUsage = [...]struct {
	name, metric string
	share, plus  float64
	// unit divides the values.
	unit float64
}{
	{"goroutines", "go_goroutines", 0.10, 10, 1},
	{"descriptors", "process_open_fds", 0.10, 10, 1},
	// The size at which memory is collected next is twice what was in use after the last time.
	{"live heap, MiB", "go_memstats_next_gc_bytes", 0.15, 1, 2 << 20},
	{"RSS, MiB", "process_resident_memory_bytes", 0.15, 8, 1 << 20},
}

func usageOf(m metrics, at time.Time) usage {
	u := usage{at: at}
	for i, what := range soakUsage {
		u.values[i] = m[what.metric] / what.unit
	}
	return u
}

// growth compares the medians of the two halves after a warm-up. It returns the lines of a
// table, and what has grown.
func growth(all []usage, warmUp time.Duration) (table, grown []string) {
	begin := slices.IndexFunc(all, func(u usage) bool { return u.at.Sub(all[0].at) >= warmUp })
	if begin < 0 || len(all)-begin < 20 {
		return nil, []string{fmt.Sprintf("%d measurements are too few", len(all))}
	}
	all = all[begin:]
	middle := all[0].at.Add(all[len(all)-1].at.Sub(all[0].at) / 2)
	half := slices.IndexFunc(all, func(u usage) bool { return u.at.After(middle) })
	hours := all[len(all)-1].at.Sub(all[0].at).Hours()
	for i, what := range soakUsage {
		first, second := middleOf(all[:half], i), middleOf(all[half:], i)
		line := fmt.Sprintf("%-16s %9.1f first half %9.1f second half %+9.1f an hour", what.name, first, second, (second-first)/hours*2)
		table = append(table, line)
		if second > first*(1+what.share)+what.plus {
			grown = append(grown, line)
		}
	}
	return table, grown
}

// middleOf is the median of one of the values.
func middleOf(all []usage, i int) float64 {
	var values []float64
	for _, u := range all {
		values = append(values, u.values[i])
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// latencies are the times of requests.
type latencies []time.Duration

// quantile returns a quantile; 0 without requests.
func (l latencies) quantile(q float64) time.Duration {
	if len(l) == 0 {
		return 0
	}
	slices.Sort(l)
	return l[min(len(l)-1, int(q*float64(len(l))))]
}
