package evaluator

import (
	"cmp"
	"slices"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/vitals-health/vitals/evaluator/internal/evidence"
)

// alertStateLabel has the alert's state in the series evidence.AlertsMetric.
const alertStateLabel = "alertstate"

// replaceAlertSeries determines whether an expression selects the alerts' series; if
// none does, those that were written end.
func (c *core) replaceAlertSeries(at time.Time) {
	c.alertSeries = c.simulated != nil || slices.ContainsFunc(c.expressions(), evidence.SelectsAlerts)
	if c.alertSeries {
		return
	}
	for g, e := range c.each() {
		if e.alerting != nil {
			e.alerting.endSeries(at.Add(-g.QueryOffset))
		}
	}
}

// writeAlerts writes the series of a rule's active alerts as of asOf. Those of alerts
// that ended, or whose state changed, become stale.
func (c *core) writeAlerts(a *alerting, asOf time.Time) error {
	if a.series == nil {
		a.series = c.window.Source()
	}
	a.series.Begin(asOf.UnixMilli())
	for _, al := range a.active {
		a.nameSeries(al)
		if err := cmp.Or(a.series.Add(al.inAlerts, 1, 0), a.series.Add(al.inForState, float64(al.activeAt.Unix()), 0)); err != nil {
			a.series.Abort()
			return err
		}
	}
	a.series.End()
	return nil
}

// nameSeries sets the labels of an alert's series. They begin with the rule's own, so
// that a label whose template expands to nothing keeps its template, as in Prometheus.
func (a *alerting) nameSeries(al *active) {
	if !al.inAlerts.IsEmpty() && al.inAlertsFiring == al.firing {
		return
	}
	b := labels.NewBuilder(labels.FromMap(a.rule.Labels))
	al.labels.Range(func(l labels.Label) { b.Set(l.Name, l.Value) })
	b.Set(model.MetricNameLabel, evidence.AlertsForStateMetric)
	al.inForState = b.Labels()
	state := "pending"
	if al.firing {
		state = "firing"
	}
	b.Set(model.MetricNameLabel, evidence.AlertsMetric)
	b.Set(alertStateLabel, state)
	al.inAlerts, al.inAlertsFiring = b.Labels(), al.firing
}

// endSeries ends the series of the rule's alerts, if there are any.
func (a *alerting) endSeries(asOf time.Time) {
	if a.series != nil {
		a.series.Stale(asOf.UnixMilli())
		a.series = nil
	}
}
