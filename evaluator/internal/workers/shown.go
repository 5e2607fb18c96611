package workers

import (
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/internal/redact"
	"github.com/vitals-health/vitals/internal/text"
)

// shown returns a text of a collector without secrets and without invisible characters. With
// shownSamples and shownDescs it is the one place through which all that collectors return goes
// into snapshots, and so into every answer of the process.
func (w *worker) shown(s string) string { return text.Visible(redact.Text(w.secrets.Text(s))) }

// shownSamples returns the samples with the values of their labels as shown returns texts. The names
// of the configuration stay.
func (w *worker) shownSamples(samples []collectors.Sample) []collectors.Sample {
	for i := range samples {
		change := false
		samples[i].Labels.Range(func(l labels.Label) { change = change || w.shownLabel(l) != l.Value })
		if change {
			samples[i].Labels = w.shownLabels(samples[i].Labels)
		}
	}
	return samples
}

func (w *worker) shownLabels(from labels.Labels) labels.Labels {
	b := labels.NewBuilder(from)
	from.Range(func(l labels.Label) { b.Set(l.Name, w.shownLabel(l)) })
	return b.Labels()
}

func (w *worker) shownLabel(l labels.Label) string {
	if l.Name == model.MetricNameLabel {
		return l.Value // only letters, digits and underscores
	}
	return text.Visible(w.secrets.Label(l.Value))
}

// shownDescs returns the descriptions with their help as shown returns texts.
func (w *worker) shownDescs(descs []collectors.Desc) []collectors.Desc {
	for i := range descs {
		if help := text.Visible(w.secrets.Text(descs[i].Help)); help != descs[i].Help {
			descs[i].Help = help
		}
	}
	return descs
}

// noteOf returns the collector's note on its last collection as one line without secrets.
func (w *worker) noteOf() string {
	n, ok := w.collector.(collectors.Noter)
	if !ok {
		return ""
	}
	return text.Short(w.shown(n.Note()), MaxNote)
}

// partsOf returns the notes on the parts, each as noteOf does.
func (w *worker) partsOf() (p Parts) {
	n, ok := w.collector.(collectors.PartNoter)
	if !ok {
		return Parts{}
	}
	p.Label, p.Notes = n.PartNotes()
	for value, note := range p.Notes {
		p.Notes[value] = text.Short(w.shown(note), MaxNote)
	}
	return p
}
