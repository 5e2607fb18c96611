package lint

import (
	"math"
	"slices"
	"strings"

	"github.com/prometheus/prometheus/promql/parser"
)

// aggregation returns the outcome of an aggregation.
func (a *analyzer) aggregation(n *parser.AggregateExpr) outcome {
	of := a.analyze(n.Expr)
	if of.sure == never {
		return of
	}
	var limit float64
	var limited bool
	if n.Param != nil {
		param := a.analyze(n.Param)
		limit, limited = param.number()
	}
	positive := between(0, math.Inf(1))
	v, sure := anyNumber(), of.sure
	switch n.Op {
	case parser.MIN, parser.MAX:
		v = of.values
	case parser.AVG:
		v = of.hull()
	case parser.TOPK, parser.BOTTOMK, parser.LIMITK:
		v = of.values
		if !limited || limit < 1 {
			sure = sometimes
		}
	case parser.SUM:
		if positive.covers(of.values) {
			v = values{positive.spans, of.nan}
		}
	case parser.COUNT, parser.COUNT_VALUES:
		v = between(1, math.Inf(1))
	case parser.GROUP:
		v = one(1)
	case parser.STDDEV, parser.STDVAR:
		v = positive.orNaN()
	case parser.QUANTILE:
		if limited && limit >= 0 && limit <= 1 {
			v = of.hull().orNaN()
		}
	default:
		sure = sometimes
	}
	return a.newOutcome(n, v, sure)
}

// call returns the outcome of a function call.
func (a *analyzer) call(n *parser.Call) outcome {
	var args []outcome
	for _, arg := range n.Args {
		args = append(args, a.analyze(arg))
	}
	switch n.Func.Name {
	case "absent", "absent_over_time":
		return a.absent(n, args[0])
	case "vector":
		return a.newOutcome(n, args[0].values, always)
	case "scalar":
		return outcome{values: args[0].orNaN(), sure: always}
	case "time":
		return outcome{values: between(0, math.Inf(1)), sure: always}
	}
	if n.Type() == parser.ValueTypeScalar {
		return outcome{values: anyNumber(), sure: always}
	}
	sure := always // for hour() without arguments
	for i, arg := range args {
		switch n.Args[i].Type() {
		case parser.ValueTypeVector, parser.ValueTypeMatrix:
			sure = min(sure, arg.sure)
		}
	}
	if !keepsEverySeries(n.Func.Name) {
		sure = min(sure, sometimes)
	}
	return a.newOutcome(n, called(n.Func.Name, args), sure)
}

// absent returns the outcome of absent() and absent_over_time().
func (a *analyzer) absent(n *parser.Call, of outcome) outcome {
	switch of.sure {
	case never:
		return a.newOutcome(n, one(1), always)
	case always:
		return outcome{}
	}
	return a.newOutcome(n, one(1), sometimes)
}

// keepsEverySeries reports whether a function has a result for each series of its argument.
func keepsEverySeries(function string) bool {
	return slices.Contains(strings.Fields(`
		abs acos acosh asin asinh atan atanh ceil cos cosh deg exp floor ln log10 log2 rad round sgn sin sinh sqrt tan tanh
		clamp_max clamp_min timestamp label_replace label_join sort sort_desc
		minute hour day_of_week day_of_month day_of_year days_in_month month year
		avg_over_time min_over_time max_over_time sum_over_time count_over_time last_over_time first_over_time
		present_over_time quantile_over_time stddev_over_time stdvar_over_time changes resets
		rate increase irate delta idelta deriv predict_linear`), function)
}

// called returns the values that a function can return.
func called(function string, args []outcome) values {
	positive := between(0, math.Inf(1))
	var of values
	if len(args) > 0 {
		of = args[0].values
	}
	switch function {
	case "label_replace", "label_join", "sort", "sort_desc", "last_over_time", "first_over_time", "min_over_time", "max_over_time":
		return of
	case "avg_over_time":
		return of.hull()
	case "sum_over_time", "rate", "increase", "irate":
		if positive.covers(of) {
			return positive.orNaN()
		}
	case "present_over_time":
		return one(1)
	case "count_over_time":
		return between(1, math.Inf(1))
	case "changes", "resets", "stddev_over_time", "stdvar_over_time", "abs", "sqrt", "exp":
		return positive.orNaN()
	case "timestamp":
		return positive
	case "sgn":
		return oneOf(-1, 0, 1).orNaN()
	case "clamp_min":
		return of.clamped(args[1].values, one(math.Inf(1)))
	case "clamp_max":
		return of.clamped(one(math.Inf(-1)), args[1].values)
	}
	if part, ok := calendar()[function]; ok {
		return part.orNaN()
	}
	return anyNumber()
}

// clamped returns the values limited to a range.
func (v values) clamped(least, greatest values) values {
	from, ok := least.number()
	to, also := greatest.number()
	if !ok || !also {
		return anyNumber()
	}
	return v.mapped(func(x float64) float64 { return max(from, min(to, x)) })
}

// calendar returns the ranges of the functions that return a part of a date.
func calendar() map[string]values {
	return map[string]values{
		"minute": between(0, 59), "hour": between(0, 23), "month": between(1, 12),
		"day_of_week": between(0, 6), "day_of_month": between(1, 31), "day_of_year": between(1, 366), "days_in_month": between(28, 31),
	}
}
