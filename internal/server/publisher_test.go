package server_test

import (
	"sync"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/server"
)

// publisher publishes generations as the evaluator does.
type publisher struct {
	mu      sync.Mutex // guards what follows
	current *evaluator.Snapshot
	changed chan struct{}
}

func newPublisher(s *evaluator.Snapshot) *publisher {
	return &publisher{current: s, changed: make(chan struct{})}
}

func (p *publisher) publish(s *evaluator.Snapshot) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.current = s
	close(p.changed)
	p.changed = make(chan struct{})
}

func (p *publisher) options() server.Options {
	o := fixed(nil)
	o.Snapshot = func() *evaluator.Snapshot {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.current
	}
	o.Changed = func() <-chan struct{} {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.changed
	}
	return o
}
