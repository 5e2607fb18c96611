package rules

import "time"

// Options are what a configuration defines for its rule files.
type Options struct {
	// States are the allowed values of the label state.
	States []string
	// Step is the step of a subquery without one; a minute if zero, as in Prometheus.
	Step time.Duration
}

// ParseAll parses a rule file with default options: see Options.ParseAll.
func ParseAll(file string, data []byte, states []string) ([]*File, []error) {
	return Options{States: states}.ParseAll(file, data)
}
