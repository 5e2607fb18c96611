package cgroup

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// pressure is one line of memory.pressure.
type pressure struct {
	// kind is some or full.
	kind string
	// avg10, avg60 and avg300 are percentages of the last 10, 60 and 300 seconds.
	avg10, avg60, avg300 float64
	// total is in microseconds.
	total float64
}

// parseBytes reads a file with one number, such as memory.current and
// memory.usage_in_bytes.
func parseBytes(data []byte) (float64, error) {
	text := bytes.TrimSuffix(data, []byte("\n"))
	n, err := strconv.ParseUint(string(text), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%.32q is not a number of bytes", text)
	}
	return float64(n), nil
}

// parseLimit reads a limit: memory.max of version 2, in which max means none,
// or a limit of version 1.
func parseLimit(data []byte) (float64, error) {
	if string(bytes.TrimSuffix(data, []byte("\n"))) == "max" {
		return math.Inf(1), nil
	}
	n, err := parseBytes(data)
	return limitV1(n), err
}

// limitV1 converts a limit of version 1. No limit is the largest number of whole pages in 63
// bits: PAGE_COUNTER_MAX in include/linux/page_counter.h. Pages are at most 256 KiB.
func limitV1(bytes float64) float64 {
	if bytes >= math.MaxInt64-1<<20 {
		return math.Inf(1)
	}
	return bytes
}

// errNoKey is the error for a missing line.
var errNoKey = errors.New("no such line")

// parseKey reads the number of one line of a flat keyed file, such as
// memory.stat: see Documentation/admin-guide/cgroup-v2.rst. It returns errNoKey for
// a missing line.
func parseKey(data []byte, key string) (float64, error) {
	for line := range bytes.Lines(data) {
		name, value, ok := bytes.Cut(line, []byte(" "))
		if !ok || string(name) != key {
			continue
		}
		n, err := parseBytes(value)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", key, err)
		}
		return n, nil
	}
	return 0, fmt.Errorf("%s: %w", key, errNoKey)
}

// parsePressure reads memory.pressure, a line for some and one for full: see
// Documentation/accounting/psi.rst. Other lines are ignored.
func parsePressure(data []byte) ([]pressure, error) {
	var all []pressure
	for line := range bytes.Lines(data) {
		kind, values, _ := bytes.Cut(line, []byte(" "))
		if k := string(kind); k != "some" && k != "full" || slices.ContainsFunc(all, func(p pressure) bool { return p.kind == k }) {
			continue
		}
		p := pressure{kind: string(kind)}
		fields := bytes.Fields(values)
		for i, v := range []struct {
			name string
			into *float64
			most float64
		}{{"avg10=", &p.avg10, 100}, {"avg60=", &p.avg60, 100}, {"avg300=", &p.avg300, 100}, {"total=", &p.total, math.MaxUint64}} {
			var text []byte
			if i < len(fields) {
				text, _ = bytes.CutPrefix(fields[i], []byte(v.name))
			}
			n, err := strconv.ParseFloat(string(text), 64)
			if err != nil || !(n >= 0 && n <= v.most) {
				return nil, fmt.Errorf("pressure: %.80q: expected %s and a number", line, v.name)
			}
			*v.into = n
		}
		all = append(all, p)
	}
	if all == nil {
		return nil, errors.New("pressure: neither some nor full")
	}
	return all, nil
}
