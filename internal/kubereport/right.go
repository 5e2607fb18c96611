package kubereport

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/vitals-health/vitals/collectors/remote"
	"github.com/vitals-health/vitals/internal/text"
)

// Status is the outcome of the requests that need a right.
type Status struct {
	Verb, Resource string
	// Requested is set once a request has ended, and Success if the last one succeeded.
	Requested, Success bool
	// Failures counts the requests that failed.
	Failures uint64
}

// right is a verb on a resource, with the outcome of the requests that need it. It is safe for
// concurrent use.
type right struct {
	verb, resource string
	logger         *slog.Logger
	clean          func(string) string

	mu        sync.Mutex // guards what follows
	requested bool
	failures  uint64
	// reason is that of the last failure; empty after a success.
	reason remote.Reason
}

// use sends a request that needs the right. It logs the first failure of each reason, and the
// end of failures.
func (r *right) use(ctx context.Context, timeout time.Duration, send func(context.Context) error) error {
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	err := send(limited)
	if errors.Is(err, context.Canceled) {
		return err // the process ends, which is no failure
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	reason := remote.ReasonOf(err)
	changed := reason != r.reason
	r.requested, r.reason = true, reason
	if err != nil {
		r.failures++
	}
	switch {
	case !changed:
	case err == nil:
		r.logger.Info("reports to Kubernetes succeed again", "verb", r.verb, "resource", r.resource)
	case reason == remote.ReasonForbidden:
		r.logger.Warn("a report to Kubernetes is forbidden: the account lacks the right", "verb", r.verb, "resource", r.resource, "err", text.Line(r.clean(err.Error()), maxMessage))
	default:
		r.logger.Warn("cannot report to Kubernetes", "verb", r.verb, "resource", r.resource, "err", text.Line(r.clean(err.Error()), maxMessage))
	}
	return err
}

func (r *right) status() Status {
	r.mu.Lock()
	defer r.mu.Unlock()
	return Status{r.verb, r.resource, r.requested, r.requested && r.reason == "", r.failures}
}
