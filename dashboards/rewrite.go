package dashboards

import (
	"slices"
	"strings"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/internal/promexpr"
)

// rewriter turns the expressions of rules into queries of panels.
type rewriter struct {
	// recorded has the names of the series that the rules themselves record. They are not
	// rewritten, because they may have no labels job and instance.
	recorded map[string]bool
}

// rewrite restricts every selector of an expression to the chosen jobs and instances.
func (rw rewriter) rewrite(expr parser.Expr) string {
	// Parsing makes a copy: the expression of the rule must not change.
	own, err := promexpr.Parse(expr.String())
	if err != nil {
		panic("internal error: " + err.Error()) // the parser printed it
	}
	for _, matchers := range rw.selectors(own) {
		*matchers = append(*matchers,
			labels.MustNewMatcher(labels.MatchRegexp, "job", "$job"),
			labels.MustNewMatcher(labels.MatchRegexp, "instance", "$instance"))
	}
	return promexpr.Bare(own).String()
}

// selectors returns the matchers of each selector to rewrite.
func (rw rewriter) selectors(expr parser.Expr) []*[]*labels.Matcher {
	var all []*[]*labels.Matcher
	parser.Inspect(expr, func(n parser.Node, _ []parser.Node) error {
		if s, ok := n.(*parser.VectorSelector); ok && !rw.recorded[s.Name] {
			all = append(all, &s.LabelMatchers)
		}
		return nil
	})
	return all
}

// line returns a query for the threshold of a value.
func (rw rewriter) line(limit parser.Expr) string {
	if limit.Type() == parser.ValueTypeScalar {
		return "vector(" + rw.rewrite(limit) + ")"
	}
	return rw.rewrite(limit)
}

// legendOf returns the legend of the threshold.
func legendOf(c comparison) string {
	if isNumber(c.limit) {
		return "fails if " + c.op.String() + " " + promexpr.Bare(c.limit).String()
	}
	return "fails if " + c.op.String() + " this"
}

// unitOf guesses the unit of an expression from the names of its metrics. It returns short
// if an operation changes the unit.
func unitOf(expr parser.Expr) string {
	found := ""
	keeps := true
	parser.Inspect(expr, func(n parser.Node, _ []parser.Node) error {
		switch e := n.(type) {
		case *parser.VectorSelector:
			unit := unitOfName(e.Name)
			keeps = keeps && (found == "" || found == unit)
			found = unit
		case *parser.BinaryExpr:
			keeps = keeps && (e.Op == parser.ADD || e.Op == parser.SUB || e.Op.IsSetOperator())
		case *parser.AggregateExpr:
			keeps = keeps && slices.Contains([]parser.ItemType{parser.SUM, parser.MIN, parser.MAX, parser.AVG}, e.Op)
		case *parser.Call:
			keeps = keeps && slices.Contains([]string{"time", "timestamp", "max_over_time", "min_over_time", "avg_over_time", "last_over_time", "predict_linear"}, e.Func.Name)
		}
		return nil
	})
	if !keeps || found == "" {
		return "short"
	}
	return found
}

// unitOfName returns Grafana's name of the unit in the suffix of a metric name.
func unitOfName(name string) string {
	for suffix, unit := range map[string]string{"_seconds": "s", "_bytes": "bytes", "_ratio": "percentunit"} {
		if strings.HasSuffix(name, suffix) {
			return unit
		}
	}
	return "short"
}
