package analysis

import (
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/internal/promexpr"
	"github.com/vitals-health/vitals/rules/lint/numbers"
	"github.com/vitals-health/vitals/rules/lint/syntax"
)

// Certainty is how certain it is that an expression has a result.
type Certainty int

const (
	// Never: it has no result, whatever is measured.
	Never Certainty = iota
	// Sometimes: it depends on what is measured, or is unknown.
	Sometimes
	// Measured: it has a result as soon as its metrics are present.
	Measured
	// Always: it has a result even without any metric.
	Always
)

// Outcome is what static analysis finds about an expression.
type Outcome struct {
	// Values are the possible values of its samples.
	numbers.Values
	// Sure is how certain it is that there is a result.
	Sure Certainty
	// Subject is the identity of the expression whose values these are: it has a sample with
	// the same labels and value. It is empty if unknown. facts holds, by subject, the possible
	// values of the samples with the same labels.
	Subject string
	facts   map[string]numbers.Values
	// Pure is set if these are all samples of the subject with such values. Whole is the
	// outcome of the subject itself.
	Pure  bool
	Whole *Outcome
}

// Cause is a part of an expression that never has a result, and the reason.
type Cause struct {
	Node       parser.Node
	Text, Cure string
	// Idle is set if the part only has no effect.
	Idle bool
}

// analyzer analyses expressions. It is conservative: a result that it reports as certain is
// certain.
type analyzer struct {
	in *Analysis
	// causes are the causes that were found.
	causes []Cause
	// following names the recording rules on the way.
	following []string
}

func (a *analyzer) impossible(n parser.Node, text, cure string) Outcome {
	a.causes = append(a.causes, Cause{Node: n, Text: text, Cure: cure})
	return Outcome{}
}

// analyze returns the outcome of an expression.
func (a *analyzer) analyze(e parser.Expr) Outcome {
	a.in.computed++
	switch n := e.(type) {
	case *parser.ParenExpr:
		return a.analyze(n.Expr)
	case *parser.StepInvariantExpr:
		return a.analyze(n.Expr)
	case *parser.NumberLiteral:
		return Outcome{Values: numbers.One(n.Val), Sure: Always}
	case *parser.UnaryExpr:
		o := a.analyze(n.Expr)
		if n.Op != parser.SUB {
			return o
		}
		return a.newOutcome(n, numbers.One(0).Calculated(parser.SUB, o.Values), o.Sure)
	case *parser.VectorSelector:
		return a.selector(n)
	case *parser.MatrixSelector:
		return a.analyze(n.VectorSelector)
	case *parser.SubqueryExpr:
		o := a.analyze(n.Expr)
		return a.newOutcome(n, o.Values, min(o.Sure, Sometimes))
	case *parser.AggregateExpr:
		return a.aggregation(n)
	case *parser.Call:
		return a.call(n)
	case *parser.BinaryExpr:
		return a.binary(n)
	}
	return Outcome{Values: numbers.Any(), Sure: Sometimes}
}

// Outcome returns the outcome of an expression.
func (a *Analysis) Outcome(e parser.Expr) Outcome { return (&analyzer{in: a}).analyze(e) }

// newOutcome returns the outcome of an expression that is its own subject. Labels identify
// its samples, without the metric's name.
func (a *analyzer) newOutcome(e parser.Expr, v numbers.Values, sure Certainty) Outcome {
	if sure == Never {
		return Outcome{}
	}
	o := Outcome{Values: v, Sure: sure}
	if of := a.in.traits(e); e.Type() != parser.ValueTypeVector || of.nameless || of.picks {
		return o
	}
	whole := o
	o.Subject, o.Pure, o.Whole = a.in.Identity(e), true, &whole
	o.facts = map[string]numbers.Values{o.Subject: v}
	return o
}

// selector returns the outcome of a selector, from the collectors and recording rules that
// it can match.
func (a *analyzer) selector(s *parser.VectorSelector) Outcome {
	if text, cure := syntax.Contradiction(s.LabelMatchers); text != "" {
		return a.impossible(s, text, cure)
	}
	var v numbers.Values
	sure := Never
	name := promexpr.MetricName(s)
	for _, m := range a.in.Sources(s) {
		v = v.Or(metricValues(&m))
		if m.Name == "" || m.Vanishes {
			sure = max(sure, Sometimes)
		} else {
			sure = max(sure, Measured)
		}
	}
	for _, rec := range a.in.Recorded[name] {
		o := a.recorded(name, rec)
		v, sure = v.Or(o.Values), max(sure, min(o.Sure, a.certainly(s, o.Sure)))
	}
	if sure == Never { // no source is known, so nothing is
		return a.newOutcome(s, numbers.Any(), Sometimes)
	}
	return a.newOutcome(s, v, sure)
}

// certainly limits the certainty of a recorded series for a selector. With further
// matchers, with an offset or just after the start it may be absent.
func (a *analyzer) certainly(s *parser.VectorSelector, sure Certainty) Certainty {
	if len(s.LabelMatchers) > 1 || s.OriginalOffset != 0 || s.Timestamp != nil || s.StartOrEnd != 0 {
		return min(sure, Sometimes)
	}
	return min(sure, Measured)
}

// recorded returns the outcome of a recording rule. Its causes belong to that rule and are
// left out.
func (a *analyzer) recorded(name string, rec *Subject) Outcome {
	unknown := Outcome{Values: numbers.Any(), Sure: Sometimes}
	if slices.Contains(a.following, name) || rec.Rule.AST == nil {
		return unknown
	}
	if o, ok := a.in.outcomes[rec]; ok {
		return o
	}
	deeper := analyzer{in: a.in, following: append(slices.Clip(a.following), name)}
	o := deeper.analyze(rec.Rule.AST)
	if o.Sure == Never {
		o = unknown
	}
	a.in.outcomes[rec] = o
	return o
}

// metricValues returns the possible values of a metric.
func metricValues(m *Metric) numbers.Values {
	positive := numbers.Between(0, math.Inf(1))
	switch {
	case m.Bool:
		return numbers.OneOf(0, 1)
	case Own(m.Name) && (m.Type == model.MetricTypeCounter || strings.HasSuffix(m.Name, "_timestamp_seconds")):
		return positive
	}
	return numbers.Any()
}

// restricted returns o with only the samples whose values are in v.
func (o Outcome) restricted(v numbers.Values) Outcome {
	all := o.Within(v)
	o.Values = v
	o.facts = maps.Clone(o.facts)
	if o.Subject != "" {
		o.facts[o.Subject] = o.facts[o.Subject].And(v)
	}
	switch {
	case o.Pure && o.Whole.Within(v):
		o.Sure = o.Whole.Sure
	case !all:
		o.Sure = min(o.Sure, Sometimes)
	}
	return o
}
