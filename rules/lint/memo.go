package lint

import (
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/parser/posrange"

	"github.com/vitals-health/vitals/internal/promexpr"
	"github.com/vitals-health/vitals/internal/text"
	"github.com/vitals-health/vitals/rules"
)

// memo holds the results that several checks use, so that each is computed once.
type memo struct {
	// walked holds the leaves of rules, and decisions what their expressions decide.
	walked    map[*rules.Rule][]leaf
	decisions map[*subject]*decision
	// nodeShapes, nodeTraits, nodeCadences and identities hold results for expressions.
	// nodeShapes is nil while the shapes of recorded series are not complete.
	nodeShapes   map[parser.Expr]shape
	nodeTraits   map[parser.Node]traits
	nodeCadences map[parser.Expr]cadence
	identities   map[parser.Expr]string
	// outlines holds the identities by their texts, and identified the first expression of
	// each.
	outlines   map[string]string
	identified map[string]parser.Expr
	// required holds the selectors that expressions require.
	required map[requirement][]*parser.VectorSelector
	// metrics holds the metrics of the vocabulary by their name, series the shapes of
	// their series, and sourced the sources of selectors.
	metrics map[string][]Metric
	series  map[string]shape
	sourced map[*parser.VectorSelector][]Metric
	// ready holds the leaves of the rules of ready.
	ready *selectorIndex[readyLeaf]
	// intended holds the known names that are similar to others, and similarTo finds them
	// among the recorded names and those of the vocabulary.
	intended  map[string]string
	similarTo *[2]text.Names
	// places finds parts of the expressions of rules in the files.
	places map[*subject]func(posrange.Pos) (line, col int)
	// begins holds where the rules of each file begin.
	begins map[*rules.File][]start
	// reported holds the indexes of findings, without their severity.
	reported map[finding]int
	// computed counts the shapes, traits and outcomes that were computed.
	computed int
}

func newMemo(v *Vocabulary) memo {
	m := memo{
		walked: map[*rules.Rule][]leaf{}, decisions: map[*subject]*decision{}, nodeTraits: map[parser.Node]traits{},
		nodeCadences: map[parser.Expr]cadence{}, identities: map[parser.Expr]string{}, outlines: map[string]string{},
		identified: map[string]parser.Expr{}, metrics: map[string][]Metric{}, series: map[string]shape{}, sourced: map[*parser.VectorSelector][]Metric{},
		reported: map[finding]int{}, required: map[requirement][]*parser.VectorSelector{}, intended: map[string]string{}, begins: map[*rules.File][]start{}, places: map[*subject]func(posrange.Pos) (line, col int){},
	}
	if v != nil {
		for _, metric := range v.Metrics {
			m.metrics[metric.Name] = append(m.metrics[metric.Name], metric)
		}
	}
	return m
}

// sources returns the metrics of the vocabulary that a selector can match directly. Metrics
// of Others count only if no other metric has the name. The result must not be changed.
func (p *pass) sources(s *parser.VectorSelector) []Metric {
	found, ok := p.sourced[s]
	if !ok && p.opts.Vocabulary != nil {
		found = p.sourcesOf(s)
		p.sourced[s] = found
	}
	return found
}

func (p *pass) sourcesOf(s *parser.VectorSelector) []Metric {
	name := promexpr.MetricName(s)
	all := p.metrics[name]
	if name == "" {
		all = p.opts.Vocabulary.Metrics
	}
	found := matching(all, s.LabelMatchers)
	if len(found) == 0 && !own(name) && !ofAlerts(name) && len(p.recorded[name]) == 0 {
		found = matching(p.opts.Vocabulary.Others, s.LabelMatchers)
	}
	return found
}

// matching returns the metrics of which a series can satisfy the matchers.
func matching(all []Metric, matchers []*labels.Matcher) []Metric {
	var found []Metric
	for i := range all {
		if all[i].matches(matchers) {
			found = append(found, all[i])
		}
	}
	return found
}
