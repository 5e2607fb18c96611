// Package alertmanager sends the alerts of all rules to Alertmanagers, as Prometheus sends those
// of the same rules. It follows the snapshots in goroutines of its own, and never delays them.
package alertmanager

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/httpconfig"
	"github.com/vitals-health/vitals/internal/panics"
)

// restartPause is how long a sender rests after a panic, before it starts anew.
const restartPause = time.Minute

// Options are which alerts to send, and where. The zero value sends none.
type Options struct {
	// URLs are the addresses of the Alertmanagers, without the path of the API.
	URLs []string
	// HTTPConfigFile has credentials and TLS for all of them, in the format of Prometheus'
	// http_config; empty for neither.
	HTTPConfigFile string
	// TargetLabels are added to the alerts whose expression keeps the labels of its series, as
	// Prometheus adds the labels of a target to all series of a scrape. ExternalLabels are added
	// to all alerts. A label that an alert has stays.
	TargetLabels, ExternalLabels map[string]string
	// ExternalURL is the address of Vitals for people; empty for alerts without a link.
	ExternalURL string
}

// Env is what the package gets from its program.
type Env struct {
	// Hide receives secrets, and Clean returns a text without them.
	Hide  func(...string)
	Clean func(string) string
	// Logger gets a line for each change.
	Logger *slog.Logger
	// Version is that of Vitals, for the header User-Agent.
	Version string
}

// verdicts is the source of the snapshots.
type verdicts interface {
	Snapshot() *evaluator.Snapshot
	Changed() <-chan struct{}
}

// Notifier sends alerts. A nil Notifier does nothing.
type Notifier struct {
	logger  *slog.Logger
	senders []*sender
}

// New returns a notifier, or nil if there is no Alertmanager. It sends nothing.
func New(o Options, env Env) (*Notifier, error) {
	if len(o.URLs) == 0 {
		return nil, o.withoutURL()
	}
	targets, link, err := o.parse(env.Hide)
	if err != nil {
		return nil, err
	}
	config, err := httpconfig.Load(o.HTTPConfigFile, env.Hide)
	if err != nil {
		return nil, httpConfigError(err)
	}
	n := &Notifier{logger: env.Logger}
	for _, to := range targets {
		client, err := newClient(config, "vitals/"+env.Version)
		if err != nil {
			return nil, httpConfigError(httpconfig.Mistake(o.HTTPConfigFile, err))
		}
		n.senders = append(n.senders, newSender(to, client, newBook(o.TargetLabels, o.ExternalLabels, link), env))
	}
	return n, nil
}

// Run sends alerts until ctx ends, and then what is due, for at most drainTimeout.
func (n *Notifier) Run(ctx context.Context, v verdicts) {
	if n == nil {
		return
	}
	var running sync.WaitGroup
	for _, s := range n.senders {
		running.Go(func() { n.keep(ctx, s, v) })
	}
	running.Wait()
}

// keep runs a sender, again after a panic.
func (n *Notifier) keep(ctx context.Context, s *sender, v verdicts) {
	for {
		err := panics.Try(func() { s.run(ctx, v) })
		if err == nil {
			return
		}
		n.logger.Error("sending alerts to Alertmanager ended, and starts again", "alertmanager", s.to.shown, "in", restartPause, "err", err)
		s.restart()
		select {
		case <-ctx.Done():
			return
		case <-time.After(restartPause):
		}
	}
}

// Status is what one Alertmanager was sent.
type Status struct {
	// URL has no credentials.
	URL string
	// Requested is set once a request has ended, and Success if the last one succeeded.
	Requested, Success bool
	// Sent counts alerts in requests that succeeded, Errors those in requests that failed.
	Sent, Errors uint64
	// Dropped counts alerts for which there was no room, and ends of alerts that could not be
	// sent in time.
	Dropped uint64
	// Requests counts the requests that succeeded, and Took is their total duration.
	Requests uint64
	Took     time.Duration
	// Waiting is the number of alerts that are due.
	Waiting int
}

// Capacity is the number of alerts that are kept for an Alertmanager.
const Capacity = maxAlerts

// Status returns what each Alertmanager was sent. A nil Notifier has none.
func (n *Notifier) Status() []Status {
	if n == nil {
		return nil
	}
	var all []Status
	for _, s := range n.senders {
		all = append(all, s.current())
	}
	return all
}
