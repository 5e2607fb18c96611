package evaluator

import (
	"slices"
	"time"

	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/internal/promexpr"
)

// known is what an expression said of one version of the window. Most rules
// compare last values, and at rest those stay what they are: what was said still
// holds.
type known struct {
	version version // of zero where nothing is known
	result  promql.Vector
	missing string
}

// version is what a steady expression depends on: it says the same as long as neither
// number is another one.
type version struct {
	core    uint64 // core.version
	changed uint64 // of the metrics that it looks at, see window.Window.Changed
}

// steady says whether an expression says the same as long as no last value changes
// and no sample becomes too old: it looks at last values, by metrics that are not of
// the names in moving, and not at the time. names are those metrics.
func steady(expr parser.Expr, moving map[string]bool) (names []string, holds bool) {
	holds = true
	parser.Inspect(expr, func(n parser.Node, _ []parser.Node) error {
		switch n := n.(type) {
		case *parser.VectorSelector:
			name := promexpr.MetricName(n)
			names = append(names, name)
			holds = holds && name != "" && !moving[name] && n.OriginalOffset == 0 && n.Timestamp == nil && n.StartOrEnd == 0
		case *parser.Call:
			holds = holds && slices.Contains(timeless(), n.Func.Name)
		case *parser.MatrixSelector, *parser.SubqueryExpr:
			holds = false
		}
		return nil
	})
	return names, holds
}

// timeless are the functions of instant vectors that know neither the time of the
// evaluation nor that of a sample. One that is left out costs time, nothing else.
func timeless() []string {
	return []string{
		"abs", "absent", "ceil", "clamp", "clamp_max", "clamp_min", "exp", "floor", "label_join", "label_replace",
		"ln", "log10", "log2", "round", "scalar", "sgn", "sort", "sort_desc", "sqrt", "vector",
	}
}

// findSteady notes which alerting rules are steady. Metrics that move from pass to
// pass are the evaluator's own and those that rules write.
func (c *core) findSteady() {
	moving := map[string]bool{alertsMetric: true, alertsForStateMetric: true}
	for _, d := range Descs() {
		moving[d.Name] = true
	}
	for _, r := range c.rules() {
		moving[r.Record] = true
	}
	for _, g := range c.groups {
		for _, e := range g.rules {
			if a := e.alerting; a != nil {
				a.metrics, a.steady = steady(a.rule.AST, moving)
				a.steady = a.steady && g.QueryOffset == 0
			}
		}
	}
}

// ages says whether a last value may have become too old by at without anybody
// saying so. A collector that stops delivering is declared late long before; only
// samples with a timestamp of their own run out one by one.
func (c *core) ages(at time.Time) bool {
	oldest := at.Add(-c.absent.lookback).UnixMilli()
	return c.timed || slices.ContainsFunc(c.sources, func(s *source) bool {
		return s.status.Ran && s.status.LastRun.UnixMilli() <= oldest
	})
}
