package lint

import (
	"maps"
	"slices"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql/parser"
)

// certainty says when an expression yields anything at all.
type certainty int

const (
	// never: whatever is measured.
	never certainty = iota
	// sometimes: it depends on what is measured, or nobody knows.
	sometimes
	// measured: as soon as anything is, whatever it is.
	measured
	// always: also when nothing is measured.
	always
)

// outcome is what can be said of an expression without evaluating it.
type outcome struct {
	values
	sure certainty
	// subject is the expression whose values these are: it gives a sample of the same
	// labels and value. Empty if nobody can say. facts are, by subject, what values the
	// samples of the same labels must have had.
	subject string
	facts   map[string]values
	// pure says that these are all samples of the subject that have such values, and
	// whole is the outcome of the subject itself.
	pure  bool
	whole *outcome
}

// cause is a part of an expression that never yields anything, and why.
type cause struct {
	node       parser.Node
	text, cure string
}

// analyst looks at expressions. It errs on one side: what it calls sure is.
type analyst struct {
	pass *pass
	// causes are what it found on the way.
	causes []cause
	// following are the recording rules on the way.
	following []string
}

func (a *analyst) impossible(n parser.Node, text, cure string) outcome {
	a.causes = append(a.causes, cause{n, text, cure})
	return outcome{}
}

// look returns the outcome of an expression.
func (a *analyst) look(e parser.Expr) outcome {
	switch n := e.(type) {
	case *parser.ParenExpr:
		return a.look(n.Expr)
	case *parser.StepInvariantExpr:
		return a.look(n.Expr)
	case *parser.NumberLiteral:
		return outcome{values: one(n.Val), sure: always}
	case *parser.UnaryExpr:
		o := a.look(n.Expr)
		if n.Op != parser.SUB {
			return o
		}
		return itself(n, one(0).calculated(parser.SUB, o.values), o.sure)
	case *parser.VectorSelector:
		return a.selector(n)
	case *parser.MatrixSelector:
		return a.look(n.VectorSelector)
	case *parser.SubqueryExpr:
		o := a.look(n.Expr)
		return itself(n, o.values, min(o.sure, sometimes))
	case *parser.AggregateExpr:
		return a.aggregation(n)
	case *parser.Call:
		return a.call(n)
	case *parser.BinaryExpr:
		return a.binary(n)
	}
	return outcome{values: anyNumber(), sure: sometimes}
}

// itself is the outcome of an expression that is its own subject: a sample in it is told
// from the others by its labels, also without the metric's name.
func itself(e parser.Expr, v values, sure certainty) outcome {
	if sure == never {
		return outcome{}
	}
	o := outcome{values: v, sure: sure}
	if e.Type() != parser.ValueTypeVector || !ofNamedMetrics(e) || picks(e) {
		return o
	}
	whole := o
	o.subject, o.pure, o.whole = e.String(), true, &whole
	o.facts = map[string]values{o.subject: v}
	return o
}

// ofNamedMetrics says whether each selector of an expression selects one metric.
func ofNamedMetrics(e parser.Expr) bool {
	return !slices.ContainsFunc(selectors(e), func(s *parser.VectorSelector) bool { return metricName(s) == "" })
}

// picks says whether an expression picks some samples out of several, as topk does: of
// equal ones not always the same.
func picks(e parser.Expr) bool {
	found := false
	parser.Inspect(e, func(n parser.Node, _ []parser.Node) error {
		a, ok := n.(*parser.AggregateExpr)
		found = found || ok && keepsLabels(a.Op)
		return nil
	})
	return found
}

func selectors(e parser.Expr) []*parser.VectorSelector {
	var all []*parser.VectorSelector
	parser.Inspect(e, func(n parser.Node, _ []parser.Node) error {
		if s, ok := n.(*parser.VectorSelector); ok {
			all = append(all, s)
		}
		return nil
	})
	return all
}

// selector is the outcome of what collectors and recording rules can make of a selector.
func (a *analyst) selector(s *parser.VectorSelector) outcome {
	if text, cure := contradiction(s.LabelMatchers); text != "" {
		return a.impossible(s, text, cure)
	}
	var v values
	sure := never
	name := metricName(s)
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
	if sure == never { // nobody known: then nothing is known
		return itself(s, anyNumber(), sometimes)
	}
	return itself(s, v, sure)
}

// certainly is how sure a recorded series is for a selector: with labels that it asks for,
// with an offset or in the first moments it may not be there.
func (a *analyst) certainly(s *parser.VectorSelector, sure certainty) certainty {
	if len(s.LabelMatchers) > 1 || s.OriginalOffset != 0 || s.Timestamp != nil || s.StartOrEnd != 0 {
		return min(sure, sometimes)
	}
	return min(sure, measured)
}

// recorded is the outcome of a recording rule, without the causes: they are its own.
func (a *analyst) recorded(name string, rec *subject) outcome {
	unknown := outcome{values: anyNumber(), sure: sometimes}
	if slices.Contains(a.following, name) || rec.rule.AST == nil {
		return unknown
	}
	if o, ok := a.pass.outcomes[rec]; ok {
		return o
	}
	deeper := analyst{pass: a.pass, following: append(slices.Clip(a.following), name)}
	o := deeper.look(rec.rule.AST)
	if o.sure == never {
		o = unknown
	}
	a.pass.outcomes[rec] = o
	return o
}

// metricValues are those that a metric can have.
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

// restricted is o with those samples only whose values are among v.
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
