package alertmanager

import (
	"cmp"
	"slices"
	"time"

	"github.com/prometheus/prometheus/model/labels"

	"github.com/vitals-health/vitals/evaluator"
)

const (
	// resend is how often an alert is sent again: Prometheus' default of
	// --rules.alert.resend-delay.
	resend = time.Minute
	// retention is how long the end of an alert is sent again, because Alertmanager may have
	// restarted since. Source: Prometheus, rules/alerting.go, resolvedRetention.
	retention = 15 * time.Minute
	// maxAlerts bounds the alerts that are kept, and maxBytes their labels and annotations. The
	// number is the default of Prometheus' --alertmanager.notification-queue-capacity.
	maxAlerts, maxBytes = 10_000, 16 << 20
)

// book has the alerts that fire and those that have ended, for one Alertmanager. It belongs to
// one goroutine.
type book struct {
	target, external map[string]string
	link             string
	builder          *labels.Builder

	// turn counts the snapshots, and groups are those of the last one.
	turn   uint64
	groups []evaluator.Group
	// recorded are the labels of the target that metrics have, as far as new rules use them.
	recorded map[string][]string
	rules    map[*evaluator.Definition]*rule
	byKey    map[string]*rule
	// alerts are by the hash of the labels with which they are sent.
	alerts map[uint64]*kept
	bytes  int
	// excess is for how many alerts of the last snapshot there was no room.
	excess  int
	dropped uint64
}

// kept is an alert that fires, or that has ended.
type kept struct {
	rule *rule
	// own are the labels of the alert, and sent those with which it is sent.
	own, sent          labels.Labels
	annotations        map[string]string
	activeAt, startsAt time.Time
	// endedAt is when the alert ended, with a monotonic reading; zero while it fires.
	endedAt time.Time
	// sentAt is when it was last sent since it began or ended; zero if it was not.
	sentAt time.Time
	// delivered is set once it was sent with success since it began or ended.
	delivered bool
	turn      uint64
}

func newBook(target, external map[string]string, link string) *book {
	b := &book{target: target, external: external, link: link, recorded: map[string][]string{}, builder: labels.NewBuilder(labels.EmptyLabels())}
	if b.external == nil {
		b.external = map[string]string{}
	}
	b.clear()
	return b
}

// clear forgets all alerts.
func (b *book) clear() {
	b.rules, b.byKey, b.alerts = map[*evaluator.Definition]*rule{}, map[string]*rule{}, map[uint64]*kept{}
}

// observe takes over the alerts of a snapshot.
func (b *book) observe(s *evaluator.Snapshot, now time.Time) {
	b.turn++
	b.groups, b.bytes = s.Groups, 0
	clear(b.recorded)
	for _, k := range b.alerts {
		b.bytes += k.size()
	}
	excess, purged := 0, false
	for i := range s.Groups {
		g := &s.Groups[i]
		for j := range g.Rules {
			if g.Rules[j].Alert < 0 {
				continue
			}
			r := b.rule(g, &g.Rules[j], &s.Rules[g.Rules[j].Alert])
			for _, a := range s.Rules[g.Rules[j].Alert].Alerts {
				if !a.Firing || b.fires(r, &a) {
					continue
				}
				if !purged {
					purged = true
					b.purge()
					if b.fires(r, &a) {
						continue
					}
				}
				excess++
			}
		}
	}
	b.forgetRules()
	b.finish(s.At, now)
	b.dropped += uint64(max(0, excess-b.excess))
	b.excess = excess
}

// rule returns a rule as it is in the snapshot.
func (b *book) rule(g *evaluator.Group, of *evaluator.GroupRule, s *evaluator.Rule) *rule {
	r, ok := b.rules[of.Definition]
	if !ok {
		r = b.newRule(g, of.Definition)
		b.rules[of.Definition], b.byKey[r.key] = r, r
	}
	r.observe(g, of, s, b.turn)
	return r
}

// forgetRules forgets those that the snapshot does not have.
func (b *book) forgetRules() {
	for d, r := range b.rules {
		if r.turn == b.turn {
			continue
		}
		delete(b.rules, d)
		if b.byKey[r.key] == r {
			delete(b.byKey, r.key)
		}
	}
}

// fires takes over an alert that fires. It returns false if there is no room.
func (b *book) fires(r *rule, a *evaluator.Alert) bool {
	sent := r.sent(a.Labels, b.builder)
	hash := sent.Hash()
	k, ok := b.alerts[hash]
	if ok && k.turn == b.turn {
		return true // another rule has an alert with the same labels
	}
	if !ok {
		k = &kept{sent: sent}
	}
	if !ok || !k.endedAt.IsZero() {
		k.endedAt, k.sentAt, k.delivered = time.Time{}, time.Time{}, false
	}
	k.rule, k.own, k.annotations, k.activeAt, k.startsAt = r, a.Labels, a.Annotations, a.ActiveAt, a.FiredAt
	if ok {
		k.turn = b.turn
		return true
	}
	if len(b.alerts) >= maxAlerts || b.bytes+k.size() > maxBytes {
		return false
	}
	k.turn = b.turn
	b.alerts[hash], b.bytes = k, b.bytes+k.size()
	return true
}

// size returns about how many bytes an alert takes, without what is the same for all.
func (k *kept) size() int {
	n := int(k.own.ByteSize() + k.sent.ByteSize())
	for name, value := range k.annotations {
		n += len(name) + len(value)
	}
	return n
}

// purge makes room: it forgets the alerts that have ended and whose end was sent.
func (b *book) purge() {
	for hash, k := range b.alerts {
		if !k.endedAt.IsZero() && k.delivered {
			b.bytes -= k.size()
			delete(b.alerts, hash)
		}
	}
}

// finish ends the alerts that the snapshot of at does not have, and forgets those that ended
// long ago. As in Prometheus, the alerts of a rule that was removed, or whose evaluation fails
// and has none, are not ended: they are sent no more, and end in Alertmanager after their
// validity.
func (b *book) finish(at, now time.Time) {
	for hash, k := range b.alerts {
		switch {
		case k.turn == b.turn:
		case !k.endedAt.IsZero():
			if now.Sub(k.endedAt) > retention {
				if !k.delivered {
					b.dropped++
				}
				delete(b.alerts, hash)
			}
		case b.byKey[k.rule.key] == nil || b.byKey[k.rule.key].failed:
			delete(b.alerts, hash)
		case !b.byKey[k.rule.key].hidden(k):
			k.endedAt, k.sentAt, k.delivered = at, time.Time{}, false
		}
	}
}

// due returns at most limit alerts to send now, those first that were not sent since they began
// or ended. waiting is the number of all that are due, and next is how long until one more is.
func (b *book) due(now time.Time, limit int) (chunk []*kept, waiting int, next time.Duration) {
	var fresh, repeated []*kept
	next = resend
	for _, k := range b.alerts {
		wait := resend - now.Sub(k.sentAt)
		switch {
		case k.sentAt.IsZero():
			fresh = append(fresh, k)
		case wait <= 0:
			repeated = append(repeated, k)
		default:
			next = min(next, wait)
		}
	}
	waiting = len(fresh) + len(repeated)
	chunk = fresh
	if len(chunk) < limit {
		chunk = append(chunk, repeated[:min(len(repeated), limit-len(chunk))]...)
	}
	chunk = chunk[:min(len(chunk), limit)]
	slices.SortFunc(chunk, func(x, y *kept) int { return cmp.Or(x.startsAt.Compare(y.startsAt), labels.Compare(x.sent, y.sent)) })
	return chunk, waiting, next
}

// mark records that alerts were sent, with success or not.
func (b *book) mark(chunk []*kept, now time.Time, delivered bool) {
	for _, k := range chunk {
		k.sentAt, k.delivered = now, k.delivered || delivered
	}
}
