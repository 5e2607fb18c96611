package analysis

import (
	"math"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/rules/lint/numbers"
	"github.com/vitals-health/vitals/rules/lint/syntax"
)

// aggregation returns the outcome of an aggregation.
func (a *analyzer) aggregation(n *parser.AggregateExpr) Outcome {
	of := a.analyze(n.Expr)
	if of.Sure == Never {
		return of
	}
	var limit float64
	var limited bool
	if n.Param != nil {
		param := a.analyze(n.Param)
		limit, limited = param.Number()
	}
	positive := numbers.Between(0, math.Inf(1))
	v, sure := numbers.Any(), of.Sure
	switch n.Op {
	case parser.MIN, parser.MAX:
		v = of.Values
	case parser.AVG:
		v = of.Hull()
	case parser.TOPK, parser.BOTTOMK, parser.LIMITK:
		v = of.Values
		if !limited || limit < 1 {
			sure = Sometimes
		}
	case parser.SUM:
		if positive.Covers(of.Values) {
			v = positive
			if of.MayBeNaN() {
				v = v.OrNaN()
			}
		}
	case parser.COUNT, parser.COUNT_VALUES:
		v = numbers.Between(1, math.Inf(1))
	case parser.GROUP:
		v = numbers.One(1)
	case parser.STDDEV, parser.STDVAR:
		v = positive.OrNaN()
	case parser.QUANTILE:
		if limited && limit >= 0 && limit <= 1 {
			v = of.Hull().OrNaN()
		}
	default:
		sure = Sometimes
	}
	return a.newOutcome(n, v, sure)
}

// call returns the outcome of a function call.
func (a *analyzer) call(n *parser.Call) Outcome {
	var args []Outcome
	for _, arg := range n.Args {
		args = append(args, a.analyze(arg))
	}
	switch n.Func.Name {
	case "absent", "absent_over_time":
		return a.absent(n, args[0])
	case "vector":
		return a.newOutcome(n, args[0].Values, Always)
	case "scalar":
		return Outcome{Values: args[0].OrNaN(), Sure: Always}
	case "time":
		return Outcome{Values: numbers.Between(0, math.Inf(1)), Sure: Always}
	}
	if n.Type() == parser.ValueTypeScalar {
		return Outcome{Values: numbers.Any(), Sure: Always}
	}
	sure := Always // for hour() without arguments
	for i, arg := range args {
		switch n.Args[i].Type() {
		case parser.ValueTypeVector, parser.ValueTypeMatrix:
			sure = min(sure, arg.Sure)
		}
	}
	if !syntax.KeepsEverySeries(n.Func.Name) {
		sure = min(sure, Sometimes)
	}
	return a.newOutcome(n, called(n.Func.Name, args), sure)
}

// absent returns the outcome of absent() and absent_over_time().
func (a *analyzer) absent(n *parser.Call, of Outcome) Outcome {
	switch of.Sure {
	case Never:
		return a.newOutcome(n, numbers.One(1), Always)
	case Always:
		return Outcome{}
	}
	return a.newOutcome(n, numbers.One(1), Sometimes)
}

// called returns the values that a function can return.
func called(function string, args []Outcome) numbers.Values {
	positive := numbers.Between(0, math.Inf(1))
	var of numbers.Values
	if len(args) > 0 {
		of = args[0].Values
	}
	switch function {
	case "label_replace", "label_join", "sort", "sort_desc", "last_over_time", "first_over_time", "min_over_time", "max_over_time":
		return of
	case "avg_over_time":
		return of.Hull()
	case "sum_over_time", "rate", "increase", "irate":
		if positive.Covers(of) {
			return positive.OrNaN()
		}
	case "present_over_time":
		return numbers.One(1)
	case "count_over_time":
		return numbers.Between(1, math.Inf(1))
	case "changes", "resets", "stddev_over_time", "stdvar_over_time", "abs", "sqrt", "exp":
		return positive.OrNaN()
	case "timestamp":
		return positive
	case "sgn":
		return numbers.OneOf(-1, 0, 1).OrNaN()
	case "clamp_min":
		return of.Clamped(args[1].Values, numbers.One(math.Inf(1)))
	case "clamp_max":
		return of.Clamped(numbers.One(math.Inf(-1)), args[1].Values)
	}
	if part, ok := calendar()[function]; ok {
		return part.OrNaN()
	}
	return numbers.Any()
}

// calendar returns the ranges of the functions that return a part of a date.
func calendar() map[string]numbers.Values {
	return map[string]numbers.Values{
		"minute": numbers.Between(0, 59), "hour": numbers.Between(0, 23), "month": numbers.Between(1, 12),
		"day_of_week": numbers.Between(0, 6), "day_of_month": numbers.Between(1, 31), "day_of_year": numbers.Between(1, 366), "days_in_month": numbers.Between(28, 31),
	}
}
