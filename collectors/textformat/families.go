package textformat

import (
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/internal/text"
)

// families collects the help texts and types of those metrics of an exposition of which a sample
// was kept.
type families struct {
	openMetrics bool
	// limit bounds the number of families.
	limit int
	// charge charges for the memory of a family.
	charge func(bytes int64) error
	named  map[string]*family
	order  []*family
	// last is the family of the last metadata; its samples follow.
	last *family
}

type family struct {
	collectors.Desc
	used bool
}

func (f *families) help(name, help []byte) error {
	short := text.Short(string(help[:min(len(help), maxHelp)]), maxHelp)
	fam, err := f.get(name, len(short))
	if fam != nil {
		fam.Help = short
	}
	return err
}

func (f *families) kind(name []byte, kind model.MetricType) error {
	fam, err := f.get(name, 0)
	if fam != nil {
		fam.Type = kind
	}
	return err
}

// get returns the family of a name, creating it if needed, or nil if there are too many. It
// charges for a new family and for a text of so many bytes.
func (f *families) get(name []byte, text int) (*family, error) {
	fam := f.named[string(name)]
	if fam == nil {
		if len(f.order) == f.limit {
			f.last = nil
			return nil, nil
		}
		if err := f.charge(familyOverhead + int64(len(name))); err != nil {
			return nil, err
		}
		if f.named == nil {
			f.named = make(map[string]*family)
		}
		fam = &family{Desc: collectors.Desc{Name: string(name), Type: model.MetricTypeUnknown}}
		f.named[fam.Name] = fam
		f.order = append(f.order, fam)
	}
	f.last = fam
	return fam, f.charge(int64(text))
}

// used records that a sample of a series was kept.
func (f *families) used(set labels.Labels) {
	if f.last != nil && !f.last.used && strings.HasPrefix(set.Get(model.MetricNameLabel), f.last.Name) {
		f.last.used = true
	}
}

// collect adds the families to e. In OpenMetrics, the name of the family of a counter or an info
// has no suffix; in the text format, and in a Desc, it has.
func (f *families) collect(e *Exposition) {
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
		e.Families = append(e.Families, d)
	}
}
