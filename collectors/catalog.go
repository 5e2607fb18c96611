package collectors

import "slices"

// Catalog builds the result of Kind.Metrics. Its methods change the entries of the given
// metrics, or of all metrics if none is given. They panic on a metric that is not in the
// catalog and on a label that the metric does not have.
type Catalog struct {
	// Any means that the catalog is for any configuration: values that a configuration
	// decides are open.
	Any     bool
	entries []catalogEntry
}

type catalogEntry struct {
	Metric
	def *Def
	// off means that the configuration excludes the metric.
	off bool
}

// NewCatalog returns a catalog of the metrics. All series have the label identity, with the
// collector's name as its value; an empty identity adds no label. An empty name stands for
// any configuration.
func NewCatalog(defs []*Def, identity, name string) *Catalog {
	c := &Catalog{Any: name == ""}
	for _, d := range defs {
		c.entries = append(c.entries, catalogEntry{def: d, Metric: Metric{Desc: d.Desc(), Identity: identity, Labels: map[string][]string{}}})
	}
	if identity != "" {
		c.Configured(identity, []string{name})
	}
	return c
}

// List returns the metrics that the configuration exports, in the order of NewCatalog's
// argument.
func (c *Catalog) List() []Metric {
	var metrics []Metric
	for _, e := range c.entries {
		if !e.off {
			metrics = append(metrics, e.Metric)
		}
	}
	return metrics
}

// Closed adds a label with the same values under any configuration; nil allows any value.
func (c *Catalog) Closed(label string, values []string, metrics ...*Def) {
	c.each(metrics, func(e *catalogEntry) {
		if !slices.Contains(e.def.labels, label) {
			panic("internal error: no label " + label + " of " + e.Name)
		}
		e.Labels[label] = slices.Clone(values)
	})
}

// Open adds a label whose values the configuration may decide; nil allows any value.
func (c *Catalog) Open(label string, values []string, metrics ...*Def) {
	if c.Any {
		values = nil
	}
	c.Closed(label, values, metrics...)
}

// Configured adds a label whose values the configuration decides. Without values, it
// excludes the metrics.
func (c *Catalog) Configured(label string, values []string, metrics ...*Def) {
	c.Chosen(label, values, nil, metrics...)
}

// Chosen adds a label whose values the configuration selects from a closed set. Without
// values, it excludes the metrics.
func (c *Catalog) Chosen(label string, values, from []string, metrics ...*Def) {
	c.Without(len(values) == 0, metrics...)
	if c.Any {
		values = from
	}
	c.Closed(label, values, metrics...)
}

// Labelled adds labels that the configuration names, with any values. Under any configuration the
// metric may have any label.
func (c *Catalog) Labelled(metric *Def, labels []string) {
	c.each([]*Def{metric}, func(e *catalogEntry) {
		e.AnyLabel = c.Any
		for _, label := range labels {
			if !c.Any {
				e.Labels[label] = nil
			}
		}
	})
}

// Without excludes the metrics if the condition, which the configuration decides, is true.
func (c *Catalog) Without(condition bool, metrics ...*Def) {
	c.each(metrics, func(e *catalogEntry) { e.off = e.off || condition && !c.Any })
}

// Vanishing sets Metric.Vanishes.
func (c *Catalog) Vanishing(metrics ...*Def) {
	c.each(metrics, func(e *catalogEntry) { e.Vanishes = true })
}

// Bools sets Metric.Bool.
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

// Unique returns the values without duplicates, in the order of their first occurrence.
func Unique(values []string) []string {
	var all []string
	seen := make(map[string]bool, len(values))
	for _, v := range values {
		if !seen[v] {
			seen[v] = true
			all = append(all, v)
		}
	}
	return all
}

// Texts returns the values of a closed set as label values.
func Texts[T ~string](values []T) []string {
	var all []string
	for _, v := range values {
		all = append(all, string(v))
	}
	return all
}
