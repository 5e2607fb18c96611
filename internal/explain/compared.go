package explain

import (
	"context"
	"math"
	"time"

	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/promexpr"
)

const (
	// compareEvery is the time between two readings of the values that rules compare, and
	// compareWithin is what a reading takes at most of the time between two evaluations. The
	// next one goes on where it ended.
	compareEvery, compareWithin = 10 * time.Second, 50 * time.Millisecond
)

// Compared is a value that a rule compares with a number.
type Compared struct {
	// Limit is the comparison that makes the rule fail.
	Limit evaluator.Limit
	Value float64
}

// side is what an expression compares with a number. The zero value is nothing.
type side struct {
	query string
	limit evaluator.Limit
}

// Comparer reads the values that rules compare with a number, while the rules are ok as well.
// It is not safe for concurrent use.
type Comparer struct {
	evaluator Evaluator
	// sides are the compared sides by expression.
	sides map[string]side
	// next is the rule that the next reading begins with.
	next int
}

// NewComparer returns a Comparer that has read nothing yet.
func NewComparer(e Evaluator) *Comparer { return &Comparer{evaluator: e, sides: map[string]side{}} }

// Run passes the values on until ctx ends: of the rules of a snapshot, by their position.
func (c *Comparer) Run(ctx context.Context, record func(*evaluator.Snapshot, map[int]Compared)) {
	ticker := time.NewTicker(compareEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		s, values, err := c.read(ctx)
		if err != nil {
			return // the values are not read: View may still be writing them
		}
		record(s, values)
	}
}

// read reads the values of as many rules as the time allows.
func (c *Comparer) read(ctx context.Context) (s *evaluator.Snapshot, values map[int]Compared, err error) {
	values = map[int]Compared{}
	err = c.evaluator.View(ctx, func(ctx context.Context, v *evaluator.View) {
		ctx, cancel := context.WithTimeout(ctx, compareWithin)
		defer cancel()
		s = v.Snapshot()
		if len(c.sides) > 2*len(s.Rules) { // of configurations before
			clear(c.sides)
		}
		for range s.Rules {
			c.next %= len(s.Rules)
			value, ok := c.value(ctx, v, &s.Rules[c.next])
			if ctx.Err() != nil {
				return
			}
			if ok {
				values[c.next] = value
			}
			c.next++
		}
	})
	return s, values, err
}

// value returns the value that a rule compares: of several series the one that is nearest to
// a failure.
func (c *Comparer) value(ctx context.Context, v *evaluator.View, r *evaluator.Rule) (worst Compared, ok bool) {
	known := c.side(r.Expr)
	if known.query == "" {
		return worst, false
	}
	worst.Limit = known.limit
	_ = v.Query(ctx, known.query, v.At().Add(-r.QueryOffset), func(result parser.Value) error {
		vector, _ := result.(promql.Vector)
		for _, s := range vector {
			if s.H == nil && !math.IsNaN(s.F) && (!ok || known.limit.Nearer(s.F, worst.Value)) {
				worst.Value, ok = s.F, true
			}
		}
		return nil
	}) // an error is shown with the rule itself, and there is no value then
	return worst, ok
}

// side returns what an expression compares with a number.
func (c *Comparer) side(expr string) side {
	known, ok := c.sides[expr]
	if ok {
		return known
	}
	if ast, err := parse(expr); err == nil {
		if e, limit := comparedBy(ast); e != nil {
			known = side{e.String(), limit}
		}
	}
	c.sides[expr] = known
	return known
}

// comparedBy returns the expression without its comparison with a number: one that "and" and
// "unless" restrict has the same series without it. It is nil where there is none.
func comparedBy(expr parser.Expr) (parser.Expr, evaluator.Limit) {
	b, ok := promexpr.Bare(expr).(*parser.BinaryExpr)
	switch {
	case !ok || b.ReturnBool:
	case b.Op == parser.LAND || b.Op == parser.LUNLESS:
		if left, limit := comparedBy(b.LHS); left != nil {
			restricted := *b
			restricted.LHS = &parser.ParenExpr{Expr: left}
			return &restricted, limit
		}
	default:
		if c, ok := promexpr.WithConstant(b); ok {
			return c.Expr, evaluator.Limit{Op: c.Op.String(), Value: c.Limit}
		}
	}
	return nil, evaluator.Limit{}
}
