package collectors

import "slices"

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

// catalog is what a configuration exports, while it is put together. Its methods name
// metrics that the descriptions have; without a name they mean all of them.
type catalog struct {
	// any says that there is no configuration: what one would decide is open.
	any     bool
	entries []catalogEntry
}

type catalogEntry struct {
	Metric
	// off says that the configuration leaves the metric out.
	off bool
}

// newCatalog begins with descriptions. The collector's name is the value of the identity
// label, which all series have if there is one; an empty name stands for any configuration.
func newCatalog(descs []Desc, identity, name string) *catalog {
	c := &catalog{any: name == ""}
	for _, d := range descs {
		c.entries = append(c.entries, catalogEntry{Metric: Metric{Desc: d, Labels: map[string][]string{}}})
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
func (c *catalog) closed(label string, values []string, metrics ...string) {
	c.each(metrics, func(e *catalogEntry) { e.Labels[label] = slices.Clone(values) })
}

// open adds a label whose values the configuration may decide; nil allows any.
func (c *catalog) open(label string, values []string, metrics ...string) {
	if c.any {
		values = nil
	}
	c.closed(label, values, metrics...)
}

// configured adds a label whose values the configuration decides. Without a value there
// are no series.
func (c *catalog) configured(label string, values []string, metrics ...string) {
	c.chosen(label, values, nil, metrics...)
}

// chosen adds a label whose values the configuration takes out of a closed set.
func (c *catalog) chosen(label string, values, from []string, metrics ...string) {
	c.without(len(values) == 0, metrics...)
	if c.any {
		values = from
	}
	c.closed(label, values, metrics...)
}

// without leaves metrics out under a condition that the configuration decides.
func (c *catalog) without(condition bool, metrics ...string) {
	c.each(metrics, func(e *catalogEntry) { e.off = e.off || condition && !c.any })
}

// vanishing marks metrics whose series may be absent.
func (c *catalog) vanishing(metrics ...string) {
	c.each(metrics, func(e *catalogEntry) { e.Vanishes = true })
}

// bools marks metrics that are always 0 or 1.
func (c *catalog) bools(metrics ...string) {
	c.each(metrics, func(e *catalogEntry) { e.Bool = true })
}

func (c *catalog) each(metrics []string, do func(*catalogEntry)) {
	for _, name := range metrics {
		if !slices.ContainsFunc(c.entries, func(e catalogEntry) bool { return e.Name == name }) {
			panic("internal error: no description of " + name)
		}
	}
	for i := range c.entries {
		if len(metrics) == 0 || slices.Contains(metrics, c.entries[i].Name) {
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
