// Package kubereport reports states to Kubernetes: events about the pod, a condition of the pod
// for a readiness gate, and a condition of the node. It follows the verdicts in goroutines of its
// own, and never delays them.
package kubereport

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/vitals-health/vitals/collectors/kubernetes"
	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/history"
	"github.com/vitals-health/vitals/internal/panics"
)

const (
	// requestTimeout bounds a request, and lastTimeout the one at the end of the process. A
	// request that hangs and the next one fit into the default shutdown delay of 5 s.
	requestTimeout, lastTimeout = 2 * time.Second, 2 * time.Second
	// The pause after a failed request doubles from firstPause to lastPause.
	firstPause, lastPause = time.Second, 30 * time.Second
)

// Options are what to report, and to whom. The zero value reports nothing.
type Options struct {
	// Events reports changes of states as events about the pod.
	Events bool
	// ReadinessGate is the type of the pod's condition, and NodeCondition that of the node's;
	// empty for none.
	ReadinessGate, NodeCondition string
	// Kubeconfig is the path of a kubeconfig file; empty for the pod's service account.
	Kubeconfig string
}

// Env is what a reporter gets from its program.
type Env struct {
	// Getenv returns an environment variable.
	Getenv func(string) string
	// Hide receives secrets, and Clean returns a text without them.
	Hide  func(...string)
	Clean func(string) string
	// Logger gets a line for each change.
	Logger *slog.Logger
}

// verdicts is the source of the snapshots.
type verdicts interface {
	Snapshot() *evaluator.Snapshot
	Changed() <-chan struct{}
}

// api is the API server.
type api interface {
	Create(ctx context.Context, path string, object []byte) error
	Patch(ctx context.Context, path string, patch []byte) error
	Close()
}

// Reporter reports to one API server. A nil Reporter does nothing.
type Reporter struct {
	api        api
	logger     *slog.Logger
	events     *events
	conditions []*condition
	// rights are those that the reports need.
	rights []*right
}

// New returns a reporter, or nil if there is nothing to report. It sends nothing.
func New(o Options, env Env) (*Reporter, error) {
	if o.nothing() {
		if o.Kubeconfig != "" {
			return nil, fmt.Errorf("--kubernetes.kubeconfig=%s: expected a report with it: --kubernetes.events, --kubernetes.readiness-gate or --kubernetes.node-condition", o.Kubeconfig)
		}
		return nil, nil
	}
	if err := o.validate(); err != nil {
		return nil, err
	}
	id, err := o.identify(env.Getenv)
	if err != nil {
		return nil, err
	}
	connection, err := (&kubernetes.Config{Kubeconfig: o.Kubeconfig}).Connect(env.Hide, nil) // the answers are few and small
	if err != nil {
		return nil, err
	}
	return newReporter(o, env, id, connection), nil
}

func newReporter(o Options, env Env, id identity, to api) *Reporter {
	r := &Reporter{api: to, logger: env.Logger}
	need := func(verb, resource string) *right {
		made := &right{verb: verb, resource: resource, logger: env.Logger, clean: env.Clean}
		r.rights = append(r.rights, made)
		return made
	}
	if o.Events {
		r.events = newEvents(id, to, env.Clean, need("create", "events"), need("patch", "events"))
	}
	if o.ReadinessGate != "" {
		r.conditions = append(r.conditions, id.podCondition(o.ReadinessGate, to, env, need("patch", "pods/status")))
	}
	if o.NodeCondition != "" {
		r.conditions = append(r.conditions, id.nodeCondition(o.NodeCondition, to, env, need("patch", "nodes/status")))
	}
	return r
}

// Run reports until ctx ends. At the end it sets the conditions to False, for at most
// lastTimeout.
func (r *Reporter) Run(ctx context.Context, v verdicts, h *history.History) {
	if r == nil {
		return
	}
	var running sync.WaitGroup
	start := func(f func()) {
		running.Go(func() {
			if err := panics.Try(f); err != nil {
				r.logger.Error("reports to Kubernetes ended", "err", err)
			}
		})
	}
	if r.events != nil {
		start(func() { r.events.run(ctx, h) })
	}
	for _, c := range r.conditions {
		start(func() { c.run(ctx, v) })
	}
	running.Wait()
	r.api.Close()
}

// Status returns the outcomes of the requests so far, by the right that they need. A nil
// Reporter has none.
func (r *Reporter) Status() []Status {
	if r == nil {
		return nil
	}
	var all []Status
	for _, right := range r.rights {
		all = append(all, right.status())
	}
	return all
}

// Dropped returns how many events were not reported: those beyond the rate limit, those that the
// API server rejected, and those that it did not take in time.
func (r *Reporter) Dropped() (events uint64, ok bool) {
	if r == nil || r.events == nil {
		return 0, false
	}
	return r.events.dropped.Load(), true
}
