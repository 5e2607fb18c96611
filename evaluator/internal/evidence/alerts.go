package evidence

import (
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql/parser"
)

// The series that Prometheus writes for every active alert. Source: Prometheus,
// docs/configuration/alerting_rules.md and AlertingRule.Eval.
const (
	// AlertsMetric is 1 and has the alert's state in the label alertstate.
	AlertsMetric = "ALERTS"
	// AlertsForStateMetric is when the alert became active, in whole seconds since the epoch.
	AlertsForStateMetric = "ALERTS_FOR_STATE"
)

// OfAlerts reports whether a name is that of the alerts' series.
func OfAlerts(name string) bool { return name == AlertsMetric || name == AlertsForStateMetric }

// SelectsAlerts reports whether a selector in the expression names the alerts' series.
// A selector without a name would find them in Prometheus; here it finds only what was
// collected.
func SelectsAlerts(expr parser.Expr) bool {
	found := false
	parser.Inspect(expr, func(n parser.Node, _ []parser.Node) error {
		if vs, ok := n.(*parser.VectorSelector); ok {
			found = found || selects(vs, AlertsMetric) || selects(vs, AlertsForStateMetric)
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
