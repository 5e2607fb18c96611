package workers

import (
	"time"

	"github.com/vitals-health/vitals/collectors"
)

// MaxNote bounds a collector's note, in bytes: the first line of an exec probe, of 500
// bytes, must also have room for the rule and its value.
const MaxNote = 200

// Job is a collector with its times.
type Job struct {
	// Name is the collector's name in the log.
	Name string
	// Interval is the time between two collections, and Timeout the time that one has.
	Interval, Timeout time.Duration
	// Collector must be comparable: a pointer.
	Collector collectors.Collector
}

// Result is the outcome of one collection. It has no samples if the collector panicked
// or did not return in time.
type Result struct {
	Collector collectors.Collector
	Samples   []collectors.Sample
	Descs     []collectors.Desc
	Err       error
	// Note is the collector's note on this collection, one line of at most MaxNote bytes.
	Note  string
	Parts Parts
	// Essential is how many of the samples, from the first on, are kept without memory for all.
	Essential int
	// Began is when the collection began, with the monotonic reading.
	Began time.Time
	Took  time.Duration
	// Stack is the stack of a panic; nil if there was none.
	Stack []byte
}

// Parts are the notes of a collector of several parts, by the value of the label that names
// one.
type Parts struct {
	Label string
	Notes map[string]string
}
