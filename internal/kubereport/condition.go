package kubereport

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"golang.org/x/time/rate"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/history"
	"github.com/vitals-health/vitals/internal/text"
)

const (
	// A condition that does not change is sent again, because its object may have been replaced.
	refresh = 5 * time.Minute
	// A state that flaps changes its condition changeBurst times, and then once in changeEvery.
	changeEvery, changeBurst = 10 * time.Second, 6
)

// content is the status of a condition, and why.
type content struct {
	ok              bool
	reason, message string
	// word is that of the verdict: a message about missing evidence does not hold for a failure.
	word string
}

// same reports whether a condition with the one need not be replaced by the other. Messages may
// have values that change all the time.
func (c content) same(o content) bool {
	return c.ok == o.ok && c.reason == o.reason && c.word == o.word
}

// contentOf returns the condition of ready. Without a verdict that is new enough, it is False.
func contentOf(s *evaluator.Snapshot, now time.Time, clean func(string) string) content {
	st, _ := s.State(evaluator.Ready, now)
	word := evaluator.Ready + " " + s.Word(&st)
	c := content{ok: st.Verdict != evaluator.Fail, reason: "ReadyOk", message: word, word: word}
	switch {
	case len(st.Deciding) > 0:
		r := &s.Rules[st.Deciding[0]]
		c.reason = camel(r.Name)
		c.message = because(clean(cmp.Or(history.Why(r.Status == evaluator.Unknown, r.Summary, cmp.Or(r.Reason, r.Note)), r.Name)), len(st.Deciding)) + ", " + word
	case !c.ok:
		c.reason, c.message = "ReadyFailing", because(clean(st.Reason), 0)+", "+word
	}
	return c
}

// condition is a condition of one object, which follows ready. It belongs to one goroutine.
type condition struct {
	// what and kind are for the log: such as a readiness gate and its type.
	what, kind string
	path       string
	// uid is that of the pod; empty for a node.
	uid    string
	api    api
	right  *right
	limit  *rate.Limiter
	logger *slog.Logger
	clean  func(string) string

	// sent is what the API server has, since the time changed; nil before the first success.
	sent            *content
	sentAt, changed time.Time
	// tried is what was sent last, failures times without success.
	tried    content
	triedAt  time.Time
	failures int
}

func (id identity) podCondition(kind string, to api, env Env, patch *right) *condition {
	path := "/api/v1/namespaces/" + id.namespace + "/pods/" + id.pod + "/status"
	return newCondition(condition{what: "readiness gate", kind: kind, path: path, uid: id.uid, api: to, right: patch}, env)
}

func (id identity) nodeCondition(kind string, to api, env Env, patch *right) *condition {
	return newCondition(condition{what: "node condition", kind: kind, path: "/api/v1/nodes/" + id.node + "/status", api: to, right: patch}, env)
}

func newCondition(c condition, env Env) *condition {
	c.limit, c.logger, c.clean = rate.NewLimiter(rate.Every(changeEvery), changeBurst), env.Logger, env.Clean
	return &c
}

// run keeps the condition as ready is until ctx ends, and then sets it to False.
func (c *condition) run(ctx context.Context, v verdicts) {
	for {
		changed := v.Changed()
		snap, now := v.Snapshot(), time.Now()
		want := contentOf(snap, now, c.clean)
		wait := c.due(want, snap.ShuttingDown, now)
		if wait <= 0 && ctx.Err() == nil {
			c.send(ctx, want, requestTimeout)
			continue
		}
		if stalls := snap.At.Add(snap.MaxAge).Sub(now); stalls >= 0 {
			wait = min(wait, stalls+time.Millisecond)
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			c.stop(ctx)
			return
		case <-changed:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// due returns how long to wait before the content is sent.
func (c *condition) due(want content, stopping bool, now time.Time) time.Duration {
	switch {
	case c.failures > 0 && want.same(c.tried):
		pause := firstPause << min(c.failures-1, 10)
		return c.triedAt.Add(min(pause, lastPause)).Sub(now)
	case c.failures == 0 && c.sent != nil && want.same(*c.sent):
		return c.sentAt.Add(refresh).Sub(now)
	case stopping:
		return 0
	}
	next := c.limit.ReserveN(now, 1)
	wait := next.DelayFrom(now)
	if wait > 0 {
		next.CancelAt(now)
	}
	return wait
}

// send sends the content, and logs what changed.
func (c *condition) send(ctx context.Context, want content, timeout time.Duration) {
	now := time.Now()
	if !want.same(c.tried) {
		c.failures = 0
	}
	c.tried, c.triedAt = want, now
	since := c.changed
	if c.sent == nil || c.sent.ok != want.ok {
		since = now
	}
	body := c.patch(want, since, now)
	if err := c.right.use(ctx, timeout, func(ctx context.Context) error { return c.api.Patch(ctx, c.path, body) }); err != nil {
		c.failures++
		return
	}
	if c.sent == nil || !want.same(*c.sent) {
		c.logger.Info("condition reported to Kubernetes", "condition", c.what, "type", c.kind, "status", statusOf(want.ok), "reason", want.reason)
	}
	c.sent, c.sentAt, c.changed, c.failures = &want, now, since, 0
}

// stop sets the condition to False, unless it is already. ctx has ended. The last request may have
// been taken although its answer was lost.
func (c *condition) stop(ctx context.Context) {
	if c.tried.ok {
		c.sent = nil
	}
	if c.sent == nil || c.sent.ok {
		c.send(context.WithoutCancel(ctx), content{reason: "VitalsStopped", message: "Vitals has stopped, ready failing"}, lastTimeout)
	}
}

// patch returns a strategic merge patch: the API server merges conditions by their type. With the
// UID of another pod of the name, it answers 409.
func (c *condition) patch(want content, since, now time.Time) []byte {
	type fields map[string]any
	own := fields{
		"type": c.kind, "status": statusOf(want.ok), "reason": want.reason, "message": text.Clip(want.message, maxMessage),
		"lastTransitionTime": timestamp(since),
	}
	patch := fields{"status": fields{"conditions": []fields{own}}}
	if c.uid != "" {
		patch["metadata"] = fields{"uid": c.uid}
	} else {
		own["lastHeartbeatTime"] = timestamp(now)
	}
	body, _ := json.Marshal(patch) // strings only: cannot fail
	return body
}

func statusOf(ok bool) string { return text.Either(ok, "True", "False") }

// timestamp returns a time as the API has it.
func timestamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
