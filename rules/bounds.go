package rules

import (
	"fmt"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/parser/posrange"
)

// The bounds of one expression. The engine allocates for each step of a subquery before it
// counts samples, so that its own bound comes too late.
const (
	// maxSteps is the number of steps of a subquery: 69 days in minutes, a day in seconds.
	maxSteps = 100_000
	// maxPoints is the number of points of one series that an evaluation reads. Reading them
	// takes about half of a second, and an evaluation may take one.
	maxPoints = 100_000_000
	// maxReach is how far back an expression may read: a year with ranges around it.
	maxReach = 400 * 24 * time.Hour
	// maxNesting is the number of subqueries in each other.
	maxNesting = 4
	// sampleEvery is the assumed time between two samples: the collectors' default.
	sampleEvery = 10 * time.Second
	// defaultStep is the step of a subquery without one where the evaluation interval is
	// unknown: Prometheus' default interval.
	defaultStep = time.Minute
)

// Excess is a part of an expression that costs more than an evaluation may. Its text has
// the bound and the cure.
type Excess struct {
	// Pos counts bytes from the start of the expression.
	Pos  posrange.Pos
	Text string
}

// Excesses returns the parts of an expression that exceed a bound: in steps, range, points
// or nesting. step is that of a subquery without one; a minute if zero.
func Excesses(expr parser.Expr, step time.Duration) []Excess {
	c := cost{step: step}
	if step == 0 {
		c.step = defaultStep
	}
	parser.Inspect(expr, func(n parser.Node, path []parser.Node) error {
		switch n := n.(type) {
		case *parser.SubqueryExpr:
			c.subquery(n, path)
		case *parser.VectorSelector:
			c.selector(n, path)
		}
		return nil
	})
	return c.found
}

// cost sums up what an expression costs.
type cost struct {
	step   time.Duration
	points float64
	found  []Excess
}

func (c *cost) add(n parser.Node, format string, args ...any) {
	c.found = append(c.found, Excess{n.PositionRange().Start, fmt.Sprintf(format, args...)})
}

// subquery checks the steps of a subquery. It is evaluated over its own range and over those
// of the subqueries around it.
func (c *cost) subquery(n *parser.SubqueryExpr, path []parser.Node) {
	outer := around(path)
	if len(outer) == maxNesting {
		c.add(n, "%d subqueries in each other, expected at most %d", len(outer)+1, maxNesting)
	}
	step := c.stepOf(n)
	if span, steps, _ := c.within(append(outer, n)); steps > maxSteps {
		c.add(n, "subquery of %.0f steps of %s, expected at most %d: give a shorter range, or a step of at least %s",
			steps, model.Duration(step), maxSteps, longerStep(span))
	}
}

// selector checks how far back a selector reads, and counts its points.
func (c *cost) selector(n *parser.VectorSelector, path []parser.Node) {
	subqueries := around(path)
	reach, steps, points := c.within(subqueries)
	for _, s := range subqueries {
		reach += s.OriginalOffset.Seconds()
	}
	reach += n.OriginalOffset.Seconds()
	samples := 1.0
	if m, ok := last(path).(*parser.MatrixSelector); ok {
		reach += m.Range.Seconds()
		samples = max(m.Range.Seconds()/sampleEvery.Seconds(), 1)
	}
	if reach > maxReach.Seconds() {
		c.add(n, "selector that reads %.0f days back, expected at most %.0f: give shorter ranges and offsets", reach/secondsPerDay, maxReach.Seconds()/secondsPerDay)
	}
	if c.points += points + steps*samples; c.points > maxPoints && len(c.found) == 0 {
		c.add(n, "expression that reads %.2g points of a series, expected at most %.2g: give shorter ranges or longer steps", c.points, float64(maxPoints))
	}
}

const secondsPerDay = 24 * 60 * 60

// within returns the seconds over which the innermost of some subqueries is evaluated, its
// steps, and the points that the windows of all of them hold.
func (c *cost) within(subqueries []*parser.SubqueryExpr) (span, steps, points float64) {
	steps = 1
	for _, n := range subqueries {
		step := c.stepOf(n).Seconds()
		span += n.Range.Seconds()
		points += steps * n.Range.Seconds() / step
		steps = max(span/step, 1)
	}
	return span, steps, points
}

func (c *cost) stepOf(n *parser.SubqueryExpr) time.Duration {
	if n.Step > 0 {
		return n.Step
	}
	return c.step
}

// longerStep returns the shortest step in whole seconds that divides the span into at most
// maxSteps.
func longerStep(span float64) model.Duration {
	return model.Duration(time.Duration(span/maxSteps+1) * time.Second)
}

// around returns the subqueries among nodes.
func around(path []parser.Node) []*parser.SubqueryExpr {
	var all []*parser.SubqueryExpr
	for _, n := range path {
		if s, ok := n.(*parser.SubqueryExpr); ok {
			all = append(all, s)
		}
	}
	return all
}

func last(path []parser.Node) parser.Node {
	if len(path) == 0 {
		return nil
	}
	return path[len(path)-1]
}
