package analysis

import (
	"maps"
	"slices"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/rules"
	"github.com/vitals-health/vitals/rules/lint/shapes"
)

// Analysis derives facts from rules that are loaded together, without evaluating them. Each
// fact is computed once. It is not safe for concurrent use.
type Analysis struct {
	// Subjects are the rules in the order of the files. Recorded holds the recording rules by
	// the name that they record.
	Subjects []*Subject
	Recorded map[string][]*Subject
	// vocabulary describes the metrics that selectors can match; nil if they are unknown.
	vocabulary *Vocabulary
	// metrics holds the metrics of the vocabulary by their name, series the shapes of
	// their series, and sourced the sources of selectors.
	metrics map[string][]Metric
	series  map[string]shapes.Shape
	sourced map[*parser.VectorSelector][]Metric
	// walked holds the leaves of rules, and decisions what their expressions decide.
	walked    map[*rules.Rule][]Leaf
	decisions map[*Subject]*Decision
	// outcomes and cadences hold the results for the expressions of recording rules, and
	// anyValue, by recorded name, whether its series can have any value.
	outcomes map[*Subject]Outcome
	cadences map[*Subject]Cadence
	anyValue map[string]bool
	// named holds the shapes of the recorded series by their name.
	named map[string]shapes.Shape
	// nodeShapes, nodeTraits, nodeCadences and identities hold results for expressions.
	// nodeShapes is nil while the shapes of recorded series are not complete.
	nodeShapes   map[parser.Expr]shapes.Shape
	nodeTraits   map[parser.Node]traits
	nodeCadences map[parser.Expr]Cadence
	identities   map[parser.Expr]string
	// outlines holds the identities by their texts, and identified the first expression of
	// each.
	outlines   map[string]string
	identified map[string]parser.Expr
	// required holds the selectors that expressions require.
	required map[requirement][]*parser.VectorSelector
	// feeding holds the rules with a state and the recording rules that they use.
	feeding map[*Subject]bool
	// computed counts the shapes, traits and outcomes that were computed.
	computed int
}

// New analyses the rules of files. v is nil if the metrics are unknown.
func New(files []*rules.File, v *Vocabulary) *Analysis {
	a := &Analysis{
		vocabulary: v, Recorded: map[string][]*Subject{},
		metrics: map[string][]Metric{}, series: map[string]shapes.Shape{}, sourced: map[*parser.VectorSelector][]Metric{},
		walked: map[*rules.Rule][]Leaf{}, decisions: map[*Subject]*Decision{},
		outcomes: map[*Subject]Outcome{}, cadences: map[*Subject]Cadence{}, anyValue: map[string]bool{},
		nodeTraits: map[parser.Node]traits{}, nodeCadences: map[parser.Expr]Cadence{}, identities: map[parser.Expr]string{},
		outlines: map[string]string{}, identified: map[string]parser.Expr{},
		required: map[requirement][]*parser.VectorSelector{}, feeding: map[*Subject]bool{},
	}
	if v != nil {
		for _, metric := range v.Metrics {
			a.metrics[metric.Name] = append(a.metrics[metric.Name], metric)
		}
	}
	for _, f := range files {
		for g := range f.Groups {
			for r := range f.Groups[g].Rules {
				a.add(&Subject{f, &f.Groups[g], &f.Groups[g].Rules[r]})
			}
		}
	}
	a.shapes()
	a.feed()
	return a
}

func (a *Analysis) add(s *Subject) {
	a.Subjects = append(a.Subjects, s)
	if s.Rule.Record != "" {
		a.Recorded[s.Rule.Record] = append(a.Recorded[s.Rule.Record], s)
	}
	if s.Rule.AST != nil {
		a.survey(s.Rule.AST)
	}
}

// feed finds the rules with a state and the recording rules that they use.
func (a *Analysis) feed() {
	for _, s := range a.Subjects {
		if s.Rule.State == "" {
			continue
		}
		a.feeding[s] = true
		for _, l := range a.Leaves(s.Rule) {
			if len(l.Via) == 0 {
				continue
			}
			for _, rec := range a.Recorded[l.Via[len(l.Via)-1]] { // earlier ones are the last of other leaves
				a.feeding[rec] = true
			}
		}
	}
}

// Feeds reports whether a rule has a state, or records what one with a state uses.
func (a *Analysis) Feeds(s *Subject) bool { return a.feeding[s] }

// Computations returns how many shapes, traits and outcomes were computed.
func (a *Analysis) Computations() int { return a.computed }

// MetricNames returns the sorted names of the metrics of the vocabulary.
func (a *Analysis) MetricNames() []string { return slices.Sorted(maps.Keys(a.metrics)) }

// RecordedNames returns the sorted names that recording rules record.
func (a *Analysis) RecordedNames() []string { return slices.Sorted(maps.Keys(a.Recorded)) }
