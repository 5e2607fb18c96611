// Package exposition renders samples in the text formats for metrics, that of Prometheus and
// OpenMetrics, as each of their readers understands them.
package exposition

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/evaluator"
)

// family is a metric with all its series, ready to be written.
type family struct {
	// name is without the suffixes of children; in OpenMetrics a counter's is without _total.
	name, help string
	kind       model.MetricType
	series     []series
}

// series is one sample of a family with its sort keys.
type series struct {
	labels labels.Labels
	// group are the labels without the name, le and quantile: the children of one
	// histogram or summary stand together.
	group labels.Labels
	// rank orders the children of a group, bound the buckets and quantiles.
	rank  int
	bound float64
	value float64
	t     int64
}

// Exposition is the rendered form of batches: families sorted by name, with the place of
// each in the text. It is immutable.
type Exposition struct {
	format   Format
	families []family
	text     []byte
	// ends[i] is where the text of families[i] ends.
	ends []int
}

// Render renders batches. If two batches have the same series, the later one wins.
func Render(batches []evaluator.Batch, f Format) *Exposition {
	e := &Exposition{format: f, families: group(batches, f)}
	var b bytes.Buffer
	for i := range e.families {
		writeFamily(&b, &e.families[i], f)
		e.ends = append(e.ends, b.Len())
	}
	e.text = b.Bytes()
	return e
}

// Text returns the complete text. It must not be changed.
func (e *Exposition) Text() []byte { return e.format.end(slices.Clip(e.text)) }

// Merge returns the complete text of the exposition and another one of the same format.
// A family that both have is written once, with the series of both, as of unknown type if
// the types differ. A histogram or summary of other does not share its family.
func (e *Exposition) Merge(other *Exposition) []byte {
	var b bytes.Buffer
	next := 0
	for i := range e.families {
		fam := e.families[i]
		for ; next < len(other.families) && other.families[next].name < fam.name; next++ {
			b.Write(other.section(next))
		}
		if next == len(other.families) || other.families[next].name != fam.name {
			b.Write(e.section(i))
			continue
		}
		its := other.families[next]
		switch {
		case its.kind == fam.kind:
			fam.series = unique(slices.Concat(fam.series, its.series))
		case len(children(its.kind))+len(children(fam.kind)) > 0:
			fam = its
		default:
			fam.kind, fam.series = model.MetricTypeUnknown, unique(slices.Concat(fam.series, its.series))
		}
		writeFamily(&b, &fam, e.format)
		next++
	}
	for ; next < len(other.families); next++ {
		b.Write(other.section(next))
	}
	return e.format.end(b.Bytes())
}

// section is the text of family i.
func (e *Exposition) section(i int) []byte {
	from := 0
	if i > 0 {
		from = e.ends[i-1]
	}
	return e.text[from:e.ends[i]]
}

// group sorts the samples into families.
func group(batches []evaluator.Batch, f Format) []family {
	families := map[string]*family{}
	known := describe(batches)
	for _, batch := range batches {
		for i := range batch.Samples {
			if !value.IsStaleNaN(batch.Samples[i].Value) {
				add(families, known, &batch.Samples[i])
			}
		}
	}
	if f == OpenMetrics {
		conform(families)
	}
	sorted := make([]family, 0, len(families))
	for _, fam := range families {
		fam.series = unique(fam.series)
		sorted = append(sorted, *fam)
	}
	slices.SortFunc(sorted, func(a, b family) int { return strings.Compare(a.name, b.name) })
	return sorted
}

// describe collects the descriptions of families. If two differ in the type, the type is
// unknown, because one family cannot contain the children of both.
func describe(batches []evaluator.Batch) map[string]collectors.Desc {
	known := map[string]collectors.Desc{}
	for _, batch := range batches {
		for _, d := range batch.Descs {
			d.Name, d.Type, d.Help = legacyName(d.Name, true), common(d.Type), strings.ToValidUTF8(d.Help, "\uFFFD")
			if before, ok := known[d.Name]; ok {
				if before.Type != d.Type {
					before.Type = model.MetricTypeUnknown
				}
				d = before
			}
			known[d.Name] = d
		}
	}
	// OpenMetrics names a counter without the suffix that its samples have.
	for _, name := range slices.Sorted(maps.Keys(known)) {
		d := known[name]
		if _, ok := known[name+"_total"]; !ok && d.Type == model.MetricTypeCounter {
			d.Name = name + "_total"
			known[d.Name] = d
		}
	}
	return known
}

// common maps types that only OpenMetrics has to types of both formats.
func common(kind model.MetricType) model.MetricType {
	switch kind {
	case model.MetricTypeCounter, model.MetricTypeGauge, model.MetricTypeHistogram, model.MetricTypeSummary:
		return kind
	case model.MetricTypeInfo, model.MetricTypeStateset:
		return model.MetricTypeGauge
	}
	return model.MetricTypeUnknown
}

// add puts one sample into its family.
func add(families map[string]*family, known map[string]collectors.Desc, s *collectors.Sample) {
	ls := legacyLabels(s.Labels)
	name := ls.Get(model.MetricNameLabel)
	if name == "" {
		return
	}
	desc, ok := resolve(known, name)
	if !ok {
		return
	}
	fam, ok := families[desc.Name]
	if !ok {
		fam = &family{name: desc.Name, help: desc.Help, kind: desc.Type}
		families[desc.Name] = fam
	}
	fam.series = append(fam.series, newSeries(fam, ls, s))
}

// resolve returns the family of a sample. A name without a description is a family of
// its own, of unknown type. It returns false for samples that no family can contain:
// creation times, which are irrelevant to health, and samples of a histogram that are
// not its children.
func resolve(known map[string]collectors.Desc, name string) (collectors.Desc, bool) {
	if i := strings.LastIndexByte(name, '_'); i > 0 {
		base, suffix := known[name[:i]], name[i:]
		if slices.Contains(children(base.Type), suffix) {
			return base, true
		}
		counter := known[name[:i]+"_total"].Type == model.MetricTypeCounter
		if suffix == "_created" && (counter || len(children(base.Type)) > 0) {
			return base, false
		}
	}
	if d, ok := known[name]; ok {
		return d, d.Type != model.MetricTypeHistogram
	}
	return collectors.Desc{Name: name, Type: model.MetricTypeUnknown}, true
}

// children are the suffixes of a type's samples, in the order in which they are written.
func children(kind model.MetricType) []string {
	switch kind {
	case model.MetricTypeHistogram:
		return []string{"_bucket", "_sum", "_count"}
	case model.MetricTypeSummary:
		return []string{"", "_sum", "_count"}
	}
	return nil
}

// conform turns families into what OpenMetrics 1.0 allows. There the samples of a
// counter end in _total and its family does not. A counter of another name, or
// whose shortened name another family has, becomes unknown.
func conform(families map[string]*family) {
	for _, name := range slices.Sorted(maps.Keys(families)) {
		fam := families[name]
		if fam.kind != model.MetricTypeCounter {
			continue
		}
		short, ok := strings.CutSuffix(name, "_total")
		if _, taken := families[short]; !ok || short == "" || taken {
			fam.kind = model.MetricTypeUnknown
			continue
		}
		fam.name = short
	}
}
