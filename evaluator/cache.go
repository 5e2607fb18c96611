package evaluator

import (
	"slices"
	"time"

	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/evaluator/internal/evidence"
	"github.com/vitals-health/vitals/internal/promexpr"
)

// cachedResult is the result of an expression for one version of the window. Most rules
// compare last values, which seldom change: then the last result still holds.
type cachedResult struct {
	version version // zero where nothing is cached
	result  promql.Vector
	missing string
	// took is how long the query took.
	took time.Duration
}

// version is what the result of a cacheable expression depends on.
type version struct {
	core    uint64 // core.version
	changed uint64 // of the metrics that it selects, see window.Window.Changed
}

// cacheable reports whether the result of an expression stays the same as long as no
// last value changes and no sample expires: it selects last values, of metrics that are
// not in volatile, and does not depend on the time. names are those metrics.
func cacheable(expr parser.Expr, volatile map[string]bool) (names []string, holds bool) {
	holds = true
	parser.Inspect(expr, func(n parser.Node, _ []parser.Node) error {
		switch n := n.(type) {
		case *parser.VectorSelector:
			name := promexpr.MetricName(n)
			names = append(names, name)
			holds = holds && name != "" && !volatile[name] && n.OriginalOffset == 0 && n.Timestamp == nil && n.StartOrEnd == 0
		case *parser.Call:
			holds = holds && slices.Contains(timeIndependent(), n.Func.Name)
		case *parser.MatrixSelector, *parser.SubqueryExpr:
			holds = false
		}
		return nil
	})
	return names, holds
}

// timeIndependent returns the functions of instant vectors that depend neither on the
// time of the evaluation nor on that of a sample. Leaving one out costs time, nothing
// else.
func timeIndependent() []string {
	return []string{
		"abs", "absent", "ceil", "clamp", "clamp_max", "clamp_min", "exp", "floor", "label_join", "label_replace",
		"ln", "log10", "log2", "round", "scalar", "sgn", "sort", "sort_desc", "sqrt", "vector",
	}
}

// markCacheable determines which alerting rules are cacheable. Metrics that change with
// every evaluation are the evaluator's own and those that rules write.
func (c *core) markCacheable() {
	volatile := map[string]bool{evidence.AlertsMetric: true, evidence.AlertsForStateMetric: true}
	for _, d := range Descs() {
		volatile[d.Name] = true
	}
	for _, e := range c.each() {
		volatile[e.rule().Record] = true
	}
	for g, e := range c.each() {
		if a := e.alerting; a != nil {
			a.metrics, a.cacheable = cacheable(a.rule.AST, volatile)
			a.cacheable = a.cacheable && g.QueryOffset == 0
		}
	}
}

// samplesExpired reports whether a last value may have become older than the lookback
// by at, which does not change the window's version. A collector that stops delivering
// is late long before that; only samples with explicit timestamps expire one by one.
func (c *core) samplesExpired(at time.Time) bool {
	oldest := at.Add(-c.absent.Lookback).UnixMilli()
	return c.timestamped || slices.ContainsFunc(c.sources, func(s *source) bool {
		return s.status.Ran && s.status.LastRun.UnixMilli() <= oldest
	})
}
