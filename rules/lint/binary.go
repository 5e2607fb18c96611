package lint

import (
	"fmt"
	"maps"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/internal/promexpr"
)

// binary returns the outcome of a binary operation.
func (a *analyzer) binary(n *parser.BinaryExpr) outcome {
	left, right := a.analyze(n.LHS), a.analyze(n.RHS)
	switch n.Op {
	case parser.LOR:
		return a.or(n, left, right)
	case parser.LUNLESS:
		return a.unless(n, left, right)
	}
	if left.sure == never || right.sure == never {
		return outcome{}
	}
	if text, cure := a.pass.unmatched(n); text != "" {
		return a.impossible(n, text, cure)
	}
	if text := a.pass.contradictory(n); text != "" {
		return a.impossible(n, text, `use "a or b" if either is enough`)
	}
	switch {
	case n.Op == parser.LAND:
		return a.and(n, left, right)
	case filled(n):
		return outcome{values: anyNumber(), sure: sometimes}
	case n.Op.IsComparisonOperator() && !n.ReturnBool:
		return a.comparison(n, left, right)
	}
	v := left.calculated(n.Op, right.values)
	if n.Op.IsComparisonOperator() {
		v = boolResults(n, left, right)
	}
	sure := min(left.sure, right.sure)
	if n.VectorMatching != nil && !(sure == always && sameLabels(n)) {
		sure = sometimes // it is unknown whether the labels of the two sides match
	}
	return a.newOutcome(n, v, sure)
}

// boolResults returns the results of a comparison with bool.
func boolResults(n *parser.BinaryExpr, left, right outcome) values {
	switch {
	case left.passing(n.Op, right.values).empty():
		return one(0)
	case !left.nan && !right.nan && left.alwaysPasses(n.Op, right.values):
		return one(1)
	}
	return oneOf(0, 1)
}

func filled(n *parser.BinaryExpr) bool {
	m := n.VectorMatching
	return m != nil && (m.FillValues.LHS != nil || m.FillValues.RHS != nil)
}

// sameLabels reports whether a vector operation matches samples on all labels.
func sameLabels(n *parser.BinaryExpr) bool {
	m := n.VectorMatching
	return m == nil || !m.On && len(m.MatchingLabels) == 0 &&
		(m.Card == parser.CardOneToOne || m.Card == parser.CardManyToMany)
}

// anyLabels reports whether a vector operation matches every sample with every other one.
func anyLabels(n *parser.BinaryExpr) bool {
	return n.VectorMatching != nil && n.VectorMatching.On && len(n.VectorMatching.MatchingLabels) == 0
}

// comparison returns the outcome of a comparison that filters samples.
func (a *analyzer) comparison(n *parser.BinaryExpr, left, right outcome) outcome {
	op, kept, other := n.Op, left, right
	keptExpr, otherExpr := n.LHS, n.RHS
	if n.LHS.Type() == parser.ValueTypeScalar {
		op, kept, other = promexpr.Mirror(op), right, left
		keptExpr, otherExpr = n.RHS, n.LHS
	}
	if n.VectorMatching != nil && sameLabels(n) && kept.subject != "" && kept.subject == other.subject {
		return a.compared(n, kept, other)
	}
	v := kept.passing(op, other.values)
	if v.empty() {
		text, cure := excluded(keptExpr, kept, op, otherExpr, other)
		return a.impossible(n, text, cure)
	}
	o := kept.restricted(v)
	if _, ok := other.number(); ok && n.VectorMatching == nil {
		return o
	}
	o.pure = false
	if n.VectorMatching != nil {
		o.sure = min(o.sure, sometimes)
		if !sameLabels(n) {
			o.subject, o.facts = "", nil
		}
	} else if !kept.alwaysPasses(op, other.values) {
		o.sure = min(o.sure, sometimes)
	}
	return o
}

// compared returns the outcome of the comparison of an expression with itself.
func (a *analyzer) compared(n *parser.BinaryExpr, left, right outcome) outcome {
	v := left.and(right.values)
	switch n.Op {
	case parser.EQLC, parser.LTE, parser.GTE:
		v.nan = false
	case parser.NEQ:
		v.spans = nil // NaN is not equal to itself
	default:
		v = values{}
	}
	if v.empty() {
		return a.impossible(n, fmt.Sprintf("%s is compared with itself, and is never %s itself", short(n.LHS), n.Op), "compare it with something else")
	}
	left.pure = left.pure && right.pure
	o := left.restricted(v)
	o.sure = min(o.sure, right.sure)
	return o
}

// many bounds the facts about an expression, so that long chains of "and" stay cheap.
const many = 64

// and returns the outcome of "left and right". Neither side is impossible.
func (a *analyzer) and(n *parser.BinaryExpr, left, right outcome) outcome {
	o := left
	if !(anyLabels(n) && right.sure == always) {
		o.sure, o.pure = min(left.sure, sometimes), false
	}
	if !sameLabels(n) {
		return o
	}
	o.facts = maps.Clone(left.facts)
	for _, subject := range keys(right.facts) {
		w := right.facts[subject]
		if len(o.facts) >= many {
			break
		}
		v, ok := o.facts[subject]
		if !ok {
			v = w
		}
		if v = v.and(w); v.empty() {
			return a.impossible(n, fmt.Sprintf("both sides select %s, which is never %s and %s at the same time", a.pass.described(subject), left.facts[subject], w),
				`use "a or b" if either is enough`)
		}
		if o.facts == nil {
			o.facts = map[string]values{}
		}
		o.facts[subject] = v
	}
	if left.subject != "" && left.subject == right.subject {
		o.pure = left.pure && right.pure
		o = o.restricted(o.facts[left.subject])
	}
	return o
}

// unless returns the outcome of "left unless right".
func (a *analyzer) unless(n *parser.BinaryExpr, left, right outcome) outcome {
	const cure = `remove the part after "unless", or narrow it so that some series remain`
	switch {
	case left.sure == never || right.sure == never:
		return left
	case a.pass.identity(n.LHS) == a.pass.identity(n.RHS) && !a.pass.traits(n.LHS).picks:
		return a.impossible(n, fmt.Sprintf("%s is excluded from itself, so nothing remains", short(n.LHS)), cure)
	case a.neverGuards(n):
		return left
	case anyLabels(n) && right.sure == always:
		return a.impossible(n, fmt.Sprintf("%s always has a result, so nothing of the other side remains", short(n.RHS)), cure)
	}
	o := left
	if left.subject != "" && left.subject == right.subject && right.pure {
		rest := left.without(right.values)
		if rest.empty() {
			return a.impossible(n, fmt.Sprintf("of %s, \"unless\" removes everything that %s returns", a.pass.described(left.subject), short(n.LHS)), cure)
		}
		if sameLabels(n) {
			return left.restricted(rest)
		}
	}
	o.sure, o.pure = min(left.sure, sometimes), false
	return o
}

// or returns the outcome of "left or right".
func (a *analyzer) or(n *parser.BinaryExpr, left, right outcome) outcome {
	switch {
	case left.sure == never:
		return right
	case right.sure == never:
		return left
	}
	o := outcome{values: left.or(right.values), sure: max(left.sure, right.sure)}
	if a.absentOf(n.LHS, n.RHS) || a.absentOf(n.RHS, n.LHS) {
		o.sure = always
	}
	if !sameLabels(n) || left.subject == "" || left.subject != right.subject {
		return o
	}
	o.subject, o.facts = left.subject, map[string]values{left.subject: o.values}
	if o.pure = left.pure && right.pure; o.pure {
		o.whole = left.whole
		if o.whole.within(o.values) {
			o.sure = max(o.sure, o.whole.sure)
		}
	}
	return o
}

// absentOf reports whether e is absent(other).
func (a *analyzer) absentOf(e, other parser.Expr) bool {
	c, ok := promexpr.Bare(e).(*parser.Call)
	return ok && c.Func.Name == "absent" && a.pass.identity(c.Args[0]) == a.pass.identity(other)
}

// excluded explains why no sample passes a comparison.
func excluded(e parser.Expr, kept outcome, op parser.ItemType, otherExpr parser.Expr, other outcome) (text, cure string) {
	than := short(otherExpr)
	if n, ok := other.number(); ok {
		than = fmt.Sprint(n)
	}
	if len(other.spans) == 0 {
		return fmt.Sprintf("nothing is %s NaN, not even NaN itself", op), fmt.Sprintf("test for NaN with %s != %s", short(e), short(e))
	}
	cure = "compare it with a value that it can have"
	if counts(e) && !one(0).passing(op, other.values).empty() {
		return fmt.Sprintf("a count over no series returns nothing, not 0, so %s is never %s %s", short(e), op, than), "detect missing series with absent(...)"
	}
	return fmt.Sprintf("%s is %s, and never %s %s", short(e), kept.values, op, than), cure
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

// short returns the text of an expression, shortened for a message.
func short(e parser.Expr) string { return quoted(promexpr.Bare(e).String()) }

func quoted(text string) string {
	const limit = 80
	if runes := []rune(text); len(runes) > limit {
		text = string(runes[:limit]) + "..."
	}
	return text
}
