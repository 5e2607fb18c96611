package dashboards

import (
	"slices"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/internal/promexpr"
)

// rewriter turns the expressions of rules into queries of panels.
type rewriter struct {
	// recorded has the names of the series that the rules themselves record. They are not
	// rewritten, because they may have no labels of a target.
	recorded map[string]bool
}

// rewrite restricts every selector of an expression to the chosen targets.
func (rw rewriter) rewrite(expr parser.Expr) string {
	// Parsing makes a copy: the expression of the rule must not change.
	own, err := promexpr.Parse(expr.String())
	if err != nil {
		panic("internal error: " + err.Error()) // the parser printed it
	}
	for _, matchers := range rw.selectors(own) {
		for _, name := range []string{"job", "namespace", "pod", "instance"} {
			*matchers = append(*matchers, labels.MustNewMatcher(labels.MatchRegexp, name, "$"+name))
		}
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

// value returns a query for the value that a rule compares. Its legend has the labels in which
// its series can differ.
func (rw rewriter) value(value parser.Expr, of func(metric string) []string) target {
	expr, names := rw.rewrite(value), rw.differing(value, of)
	if slices.Contains(names, "instance") {
		names = append([]string{"who"}, slices.DeleteFunc(names, func(name string) bool { return name == "instance" })...)
		expr = who(expr)
	}
	if len(names) == 0 {
		return over(expr, "value")
	}
	return over(expr, "{{"+strings.Join(names, "}} {{")+"}}")
}

// differing returns the sorted labels in which the series of an expression can differ, as far
// as the metrics are those of Vitals or the expression names the labels.
func (rw rewriter) differing(expr parser.Expr, of func(metric string) []string) []string {
	named := namedLabels(expr)
	found := promexpr.ResultLabels(expr, func(metric string) []string {
		var known []string
		if of != nil {
			known = of(metric)
		}
		if len(known) == 0 {
			known = named
		}
		if rw.recorded[metric] {
			return known
		}
		return append([]string{"instance"}, known...)
	})
	var names []string
	for name, is := range found {
		if is == promexpr.Open && !slices.Contains([]string{"job", "namespace", "pod", model.MetricNameLabel}, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// namedLabels returns the labels that an expression names and does not fix.
func namedLabels(expr parser.Expr) []string {
	var names []string
	parser.Inspect(expr, func(n parser.Node, _ []parser.Node) error {
		switch e := n.(type) {
		case *parser.VectorSelector:
			for _, m := range e.LabelMatchers {
				if m.Type != labels.MatchEqual {
					names = append(names, m.Name)
				}
			}
		case *parser.AggregateExpr:
			if !e.Without {
				names = append(names, e.Grouping...)
			}
		case *parser.BinaryExpr:
			if e.VectorMatching != nil && e.VectorMatching.On {
				names = append(names, e.VectorMatching.MatchingLabels...)
			}
		}
		return nil
	})
	return names
}

// conditionOf returns the operator and the threshold of a comparison.
func conditionOf(c comparison) string {
	if isNumber(c.limit) {
		return c.op.String() + " " + promexpr.Bare(c.limit).String()
	}
	return c.op.String() + " this"
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
