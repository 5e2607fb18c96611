package alertmanager

import (
	"maps"
	"net/url"
	"slices"
	"time"

	"github.com/prometheus/prometheus/model/labels"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/promexpr"
)

// rule is an alerting rule and how its alerts are sent.
type rule struct {
	// key is the same for the same rule after a reload.
	key string
	// link is where the alerts point to; empty for none.
	link string
	// added are the labels that an alert gets unless it has them.
	added []labels.Label
	// validity is how long an alert that is not sent again counts as firing.
	validity time.Duration
	// failed is set if the last evaluation failed.
	failed bool
	// shown is the last alert that the snapshot has, where it may lack some that fire; nil
	// where it has all that fire.
	shown *evaluator.Alert
	// turn is that of the last snapshot that had the rule.
	turn uint64
}

func (b *book) newRule(g *evaluator.Group, d *evaluator.Definition) *rule {
	r := &rule{key: g.File + "\x00" + g.Name + "\x00" + d.Name + "\x00" + d.Query + "\x00" + labels.FromMap(d.Labels).String()}
	if b.link != "" {
		r.link = b.link + "#" + url.Values{"q": {d.Name}}.Encode()
	}
	added := maps.Clone(b.external)
	maps.Copy(added, b.kept(d))
	for _, name := range slices.Sorted(maps.Keys(added)) {
		r.added = append(r.added, labels.Label{Name: name, Value: added[name]})
	}
	return r
}

// kept returns the labels of the target that the result of the rule's expression has in
// Prometheus. For example, sum by (dependency) has neither job nor instance.
func (b *book) kept(d *evaluator.Definition) map[string]string {
	if len(b.target) == 0 {
		return nil
	}
	kept := map[string]string{}
	for _, name := range b.keptBy(d) {
		kept[name] = b.target[name]
	}
	return kept
}

// keptBy returns the names of those labels.
func (b *book) keptBy(d *evaluator.Definition) []string {
	expr, err := promexpr.Parse(d.Query)
	if err != nil {
		return nil // impossible: it was printed from a parsed one
	}
	has := promexpr.ResultLabels(expr, b.labelsOf)
	return slices.DeleteFunc(slices.Collect(maps.Keys(b.target)), func(name string) bool { _, ok := has[name]; return !ok })
}

// labelsOf returns the labels of the target that the series of a metric have in Prometheus: all,
// unless rules record the metric from an expression without them.
func (b *book) labelsOf(metric string) []string {
	if names, ok := b.recorded[metric]; ok {
		return names
	}
	b.recorded[metric] = slices.Collect(maps.Keys(b.target)) // for an expression that uses itself
	names := slices.Clone(b.recorded[metric])
	for _, g := range b.groups {
		for _, r := range g.Rules {
			if r.Alert < 0 && r.Name == metric {
				kept := b.keptBy(r.Definition)
				names = slices.DeleteFunc(names, func(name string) bool { return !slices.Contains(kept, name) })
			}
		}
	}
	b.recorded[metric] = names
	return names
}

// observe takes over what a snapshot has about the rule.
func (r *rule) observe(g *evaluator.Group, of *evaluator.GroupRule, s *evaluator.Rule, turn uint64) {
	r.turn, r.failed = turn, of.Error != ""
	r.validity = 4 * max(g.Interval, resend)
	r.shown = nil
	if n := len(s.Alerts); n > 0 && n < s.AlertCount && s.Alerts[n-1].Firing {
		r.shown = &s.Alerts[n-1]
	}
}

// hidden reports whether an alert may fire without being in the snapshot: those that began
// first are in it.
func (r *rule) hidden(k *kept) bool {
	if r.shown == nil {
		return false
	}
	order := k.activeAt.Compare(r.shown.ActiveAt)
	return order > 0 || order == 0 && labels.Compare(k.own, r.shown.Labels) > 0
}

// sent returns the labels with which an alert is sent: its own, and those that are added where
// it lacks them, as in Prometheus' notifier.
func (r *rule) sent(own labels.Labels, builder *labels.Builder) labels.Labels {
	if len(r.added) == 0 {
		return own
	}
	builder.Reset(own)
	for _, l := range r.added {
		if own.Get(l.Name) == "" {
			builder.Set(l.Name, l.Value)
		}
	}
	return builder.Labels()
}
