package lint

import (
	"maps"
	"slices"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/internal/promexpr"
)

// certainty is how certain it is that an expression has a result.
type certainty int

const (
	// never: it has no result, whatever is measured.
	never certainty = iota
	// sometimes: it depends on what is measured, or is unknown.
	sometimes
	// measured: it has a result as soon as its metrics are present.
	measured
	// always: it has a result even without any metric.
	always
)

// outcome is what static analysis finds about an expression.
type outcome struct {
	values
	sure certainty
	// subject is the identity of the expression whose values these are: it has a sample with
	// the same labels and value. It is empty if unknown. facts holds, by subject, the possible
	// values of the samples with the same labels.
	subject string
	facts   map[string]values
	// pure is set if these are all samples of the subject with such values. whole is the
	// outcome of the subject itself.
	pure  bool
	whole *outcome
}

// cause is a part of an expression that never has a result, and the reason.
type cause struct {
	node       parser.Node
	text, cure string
	// idle is set if the part only has no effect.
	idle bool
}

// analyzer analyses expressions. It is conservative: a result that it reports as certain is
// certain.
type analyzer struct {
	pass *pass
	// causes are the causes that were found.
	causes []cause
	// following names the recording rules on the way.
	following []string
}

func (a *analyzer) impossible(n parser.Node, text, cure string) outcome {
	a.causes = append(a.causes, cause{node: n, text: text, cure: cure})
	return outcome{}
}

// analyze returns the outcome of an expression.
func (a *analyzer) analyze(e parser.Expr) outcome {
	a.pass.computed++
	switch n := e.(type) {
	case *parser.ParenExpr:
		return a.analyze(n.Expr)
	case *parser.StepInvariantExpr:
		return a.analyze(n.Expr)
	case *parser.NumberLiteral:
		return outcome{values: one(n.Val), sure: always}
	case *parser.UnaryExpr:
		o := a.analyze(n.Expr)
		if n.Op != parser.SUB {
			return o
		}
		return a.newOutcome(n, one(0).calculated(parser.SUB, o.values), o.sure)
	case *parser.VectorSelector:
		return a.selector(n)
	case *parser.MatrixSelector:
		return a.analyze(n.VectorSelector)
	case *parser.SubqueryExpr:
		o := a.analyze(n.Expr)
		return a.newOutcome(n, o.values, min(o.sure, sometimes))
	case *parser.AggregateExpr:
		return a.aggregation(n)
	case *parser.Call:
		return a.call(n)
	case *parser.BinaryExpr:
		return a.binary(n)
	}
	return outcome{values: anyNumber(), sure: sometimes}
}

// newOutcome returns the outcome of an expression that is its own subject. Labels identify
// its samples, without the metric's name.
func (a *analyzer) newOutcome(e parser.Expr, v values, sure certainty) outcome {
	if sure == never {
		return outcome{}
	}
	o := outcome{values: v, sure: sure}
	if of := a.pass.traits(e); e.Type() != parser.ValueTypeVector || of.nameless || of.picks {
		return o
	}
	whole := o
	o.subject, o.pure, o.whole = a.pass.identity(e), true, &whole
	o.facts = map[string]values{o.subject: v}
	return o
}

// selectors returns the selectors of an expression; none for nil.
func selectors(e parser.Expr) []*parser.VectorSelector {
	if e == nil {
		return nil
	}
	var all []*parser.VectorSelector
	parser.Inspect(e, func(n parser.Node, _ []parser.Node) error {
		if s, ok := n.(*parser.VectorSelector); ok {
			all = append(all, s)
		}
		return nil
	})
	return all
}

// selector returns the outcome of a selector, from the collectors and recording rules that
// it can match.
func (a *analyzer) selector(s *parser.VectorSelector) outcome {
	if text, cure := contradiction(s.LabelMatchers); text != "" {
		return a.impossible(s, text, cure)
	}
	var v values
	sure := never
	name := promexpr.MetricName(s)
	for _, m := range a.pass.sources(s) {
		v = v.or(metricValues(&m))
		if m.Name == "" || m.Vanishes {
			sure = max(sure, sometimes)
		} else {
			sure = max(sure, measured)
		}
	}
	for _, rec := range a.pass.recorded[name] {
		o := a.recorded(name, rec)
		v, sure = v.or(o.values), max(sure, min(o.sure, a.certainly(s, o.sure)))
	}
	if sure == never { // no source is known, so nothing is
		return a.newOutcome(s, anyNumber(), sometimes)
	}
	return a.newOutcome(s, v, sure)
}

// certainly limits the certainty of a recorded series for a selector. With further
// matchers, with an offset or just after the start it may be absent.
func (a *analyzer) certainly(s *parser.VectorSelector, sure certainty) certainty {
	if len(s.LabelMatchers) > 1 || s.OriginalOffset != 0 || s.Timestamp != nil || s.StartOrEnd != 0 {
		return min(sure, sometimes)
	}
	return min(sure, measured)
}

// recorded returns the outcome of a recording rule. Its causes belong to that rule and are
// left out.
func (a *analyzer) recorded(name string, rec *subject) outcome {
	unknown := outcome{values: anyNumber(), sure: sometimes}
	if slices.Contains(a.following, name) || rec.rule.AST == nil {
		return unknown
	}
	if o, ok := a.pass.outcomes[rec]; ok {
		return o
	}
	deeper := analyzer{pass: a.pass, following: append(slices.Clip(a.following), name)}
	o := deeper.analyze(rec.rule.AST)
	if o.sure == never {
		o = unknown
	}
	a.pass.outcomes[rec] = o
	return o
}

// metricValues returns the possible values of a metric.
func metricValues(m *Metric) values {
	positive := between(0, end().at)
	switch {
	case m.Bool:
		return oneOf(0, 1)
	case own(m.Name) && (m.Type == model.MetricTypeCounter || strings.HasSuffix(m.Name, "_timestamp_seconds")):
		return positive
	}
	return anyNumber()
}

// restricted returns o with only the samples whose values are in v.
func (o outcome) restricted(v values) outcome {
	all := o.within(v)
	o.values = v
	o.facts = maps.Clone(o.facts)
	if o.subject != "" {
		o.facts[o.subject] = o.facts[o.subject].and(v)
	}
	switch {
	case o.pure && o.whole.within(v):
		o.sure = o.whole.sure
	case !all:
		o.sure = min(o.sure, sometimes)
	}
	return o
}
