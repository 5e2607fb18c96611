package conditions

import (
	"fmt"
	"slices"
	"time"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/internal/promexpr"
	"github.com/vitals-health/vitals/rules/lint/analysis"
	"github.com/vitals-health/vitals/rules/lint/check"
	"github.com/vitals-health/vitals/rules/lint/syntax"
)

// shortRange finds ranges that hold too few samples for their function.
func shortRange(p *check.Pass, s *analysis.Subject) {
	parser.Inspect(s.Rule.AST, func(n parser.Node, path []parser.Node) error {
		switch n := n.(type) {
		case *parser.MatrixSelector:
			oneRange(p, s, n, n.Range, function(path))
		case *parser.SubqueryExpr:
			oneRange(p, s, n, n.Range, function(path))
		}
		return nil
	})
}

// function returns the name of the innermost function on a path.
func function(path []parser.Node) string {
	for _, n := range slices.Backward(path) {
		if c, ok := n.(*parser.Call); ok {
			return c.Func.Name
		}
	}
	return ""
}

func oneRange(p *check.Pass, s *analysis.Subject, n parser.Expr, length time.Duration, function string) {
	every, who := sampleInterval(p, n)
	_, subquery := n.(*parser.SubqueryExpr)
	cure := fmt.Sprintf("make it %s or longer", check.FormatDuration(enough(function)*every))
	switch {
	case every == 0 || length == 0: // or calculated during the evaluation
	case needsTwo(function) && !subquery && length <= every:
		p.InExpr(s, n, cure, "%s needs two samples, and with %s the range of %s rarely holds more than one: it returns nothing",
			function, who, check.FormatDuration(length)).Severity = check.Error
	case needsTwo(function) && !subquery && length < 2*every:
		p.InExpr(s, n, cure, "%s needs two samples, and with %s the range of %s does not always hold them",
			function, who, check.FormatDuration(length)).Severity = check.Error
	case length < enough(function)*every:
		p.InExpr(s, n, cure, "the range of %s is shorter than %d collections: with %s, a late or lost sample distorts the result",
			check.FormatDuration(length), enough(function), who)
	}
}

// enough returns how many collections a range should cover for a function.
func enough(function string) time.Duration {
	switch function {
	case "last_over_time", "first_over_time", "present_over_time", "absent_over_time":
		return 2 // one sample decides the result
	}
	return 4
}

// needsTwo reports whether a function has no result for a single sample.
func needsTwo(function string) bool {
	return function != "resets" && (forCounters(function) || forGauges(function))
}

// sampleInterval returns the time between two samples of the slowest series that an
// expression selects, and a description of its source; zero if it is unknown.
func sampleInterval(p *check.Pass, e parser.Expr) (every time.Duration, who string) {
	for _, selector := range syntax.Selectors(e) {
		for _, m := range p.Sources(selector) {
			if m.Interval > every && m.Collector != "" {
				every, who = m.Interval, fmt.Sprintf("a sample of the collector %q every %s", m.Collector, check.FormatDuration(m.Interval))
			}
		}
		for _, rec := range p.Recorded[promexpr.MetricName(selector)] {
			if rec.Group.Interval > every {
				every, who = rec.Group.Interval, fmt.Sprintf("a sample of the group %q every %s", rec.Group.Name, check.FormatDuration(rec.Group.Interval))
			}
		}
	}
	return every, who
}
