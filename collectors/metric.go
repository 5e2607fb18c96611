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

// NewGauge declares a gauge. The help is one sentence, with the unit where the name has none.
func NewGauge(name, help string, labels ...string) *Def {
	return &Def{name, help, model.MetricTypeGauge, labels}
}

// NewCounter declares a counter.
func NewCounter(name, help string, labels ...string) *Def {
	return &Def{name, help, model.MetricTypeCounter, labels}
}

// Desc returns the metric as the exposition formats need it.
func (d *Def) Desc() Desc { return Desc{d.name, d.help, d.kind} }

// Describe returns the descriptions of metrics, as Collector.Describe returns them.
func Describe(defs []*Def) []Desc {
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

// Catalog collects what a configuration exports. Its methods apply to the metrics that
// they are given, and without any to all metrics of the catalog.
type Catalog struct {
	// any says that there is no configuration: what one would decide is open.
	Any     bool
	entries []catalogEntry
}

type catalogEntry struct {
	Metric
	def *Def
	// off reports whether the configuration leaves the metric out.
	off bool
}

// NewCatalog returns a catalog of the metrics. The collector's name is the value of the identity
// label, which all series have if there is one; an empty name stands for any configuration.
func NewCatalog(defs []*Def, identity, name string) *Catalog {
	c := &Catalog{Any: name == ""}
	for _, d := range defs {
		c.entries = append(c.entries, catalogEntry{def: d, Metric: Metric{Desc: d.Desc(), Labels: map[string][]string{}}})
	}
	if identity != "" {
		c.Configured(identity, []string{name})
	}
	return c
}

// List returns the metrics that the configuration exports, in the order of their
// descriptions.
func (c *Catalog) List() []Metric {
	var metrics []Metric
	for _, e := range c.entries {
		if !e.off {
			metrics = append(metrics, e.Metric)
		}
	}
	return metrics
}

// Closed adds a label whose values are the same under any configuration; nil allows any.
func (c *Catalog) Closed(label string, values []string, metrics ...*Def) {
	c.each(metrics, func(e *catalogEntry) {
		if !slices.Contains(e.def.labels, label) {
			panic("internal error: no label " + label + " of " + e.Name)
		}
		e.Labels[label] = slices.Clone(values)
	})
}

// Open adds a label whose values the configuration may decide; nil allows any.
func (c *Catalog) Open(label string, values []string, metrics ...*Def) {
	if c.Any {
		values = nil
	}
	c.Closed(label, values, metrics...)
}

// Configured adds a label whose values the configuration decides. Without a value there
// are no series.
func (c *Catalog) Configured(label string, values []string, metrics ...*Def) {
	c.Chosen(label, values, nil, metrics...)
}

// Chosen adds a label whose values the configuration takes out of a closed set.
func (c *Catalog) Chosen(label string, values, from []string, metrics ...*Def) {
	c.Without(len(values) == 0, metrics...)
	if c.Any {
		values = from
	}
	c.Closed(label, values, metrics...)
}

// Without leaves metrics out under a condition that the configuration decides.
func (c *Catalog) Without(condition bool, metrics ...*Def) {
	c.each(metrics, func(e *catalogEntry) { e.off = e.off || condition && !c.Any })
}

// Vanishing marks metrics whose series may be absent.
func (c *Catalog) Vanishing(metrics ...*Def) {
	c.each(metrics, func(e *catalogEntry) { e.Vanishes = true })
}

// Bools marks metrics that are always 0 or 1.
func (c *Catalog) Bools(metrics ...*Def) {
	c.each(metrics, func(e *catalogEntry) { e.Bool = true })
}

func (c *Catalog) each(metrics []*Def, do func(*catalogEntry)) {
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

// Unique returns the values, each once and in their order.
func Unique(values []string) []string {
	var all []string
	for _, v := range values {
		if !slices.Contains(all, v) {
			all = append(all, v)
		}
	}
	return all
}

// Texts are the values of a closed set, as a label has them.
func Texts[T ~string](values []T) []string {
	var all []string
	for _, v := range values {
		all = append(all, string(v))
	}
	return all
}
