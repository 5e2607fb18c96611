package kubernetes

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/vitals-health/vitals/collectors/targets"
	"github.com/vitals-health/vitals/internal/panics"
)

const (
	// discoveryIdle is how long the watch of a discovery may be silent, as in
	// Config.WatchIdleTimeout.
	discoveryIdle = 90 * time.Second
	// settle is the time between two sets, so that a rollout of many pods is few of them.
	settle = 100 * time.Millisecond
)

// source implements targets.Source. Run must not be called concurrently with itself.
type source struct {
	discovery Discovery
	// collector is the name of the collector, with which the names of its targets begin.
	collector string
	// address returns the address of a target from HOST:PORT.
	address func(string) string
	client  *client
	logger  *slog.Logger
}

// published is what Run has passed to found.
type published struct {
	any      bool
	targets  []targets.Target
	failures int
	failed   bool
	// beyond and lacking have been logged.
	beyond, lacking int
}

// Run implements targets.Source. It keeps a watch open until ctx ends. An error is that of a failed
// attempt to open the watch. A call without an error follows when the watch is open again.
func (s *source) Run(ctx context.Context, found func([]targets.Target, error)) {
	signal := make(chan struct{}, 1)
	changed := func() {
		select {
		case signal <- struct{}{}:
		default:
		}
	}
	m := &members{discovery: &s.discovery, role: roles()[s.discovery.Role], client: s.client, changed: changed}
	w := newWatch(s.client, m.role.resource, discoveryIdle, s.logger)
	w.namespace, w.objects = s.discovery.Namespace, m

	ctx, cancel := context.WithCancel(ctx)
	watching := panics.Go(func() struct{} { w.run(ctx, changed); return struct{}{} })
	defer s.client.closeIdle()
	defer watching.Result()
	defer cancel()
	var p published
	for {
		select {
		case <-watching.Done():
			return
		case <-signal:
			s.publish(&p, m, w.snapshot(), found)
		}
		select {
		case <-watching.Done():
			return
		case <-time.After(settle):
		}
	}
}

// publish passes a new set and a new failure to found.
func (s *source) publish(p *published, m *members, w watchState, found func([]targets.Target, error)) {
	endpoints, beyond, lacking, ok := m.found()
	all := make([]targets.Target, len(endpoints))
	for i, e := range endpoints {
		all[i] = targets.Target{Name: targets.Name(s.collector, e.name), Address: s.address(e.address())}
	}
	if ok && (!p.any || !slices.Equal(all, p.targets) || p.failed && w.connected) {
		p.any, p.targets, p.failed = true, all, false
		found(slices.Clone(all), nil)
	}
	if w.failures > p.failures && w.err != nil {
		p.failures, p.failed = w.failures, true
		found(nil, fmt.Errorf("watch %s: %w", m.role.resource, w.err))
	}
	if lacking != p.lacking {
		s.logger.Warn("endpoints without the port are no targets", "port", s.discovery.Port, "endpoints", lacking)
	}
	if beyond != p.beyond {
		s.logger.Warn("endpoints beyond the limit are no targets", "endpoints", beyond)
	}
	p.beyond, p.lacking = beyond, lacking
}
