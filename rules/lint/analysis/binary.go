package analysis

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/internal/promexpr"
	"github.com/vitals-health/vitals/rules/lint/numbers"
	"github.com/vitals-health/vitals/rules/lint/syntax"
)

// binary returns the outcome of a binary operation.
func (a *analyzer) binary(n *parser.BinaryExpr) Outcome {
	left, right := a.analyze(n.LHS), a.analyze(n.RHS)
	switch n.Op {
	case parser.LOR:
		return a.or(n, left, right)
	case parser.LUNLESS:
		return a.unless(n, left, right)
	}
	if left.Sure == Never || right.Sure == Never {
		return Outcome{}
	}
	if text, cure := a.in.Unmatched(n); text != "" {
		return a.impossible(n, text, cure)
	}
	if text := a.in.contradictory(n); text != "" {
		return a.impossible(n, text, `use "a or b" if either is enough`)
	}
	switch {
	case n.Op == parser.LAND:
		return a.and(n, left, right)
	case syntax.Filled(n):
		return Outcome{Values: numbers.Any(), Sure: Sometimes}
	case n.Op.IsComparisonOperator() && !n.ReturnBool:
		return a.comparison(n, left, right)
	}
	v := left.Calculated(n.Op, right.Values)
	if n.Op.IsComparisonOperator() {
		v = boolResults(n, left, right)
	}
	sure := min(left.Sure, right.Sure)
	if n.VectorMatching != nil && !(sure == Always && syntax.SameLabels(n)) {
		sure = Sometimes // it is unknown whether the labels of the two sides match
	}
	return a.newOutcome(n, v, sure)
}

// boolResults returns the results of a comparison with bool.
func boolResults(n *parser.BinaryExpr, left, right Outcome) numbers.Values {
	switch {
	case left.Passing(n.Op, right.Values).Empty():
		return numbers.One(0)
	case !left.MayBeNaN() && !right.MayBeNaN() && left.AlwaysPasses(n.Op, right.Values):
		return numbers.One(1)
	}
	return numbers.OneOf(0, 1)
}

// comparison returns the outcome of a comparison that filters samples.
func (a *analyzer) comparison(n *parser.BinaryExpr, left, right Outcome) Outcome {
	op, kept, other := n.Op, left, right
	keptExpr, otherExpr := n.LHS, n.RHS
	if n.LHS.Type() == parser.ValueTypeScalar {
		op, kept, other = promexpr.Mirror(op), right, left
		keptExpr, otherExpr = n.RHS, n.LHS
	}
	if n.VectorMatching != nil && syntax.SameLabels(n) && kept.Subject != "" && kept.Subject == other.Subject {
		return a.compared(n, kept, other)
	}
	v := kept.Passing(op, other.Values)
	if v.Empty() {
		text, cure := excluded(keptExpr, kept, op, otherExpr, other)
		return a.impossible(n, text, cure)
	}
	o := kept.restricted(v)
	if _, ok := other.Number(); ok && n.VectorMatching == nil {
		return o
	}
	o.Pure = false
	if n.VectorMatching != nil {
		o.Sure = min(o.Sure, Sometimes)
		if !syntax.SameLabels(n) {
			o.Subject, o.facts = "", nil
		}
	} else if !kept.AlwaysPasses(op, other.Values) {
		o.Sure = min(o.Sure, Sometimes)
	}
	return o
}

// compared returns the outcome of the comparison of an expression with itself.
func (a *analyzer) compared(n *parser.BinaryExpr, left, right Outcome) Outcome {
	v := left.And(right.Values)
	switch n.Op {
	case parser.EQLC, parser.LTE, parser.GTE:
		v = v.WithoutNaN()
	case parser.NEQ:
		v = v.OnlyNaN() // which is not equal to itself
	default:
		v = numbers.Values{}
	}
	if v.Empty() {
		return a.impossible(n, fmt.Sprintf("%s is compared with itself, and is never %s itself", syntax.Short(n.LHS), n.Op), "compare it with something else")
	}
	left.Pure = left.Pure && right.Pure
	o := left.restricted(v)
	o.Sure = min(o.Sure, right.Sure)
	return o
}

// many bounds the facts about an expression, so that long chains of "and" stay cheap.
const many = 64

// and returns the outcome of "left and right". Neither side is impossible.
func (a *analyzer) and(n *parser.BinaryExpr, left, right Outcome) Outcome {
	o := left
	if !(syntax.AnyLabels(n) && right.Sure == Always) {
		o.Sure, o.Pure = min(left.Sure, Sometimes), false
	}
	if !syntax.SameLabels(n) {
		return o
	}
	o.facts = maps.Clone(left.facts)
	for _, subject := range slices.Sorted(maps.Keys(right.facts)) {
		w := right.facts[subject]
		if len(o.facts) >= many {
			break
		}
		v, ok := o.facts[subject]
		if !ok {
			v = w
		}
		if v = v.And(w); v.Empty() {
			return a.impossible(n, fmt.Sprintf("both sides select %s, which is never %s and %s at the same time", a.in.Described(subject), left.facts[subject], w),
				`use "a or b" if either is enough`)
		}
		if o.facts == nil {
			o.facts = map[string]numbers.Values{}
		}
		o.facts[subject] = v
	}
	if left.Subject != "" && left.Subject == right.Subject {
		o.Pure = left.Pure && right.Pure
		o = o.restricted(o.facts[left.Subject])
	}
	return o
}

// unless returns the outcome of "left unless right".
func (a *analyzer) unless(n *parser.BinaryExpr, left, right Outcome) Outcome {
	const cure = `remove the part after "unless", or narrow it so that some series remain`
	switch {
	case left.Sure == Never || right.Sure == Never:
		return left
	case a.in.Identity(n.LHS) == a.in.Identity(n.RHS) && !a.in.traits(n.LHS).picks:
		return a.impossible(n, fmt.Sprintf("%s is excluded from itself, so nothing remains", syntax.Short(n.LHS)), cure)
	case a.neverGuards(n):
		return left
	case syntax.AnyLabels(n) && right.Sure == Always:
		return a.impossible(n, fmt.Sprintf("%s always has a result, so nothing of the other side remains", syntax.Short(n.RHS)), cure)
	}
	o := left
	if left.Subject != "" && left.Subject == right.Subject && right.Pure {
		rest := left.Without(right.Values)
		if rest.Empty() {
			return a.impossible(n, fmt.Sprintf("of %s, \"unless\" removes everything that %s returns", a.in.Described(left.Subject), syntax.Short(n.LHS)), cure)
		}
		if syntax.SameLabels(n) {
			return left.restricted(rest)
		}
	}
	o.Sure, o.Pure = min(left.Sure, Sometimes), false
	return o
}

// or returns the outcome of "left or right".
func (a *analyzer) or(n *parser.BinaryExpr, left, right Outcome) Outcome {
	switch {
	case left.Sure == Never:
		return right
	case right.Sure == Never:
		return left
	}
	o := Outcome{Values: left.Or(right.Values), Sure: max(left.Sure, right.Sure)}
	if a.absentOf(n.LHS, n.RHS) || a.absentOf(n.RHS, n.LHS) {
		o.Sure = Always
	}
	if !syntax.SameLabels(n) || left.Subject == "" || left.Subject != right.Subject {
		return o
	}
	o.Subject, o.facts = left.Subject, map[string]numbers.Values{left.Subject: o.Values}
	if o.Pure = left.Pure && right.Pure; o.Pure {
		o.Whole = left.Whole
		if o.Whole.Within(o.Values) {
			o.Sure = max(o.Sure, o.Whole.Sure)
		}
	}
	return o
}

// absentOf reports whether e is absent(other).
func (a *analyzer) absentOf(e, other parser.Expr) bool {
	c, ok := promexpr.Bare(e).(*parser.Call)
	return ok && c.Func.Name == "absent" && a.in.Identity(c.Args[0]) == a.in.Identity(other)
}

// excluded explains why no sample passes a comparison.
func excluded(e parser.Expr, kept Outcome, op parser.ItemType, otherExpr parser.Expr, other Outcome) (text, cure string) {
	than := syntax.Short(otherExpr)
	if n, ok := other.Number(); ok {
		than = fmt.Sprint(n)
	}
	if other.Without(numbers.One(math.NaN())).Empty() {
		return fmt.Sprintf("nothing is %s NaN, not even NaN itself", op), fmt.Sprintf("test for NaN with %s != %s", syntax.Short(e), syntax.Short(e))
	}
	cure = "compare it with a value that it can have"
	if counts(e) && !numbers.One(0).Passing(op, other.Values).Empty() {
		return fmt.Sprintf("a count over no series returns nothing, not 0, so %s is never %s %s", syntax.Short(e), op, than), "detect missing series with absent(...)"
	}
	return fmt.Sprintf("%s is %s, and never %s %s", syntax.Short(e), kept.Values, op, than), cure
}

// counts reports whether an expression counts series or samples.
func counts(e parser.Expr) bool {
	switch n := promexpr.Bare(e).(type) {
	case *parser.AggregateExpr:
		return n.Op == parser.COUNT
	case *parser.Call:
		return n.Func.Name == "count_over_time"
	}
	return false
}
