// Package evaluatortest has helpers for the tests of what follows an evaluator.
package evaluatortest

import (
	"sync"

	"github.com/vitals-health/vitals/evaluator"
)

// Stage has the snapshots that a test publishes, as an Evaluator has its own. It is safe for
// concurrent use.
type Stage struct {
	mu      sync.Mutex // guards what follows
	current *evaluator.Snapshot
	changed chan struct{}
}

// NewStage returns a Stage with its first snapshot.
func NewStage(s *evaluator.Snapshot) *Stage { return &Stage{current: s, changed: make(chan struct{})} }

// Snapshot returns the last snapshot.
func (s *Stage) Snapshot() *evaluator.Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current
}

// Changed returns a channel that the next snapshot closes.
func (s *Stage) Changed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

// Publish replaces the snapshot.
func (s *Stage) Publish(next *evaluator.Snapshot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current = next
	close(s.changed)
	s.changed = make(chan struct{})
}
