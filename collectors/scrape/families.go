package scrape

import (
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/vitals-health/vitals/collectors"
)

// families gathers the help texts and types of an exposition, of those metrics of
// which a sample was taken.
type families struct {
	openMetrics bool
	// limit bounds the number of families.
	limit int
	named map[string]*family
	order []*family
	// last is the family whose metadata came last; samples follow it.
	last *family
}

type family struct {
	collectors.Desc
	used bool
}

func (f *families) help(name, help []byte) {
	if fam := f.get(name); fam != nil {
		fam.Help = collectors.OneLine(string(help[:min(len(help), maxHelp)]), maxHelp)
	}
}

func (f *families) kind(name []byte, kind model.MetricType) {
	if fam := f.get(name); fam != nil {
		fam.Type = kind
	}
}

// get returns the family of a name, new where it has to be, or nil if there are too many.
func (f *families) get(name []byte) *family {
	fam := f.named[string(name)]
	if fam == nil {
		if len(f.order) == f.limit {
			f.last = nil
			return nil
		}
		if f.named == nil {
			f.named = make(map[string]*family)
		}
		fam = &family{Desc: collectors.Desc{Name: string(name), Type: model.MetricTypeUnknown}}
		f.named[fam.Name] = fam
		f.order = append(f.order, fam)
	}
	f.last = fam
	return fam
}

// used notes that a sample of a series was taken.
func (f *families) used(set labels.Labels) {
	if f.last != nil && !f.last.used && strings.HasPrefix(set.Get(model.MetricNameLabel), f.last.Name) {
		f.last.used = true
	}
}

// collect hands over the families. OpenMetrics leaves the suffix of a counter and
// of an info out of the family's name; the text format, which a Desc follows, has it.
func (f *families) collect(e *exposition) {
	for _, fam := range f.order {
		if !fam.used {
			continue
		}
		d := fam.Desc
		if f.openMetrics && d.Type == model.MetricTypeCounter {
			d.Name += "_total"
		}
		if f.openMetrics && d.Type == model.MetricTypeInfo {
			d.Name += "_info"
		}
		e.families = append(e.families, d)
	}
}
