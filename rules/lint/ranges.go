package lint

import (
	"fmt"
	"slices"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/internal/promexpr"
)

// shortRange finds ranges that hold too few samples for their function.
func shortRange(p *pass, s *subject) {
	parser.Inspect(s.rule.AST, func(n parser.Node, path []parser.Node) error {
		switch n := n.(type) {
		case *parser.MatrixSelector:
			p.oneRange(s, n, n.Range, function(path))
		case *parser.SubqueryExpr:
			p.oneRange(s, n, n.Range, function(path))
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

func (p *pass) oneRange(s *subject, n parser.Expr, length time.Duration, function string) {
	every, who := p.sampleInterval(n)
	_, subquery := n.(*parser.SubqueryExpr)
	cure := fmt.Sprintf("make it %s or longer", formatDuration(enough(function)*every))
	switch {
	case every == 0 || length == 0: // or calculated during the evaluation
	case needsTwo(function) && !subquery && length <= every:
		p.inExpr(s, n, cure, "%s needs two samples, and with %s the range of %s rarely holds more than one: it returns nothing",
			function, who, formatDuration(length)).Severity = Error
	case needsTwo(function) && !subquery && length < 2*every:
		p.inExpr(s, n, cure, "%s needs two samples, and with %s the range of %s does not always hold them",
			function, who, formatDuration(length)).Severity = Error
	case length < enough(function)*every:
		p.inExpr(s, n, cure, "the range of %s is shorter than %d collections: with %s, a late or lost sample distorts the result",
			formatDuration(length), enough(function), who)
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
func (p *pass) sampleInterval(e parser.Expr) (every time.Duration, who string) {
	for _, selector := range selectors(e) {
		for _, m := range p.sources(selector) {
			if m.Interval > every && m.Collector != "" {
				every, who = m.Interval, fmt.Sprintf("a sample of the collector %q every %s", m.Collector, formatDuration(m.Interval))
			}
		}
		for _, rec := range p.recorded[promexpr.MetricName(selector)] {
			if rec.group.Interval > every {
				every, who = rec.group.Interval, fmt.Sprintf("a sample of the group %q every %s", rec.group.Name, formatDuration(rec.group.Interval))
			}
		}
	}
	return every, who
}

// formatDuration formats a duration as in rule files.
func formatDuration(d time.Duration) string { return model.Duration(d).String() }
