package targets

import "context"

// Target is one target of a collector.
type Target struct {
	// Name is the value of the label dependency or component: one that collectors.NameProblem
	// accepts.
	Name string
	// Address is what the collector's kind connects to, such as host:port or a URL.
	Address string
}

// Source finds the targets of a collector.
type Source interface {
	// Run blocks until ctx ends. It calls found with the complete current set at first and at
	// every change, never concurrently. With an error, the last set stays.
	Run(ctx context.Context, found func(targets []Target, err error))
}
