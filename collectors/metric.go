package collectors

import "github.com/prometheus/common/model"

// Desc describes a metric as the exposition formats need it.
type Desc struct {
	Name string
	// Help is one sentence, with the unit if the name has none.
	Help string
	Type model.MetricType
}

// Def declares a metric: its name, help and type, and the names of its labels. It is
// immutable, so a package may hold it in a variable.
type Def struct {
	name, help string
	kind       model.MetricType
	labels     []string
}

// NewGauge declares a gauge. The help is one sentence, with the unit if the name has none.
func NewGauge(name, help string, labels ...string) *Def {
	return &Def{name, help, model.MetricTypeGauge, labels}
}

// NewCounter declares a counter, with a help as for NewGauge.
func NewCounter(name, help string, labels ...string) *Def {
	return &Def{name, help, model.MetricTypeCounter, labels}
}

// Desc returns the description of the metric.
func (d *Def) Desc() Desc { return Desc{d.name, d.help, d.kind} }

// Describe returns the descriptions of the metrics, as Collector.Describe returns them.
func Describe(defs []*Def) []Desc {
	var descs []Desc
	for _, d := range defs {
		descs = append(descs, d.Desc())
	}
	return descs
}

// Metric describes what the collector of one configuration can export of a metric, before
// anything is measured.
type Metric struct {
	Desc
	// Identity is the label with the collector's name, such as dependency; empty if there is
	// none.
	Identity string
	// Labels are the labels that its series may have, with all possible values; nil
	// allows any. The value "" means that a series may lack the label.
	Labels map[string][]string
	// AnyLabel means that a configuration may add labels that Labels does not have. It is
	// false for a given configuration.
	AnyLabel bool
	// Vanishes means that a series may be absent after a successful collection: its
	// subject does not exist or has not begun, or there was no response to measure. The
	// time before the first collection does not count.
	Vanishes bool
	// Bool means that the value is always 0 or 1.
	Bool bool
}
