package collectors

import (
	"slices"

	"github.com/prometheus/common/model"
)

// Def declares a metric: its name, its help, its type and the names of its labels. It is
// immutable, so that packages may hold one in a variable.
type Def struct {
	name, help string
	kind       model.MetricType
	labels     []string
}

// newGauge declares a gauge. The help is one sentence, with the unit where the name has none.
func newGauge(name, help string, labels ...string) *Def {
	return &Def{name, help, model.MetricTypeGauge, labels}
}

// newCounter declares a counter.
func newCounter(name, help string, labels ...string) *Def {
	return &Def{name, help, model.MetricTypeCounter, labels}
}

// Desc returns the metric as the exposition formats need it.
func (d *Def) Desc() Desc { return Desc{d.name, d.help, d.kind} }

// describe returns the descriptions of metrics, as Collector.Describe returns them.
func describe(defs []*Def) []Desc {
	var descs []Desc
	for _, d := range defs {
		descs = append(descs, d.Desc())
	}
	return descs
}

// Metric describes a metric as the collector of one configuration exports it, before
// anything is measured.
type Metric struct {
	Desc
	// Labels are the labels that its series may have, with all values that can occur;
	// nil allows any. Among them is "" where a series may lack the label.
	Labels map[string][]string
	// Vanishes says that series may be absent although the collector's rounds end well:
	// what they are about does not exist or has not begun, or there was no answer to
	// measure. The first moments after the start do not count.
	Vanishes bool
	// Bool says that the value is always 0 or 1.
	Bool bool
}

// catalog collects what a configuration exports. Its methods apply to the metrics that
// they are given, and without any to all metrics of the catalog.
type catalog struct {
	// any says that there is no configuration: what one would decide is open.
	any     bool
	entries []catalogEntry
}

type catalogEntry struct {
	Metric
	def *Def
	// off reports whether the configuration leaves the metric out.
	off bool
}

// newCatalog returns a catalog of the metrics. The collector's name is the value of the identity
// label, which all series have if there is one; an empty name stands for any configuration.
func newCatalog(defs []*Def, identity, name string) *catalog {
	c := &catalog{any: name == ""}
	for _, d := range defs {
		c.entries = append(c.entries, catalogEntry{def: d, Metric: Metric{Desc: d.Desc(), Labels: map[string][]string{}}})
	}
	if identity != "" {
		c.configured(identity, []string{name})
	}
	return c
}

// list returns the metrics that the configuration exports, in the order of their
// descriptions.
func (c *catalog) list() []Metric {
	var metrics []Metric
	for _, e := range c.entries {
		if !e.off {
			metrics = append(metrics, e.Metric)
		}
	}
	return metrics
}

// closed adds a label whose values are the same under any configuration; nil allows any.
func (c *catalog) closed(label string, values []string, metrics ...*Def) {
	c.each(metrics, func(e *catalogEntry) {
		if !slices.Contains(e.def.labels, label) {
			panic("internal error: no label " + label + " of " + e.Name)
		}
		e.Labels[label] = slices.Clone(values)
	})
}

// open adds a label whose values the configuration may decide; nil allows any.
func (c *catalog) open(label string, values []string, metrics ...*Def) {
	if c.any {
		values = nil
	}
	c.closed(label, values, metrics...)
}

// configured adds a label whose values the configuration decides. Without a value there
// are no series.
func (c *catalog) configured(label string, values []string, metrics ...*Def) {
	c.chosen(label, values, nil, metrics...)
}

// chosen adds a label whose values the configuration takes out of a closed set.
func (c *catalog) chosen(label string, values, from []string, metrics ...*Def) {
	c.without(len(values) == 0, metrics...)
	if c.any {
		values = from
	}
	c.closed(label, values, metrics...)
}

// without leaves metrics out under a condition that the configuration decides.
func (c *catalog) without(condition bool, metrics ...*Def) {
	c.each(metrics, func(e *catalogEntry) { e.off = e.off || condition && !c.any })
}

// vanishing marks metrics whose series may be absent.
func (c *catalog) vanishing(metrics ...*Def) {
	c.each(metrics, func(e *catalogEntry) { e.Vanishes = true })
}

// bools marks metrics that are always 0 or 1.
func (c *catalog) bools(metrics ...*Def) {
	c.each(metrics, func(e *catalogEntry) { e.Bool = true })
}

func (c *catalog) each(metrics []*Def, do func(*catalogEntry)) {
	for _, d := range metrics {
		if !slices.ContainsFunc(c.entries, func(e catalogEntry) bool { return e.def == d }) {
			panic("internal error: the catalog lacks " + d.name)
		}
	}
	for i := range c.entries {
		if len(metrics) == 0 || slices.Contains(metrics, c.entries[i].def) {
			do(&c.entries[i])
		}
	}
}

// unique returns the values, each once and in their order.
func unique(values []string) []string {
	var all []string
	for _, v := range values {
		if !slices.Contains(all, v) {
			all = append(all, v)
		}
	}
	return all
}

// texts are the values of a closed set, as a label has them.
func texts[T ~string](values []T) []string {
	var all []string
	for _, v := range values {
		all = append(all, string(v))
	}
	return all
}
