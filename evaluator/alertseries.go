package evaluator

import (
	"cmp"
	"slices"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

// The series that Prometheus writes for every active alert: ALERTS is 1 and has the
// alert's state in the label alertstate, and ALERTS_FOR_STATE is when it became active,
// in whole seconds since the epoch. Source: Prometheus, docs/configuration/alerting_rules.md
// and AlertingRule.Eval.
const (
	alertsMetric         = "ALERTS"
	alertsForStateMetric = "ALERTS_FOR_STATE"
	alertStateLabel      = "alertstate"
)

// replaceAlertSeries determines whether an expression selects the alerts' series; if
// none does, those that were written end.
func (c *core) replaceAlertSeries(at time.Time) {
	c.alertSeries = c.simulated != nil || slices.ContainsFunc(c.expressions(), selectsAlerts)
	if c.alertSeries {
		return
	}
	for g, e := range c.each() {
		if e.alerting != nil {
			e.alerting.endSeries(at.Add(-g.QueryOffset))
		}
	}
}

// selectsAlerts reports whether a selector in the expression names the alerts' series.
// A selector without a name would find them in Prometheus; here it finds only what was
// collected.
func selectsAlerts(expr parser.Expr) bool {
	found := false
	parser.Inspect(expr, func(n parser.Node, _ []parser.Node) error {
		if vs, ok := n.(*parser.VectorSelector); ok {
			found = found || selects(vs, alertsMetric) || selects(vs, alertsForStateMetric)
		}
		return nil
	})
	return found
}

// selects reports whether a selector matches on names, and matches this one.
func selects(vs *parser.VectorSelector, name string) bool {
	named := false
	for _, m := range vs.LabelMatchers {
		if m.Name == model.MetricNameLabel {
			if named = m.Matches(name); !named {
				return false
			}
		}
	}
	return named
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
	b.Set(model.MetricNameLabel, alertsForStateMetric)
	al.inForState = b.Labels()
	state := "pending"
	if al.firing {
		state = "firing"
	}
	b.Set(model.MetricNameLabel, alertsMetric)
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
