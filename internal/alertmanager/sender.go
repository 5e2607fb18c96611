package alertmanager

import (
	"context"
	"encoding/json"
	"log/slog"
	"math"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/prometheus/model/labels"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/text"
)

const (
	// maxBatch and requestTimeout are those of Prometheus' notifier: DefaultMaxBatchSize, and
	// the default of timeout in alertmanager_config.
	maxBatch       = 256
	requestTimeout = 10 * time.Second
	// maxBody bounds the alerts of one request in bytes, unless a single one is longer.
	maxBody = 1 << 20
	// drainTimeout bounds what is sent at the end of the process.
	drainTimeout = 2 * time.Second
	// The pause after a failed request doubles from firstPause to lastPause.
	firstPause, lastPause = time.Second, 30 * time.Second
)

// sender sends alerts to one Alertmanager. It belongs to one goroutine, except for status.
type sender struct {
	to      target
	client  *http.Client
	timeout time.Duration
	book    *book
	logger  *slog.Logger
	clean   func(string) string
	// observed is the last snapshot that the book has.
	observed *evaluator.Snapshot

	// failures counts the requests since the last success, the last of them at failedAt.
	failures int
	failedAt time.Time

	mu     sync.Mutex // guards what follows
	status Status
}

func newSender(to target, client *http.Client, b *book, env Env) *sender {
	return &sender{to: to, client: client, timeout: requestTimeout, book: b, logger: env.Logger, clean: env.Clean, status: Status{URL: to.shown}}
}

func (s *sender) current() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.status
}

// restart forgets what a panic may have left half done.
func (s *sender) restart() {
	s.book.clear()
	s.observed, s.failures = nil, 0
}

// run sends alerts until ctx ends, and then what is due, for at most drainTimeout. While the
// evaluator is stalled, it sends nothing: no alert of that time is certain.
func (s *sender) run(ctx context.Context, v verdicts) {
	defer s.client.CloseIdleConnections()
	sending, cancel := outlasting(ctx, drainTimeout)
	defer cancel()
	for {
		changed := v.Changed()
		snap, now := v.Snapshot(), time.Now()
		stopping, wait := ctx.Err() != nil, time.Duration(math.MaxInt64)
		if !snap.Stalled(now) {
			if snap != s.observed {
				s.book.observe(snap, now)
				s.observed = snap
			}
			wait = s.step(sending, now, stopping)
		}
		switch {
		case wait <= 0 && sending.Err() == nil:
			continue
		case stopping:
			return
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-changed:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// outlasting returns a context that ends when the limit has passed since the end of ctx.
func outlasting(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(limit, cancel) })
	return longer, func() {
		stop()
		cancel()
	}
}

// step sends at most one batch. It returns how long to wait for the next one; while stopping,
// zero only if there is one.
func (s *sender) step(ctx context.Context, now time.Time, stopping bool) time.Duration {
	chunk, waiting, next := s.book.due(now, maxBatch)
	s.update(func(of *Status) { of.Waiting, of.Dropped = waiting, s.book.dropped })
	if len(chunk) == 0 {
		return next
	}
	if pause := s.failedAt.Add(min(firstPause<<min(max(s.failures-1, 0), 10), lastPause)).Sub(now); s.failures > 0 && pause > 0 && !stopping {
		return pause
	}
	chunk, body := s.encode(chunk, now)
	err := post(ctx, s.client, s.to.url, body, s.timeout)
	if err != nil && ctx.Err() != nil {
		return time.Second // the process ends
	}
	s.conclude(chunk, now, err)
	if err != nil && (stopping || again(err)) {
		return firstPause
	}
	s.update(func(of *Status) { of.Waiting = waiting - len(chunk) })
	return 0
}

// conclude records the outcome of a request. After an answer that would be the same again, the
// alerts wait as long as after a success.
func (s *sender) conclude(chunk []*kept, began time.Time, err error) {
	ended := time.Now()
	if repeat := err != nil && again(err); repeat {
		s.failures, s.failedAt = s.failures+1, ended
	} else {
		s.failures = 0
		s.book.mark(chunk, began, err == nil)
	}
	before := s.current()
	s.update(func(of *Status) {
		of.Requested, of.Success = true, err == nil
		if err != nil {
			of.Errors += uint64(len(chunk))
			return
		}
		of.Sent += uint64(len(chunk))
		of.Requests++
		of.Took += ended.Sub(began)
	})
	failed := before.Requested && !before.Success
	switch {
	case err == nil && failed:
		s.logger.Info("alerts reach Alertmanager again", "alertmanager", s.to.shown)
	case err != nil && !failed:
		s.logger.Warn("cannot send alerts to Alertmanager", "alertmanager", s.to.shown, "err", text.Line(s.clean(err.Error()), 2*maxReason))
	}
}

func (s *sender) update(change func(*Status)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.status)
}

// wire is an alert as the API has it.
type wire struct {
	Labels       labels.Labels     `json:"labels"`
	Annotations  map[string]string `json:"annotations"`
	StartsAt     string            `json:"startsAt"`
	EndsAt       string            `json:"endsAt"`
	GeneratorURL string            `json:"generatorURL,omitempty"`
}

// encode returns the body for the first alerts, as many as fit.
func (s *sender) encode(chunk []*kept, now time.Time) (fit []*kept, body []byte) {
	body = []byte{'['}
	for i, k := range chunk {
		alert, _ := json.Marshal(s.wire(k, now)) // texts only: cannot fail
		if i > 0 && len(body)+len(alert) > maxBody {
			return chunk[:i], append(body, ']')
		}
		if i > 0 {
			body = append(body, ',')
		}
		body = append(body, alert...)
	}
	return chunk, append(body, ']')
}

// wire returns an alert as it is sent now. The wall clock may have stepped since it ended.
func (s *sender) wire(k *kept, now time.Time) wire {
	ends := now.Add(k.rule.validity)
	if !k.endedAt.IsZero() {
		ends = now.Add(k.endedAt.Sub(now))
	}
	starts := k.startsAt
	if starts.After(ends) {
		starts = ends // Alertmanager rejects an alert that ends before it starts
	}
	annotations := make(map[string]string, len(k.annotations))
	for name, value := range k.annotations {
		annotations[name] = s.clean(value)
	}
	return wire{k.sent, annotations, timestamp(starts), timestamp(ends), k.rule.link}
}

// timestamp returns a time as Prometheus sends it: in UTC, with milliseconds.
func timestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
