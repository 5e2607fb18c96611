package evaluator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/internal/budget"
	"github.com/vitals-health/vitals/internal/expand"
	"github.com/vitals-health/vitals/internal/promexpr"
	"github.com/vitals-health/vitals/internal/text"
	"github.com/vitals-health/vitals/internal/window"
	"github.com/vitals-health/vitals/rules"
)

// maxShownAlerts bounds the alerts of one rule that a daemon's snapshot holds and whose
// annotations are expanded; the others still count.
const maxShownAlerts = 100

var errDuplicateAlert = errors.New("the result has two elements with the same labels once the rule's labels are applied; aggregate them or drop the label that hides the difference")

// alerting is one alerting rule with its active alerts. Its timers run as in Prometheus:
// per label set, from the first evaluation that returned it.
type alerting struct {
	rule  rules.Rule
	group *group
	// labels and annotations are sorted by name.
	labels, annotations []templated
	// dynamic is set if an annotation depends on more than the alert's sample.
	dynamic bool
	active  map[uint64]*active
	// cacheable is set if cached holds as long as its version stays the same; metrics
	// are the names that the expression then selects.
	cacheable bool
	metrics   []string
	cached    cachedResult
	// named are the labels and matchers by which the rule itself may name collectors, and
	// selected the metrics of collectors that it uses.
	named    []labels.Label
	selected []string
	// measuredBy are the collectors that measure what the rule uses.
	measuredBy measuredBy
	limit      *Limit
	// series are the alerts' own series; nil as long as no expression selects them.
	series *window.Source
	// memory is what the alerts hold.
	memory *budget.Account

	// status is the result of the last evaluation, and since when it became that.
	status Status
	since  time.Time
	reason string
	// err is the last evaluation's error, nil after a success.
	err error
	// ownLabels are the rule's labels for people: without state and severity.
	ownLabels map[string]string
	// held is the last status that was not Unknown; Unknown if there was none.
	held Status
	// wasOK is set once the rule was OK.
	wasOK bool
}

// templated is a label or an annotation and its template.
type templated struct {
	name string
	text expand.Template
	// plain is the text if it contains nothing to expand.
	plain string
}

// active is one label set for which the expression is true, or that keep_firing_for
// keeps after that.
type active struct {
	labels          labels.Labels
	sample          promql.Sample
	firing          bool
	activeAt        time.Time
	keepFiringSince time.Time
	// firedAt is when the alert began to fire; zero while it is pending.
	firedAt time.Time
	seen    bool
	// starting is set if the alert has not been inactive since the rule has data.
	starting bool
	// annotations are expanded for the first snapshot after an evaluation that changed
	// them, or in that evaluation if they are dynamic; nil until then, and never changed.
	annotations map[string]string
	// inAlerts and inForState are the labels of the alert's own series, and
	// inAlertsFiring whether the alert was firing when they were made.
	inAlerts, inForState labels.Labels
	inAlertsFiring       bool
}

// templateContext is what templates can use in addition to their alert.
type templateContext struct {
	query          expand.Query
	externalLabels map[string]string
	externalURL    string
}

func newAlerting(g *group, r rules.Rule, at time.Time, memory *budget.Account) (*alerting, error) {
	a := &alerting{rule: r, group: g, active: map[uint64]*active{}, since: at, limit: limitOf(r.AST), memory: memory, ownLabels: map[string]string{}}
	maps.Copy(a.ownLabels, r.Labels)
	delete(a.ownLabels, "state")
	delete(a.ownLabels, "severity")
	var err error
	if a.labels, err = parseTemplates(&r, r.Labels); err != nil {
		return nil, err
	}
	if a.annotations, err = parseTemplates(&r, r.Annotations); err != nil {
		return nil, err
	}
	a.dynamic = slices.ContainsFunc(a.annotations, func(t templated) bool { return t.text.Dynamic() })
	a.named = namedBy(r)
	return a, nil
}

func parseTemplates(r *rules.Rule, texts map[string]string) ([]templated, error) {
	var all []templated
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		t, err := r.Template("__alert_"+r.Alert, texts[name])
		if err != nil {
			return nil, fmt.Errorf("template of %q: %w", name, err)
		}
		plain := ""
		if !strings.Contains(texts[name], "{{") {
			plain = texts[name]
		}
		all = append(all, templated{name, t, plain})
	}
	return all, nil
}

// queries returns what the templates may query: every constant in them that is an
// expression, also as a format whose verbs stand for label values.
func (a *alerting) queries() []parser.Expr {
	var all []parser.Expr
	for _, t := range slices.Concat(a.labels, a.annotations) {
		for _, text := range t.text.Constants() {
			if expr, err := promexpr.Parse(strings.ReplaceAll(text, "%q", `""`)); err == nil {
				all = append(all, expr)
			}
		}
	}
	return all
}

// evaluate takes the result of the rule's expression as of at and advances the state of
// every alert. firstData is set if a collector of the rule has delivered its first samples
// since the last evaluation. On an error the alerts are unchanged.
func (a *alerting) evaluate(ctx context.Context, at time.Time, result promql.Vector, firstData bool, tc templateContext) error {
	next, err := a.match(ctx, at, result, tc)
	if err != nil {
		return err
	}
	if err := a.reserve(next); err != nil {
		return err
	}
	for _, al := range a.active {
		al.seen = false
	}
	for h, s := range next {
		old, ok := a.active[h]
		if !ok {
			a.active[h] = &active{labels: s.labels, sample: s.sample, activeAt: at, seen: true, starting: a.unproven(firstData)}
			continue
		}
		if a.dynamic || !sameSample(old.sample, s.sample) {
			old.annotations = nil
		}
		old.sample, old.seen = s.sample, true
	}
	a.advance(at)
	if limit := a.group.Limit; limit > 0 && len(a.active) > limit {
		count := len(a.active)
		for h := range a.active {
			a.end(h)
		}
		return fmt.Errorf("the group's limit of %d alerts is exceeded by %d active alerts", limit, count)
	}
	return nil
}

type matched struct {
	labels labels.Labels
	sample promql.Sample
}

// match returns the labels of the alert of every element, by their hashes.
func (a *alerting) match(ctx context.Context, at time.Time, result promql.Vector, tc templateContext) (map[uint64]matched, error) {
	if len(result) == 0 {
		return nil, nil
	}
	next := make(map[uint64]matched, len(result))
	b := labels.NewBuilder(labels.EmptyLabels())
	for _, s := range result {
		b.Reset(s.Metric)
		b.Del(model.MetricNameLabel)
		for _, l := range a.labels {
			b.Set(l.name, l.expand(ctx, at, s, tc))
		}
		b.Set(model.AlertNameLabel, a.rule.Alert)
		ls := b.Labels()
		h := ls.Hash()
		if _, twice := next[h]; twice {
			return nil, errDuplicateAlert
		}
		next[h] = matched{ls, s}
	}
	return next, nil
}

// expand expands the template for one element; an error becomes its text, as in
// Prometheus.
func (t templated) expand(ctx context.Context, at time.Time, s promql.Sample, tc templateContext) string {
	if t.plain != "" {
		return t.plain
	}
	text, err := t.text.Expand(ctx, expand.Data{
		Labels: s.Metric.Map(), Value: s.F, Histogram: s.H, At: at,
		ExternalLabels: tc.externalLabels, ExternalURL: tc.externalURL,
	}, tc.query)
	if err != nil {
		return expand.ErrorText(err)
	}
	return text
}

// advance advances every alert to at: those that were seen fire after their for, the
// others end after keep_firing_for.
func (a *alerting) advance(at time.Time) {
	for h, al := range a.active {
		if !al.seen && !a.keeps(al, at) {
			a.end(h)
			continue
		}
		if al.seen {
			al.keepFiringSince = time.Time{}
		}
		switch held := at.Sub(al.activeAt) >= a.rule.For; {
		case held && !al.firing:
			al.firing, al.firedAt = true, at
		case !held && al.firing:
			// The rule was reloaded with a longer for, or the clock stepped back.
			al.firing, al.firedAt, al.keepFiringSince = false, time.Time{}, time.Time{}
		}
	}
}

// keeps reports whether keep_firing_for keeps an alert that the result no longer has.
func (a *alerting) keeps(al *active, at time.Time) bool {
	if !al.firing || a.rule.KeepFiringFor <= 0 {
		return false
	}
	if al.keepFiringSince.IsZero() {
		al.keepFiringSince = at
	}
	return at.Sub(al.keepFiringSince) < a.rule.KeepFiringFor
}

// plainAnnotation returns an annotation if it contains nothing to expand.
func (a *alerting) plainAnnotation(name string) string {
	for _, t := range a.annotations {
		if t.name == name {
			return t.plain
		}
	}
	return ""
}

// annotation returns an annotation as expanded for the first of the alerts, or, without
// alerts, if it contains nothing to expand.
func (a *alerting) annotation(name string, alerts []Alert) string {
	if len(alerts) > 0 {
		return alerts[0].Annotations[name]
	}
	return a.plainAnnotation(name)
}

// conclude derives the rule's status from the alerts or their absence.
func (a *alerting) conclude(at time.Time, missing string, err error) {
	status := OK
	for _, al := range a.active {
		if al.firing {
			status = Failing
			break
		}
		status = Pending
	}
	a.reason, a.err = "", err
	switch {
	case err != nil:
		a.reason = bound(err.Error())
		if status != Failing {
			status = Unknown
		}
	case len(a.active) == 0 && missing != "":
		status, a.reason = Unknown, missing
	}
	if status != a.status {
		a.status, a.since = status, at
	}
	if status != Unknown {
		a.held = status
	}
	a.wasOK = a.wasOK || status == OK
}

// sorted returns the active alerts, the deciding one first: firing before pending,
// longest active first, then by labels.
func (a *alerting) sorted() []*active {
	all := slices.Collect(maps.Values(a.active))
	slices.SortFunc(all, func(x, y *active) int {
		if x.firing != y.firing {
			if x.firing {
				return -1
			}
			return 1
		}
		return cmp.Or(x.activeAt.Compare(y.activeAt), labels.Compare(x.labels, y.labels))
	})
	return all
}

// alerts returns at most limit alerts for a snapshot, the deciding one first.
func (a *alerting) alerts(ctx context.Context, at time.Time, limit int, tc templateContext) []Alert {
	all := a.sorted()
	shown := make([]Alert, 0, min(len(all), limit))
	for _, al := range all[:min(len(all), limit)] {
		if al.annotations == nil {
			a.annotate(ctx, at, al, tc)
		}
		shown = append(shown, Alert{
			Labels: al.labels, Annotations: al.annotations, Firing: al.firing,
			Value: al.sample.F, ActiveAt: al.activeAt, FiredAt: al.firedAt, KeepFiringSince: al.keepFiringSince,
		})
	}
	return shown
}

// shift moves all times by d, because the clock stepped.
func (a *alerting) shift(d time.Duration) {
	a.since = a.since.Add(d)
	for _, al := range a.active {
		al.activeAt = al.activeAt.Add(d)
		al.firedAt, al.keepFiringSince = shifted(al.firedAt, d), shifted(al.keepFiringSince, d)
	}
}

// inherit takes over the state that the same rule had before a reload.
func (a *alerting) inherit(old *alerting) {
	a.active, a.status, a.since, a.reason, a.held = old.active, old.status, old.since, old.reason, old.held
	a.series, a.err, a.wasOK, a.memory = old.series, old.err, old.wasOK, old.memory
	for _, al := range a.active {
		al.annotations = nil
	}
}

// bound clips text of other programs to 512 bytes, and removes invisible characters.
func bound(s string) string { return text.Clip(text.Visible(s), maxFinding) }
