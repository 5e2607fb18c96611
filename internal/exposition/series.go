package exposition

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/vitals-health/vitals/collectors"
)

// newSeries prepares a sample for its place in the family.
func newSeries(fam *family, ls labels.Labels, s *collectors.Sample) series {
	out := series{labels: ls, group: ls, value: s.Value, t: s.T}
	bound := ""
	switch fam.kind {
	case model.MetricTypeHistogram:
		bound = model.BucketLabel
	case model.MetricTypeSummary:
		bound = model.QuantileLabel
	default:
		return out
	}
	out.group = labels.NewBuilder(ls).Del(model.MetricNameLabel, bound).Labels()
	out.rank = slices.Index(children(fam.kind), strings.TrimPrefix(ls.Get(model.MetricNameLabel), fam.name))
	out.bound, _ = strconv.ParseFloat(ls.Get(bound), 64) // An unreadable bound sorts as 0.
	return out
}

// unique sorts series and keeps the last one among equals: that of the latest batch.
func unique(all []series) []series {
	slices.SortStableFunc(all, func(a, b series) int {
		return cmp.Or(
			labels.Compare(a.group, b.group),
			cmp.Compare(a.rank, b.rank),
			cmp.Compare(a.bound, b.bound),
			labels.Compare(a.labels, b.labels),
		)
	})
	kept := all[:0]
	for i := range all {
		if i+1 < len(all) && labels.Equal(all[i].labels, all[i+1].labels) {
			continue
		}
		kept = append(kept, all[i])
	}
	return kept
}

// legacyLabels returns labels as every reader of the text formats understands
// them: names of ASCII letters, digits and underscores, and valid UTF-8 as values.
func legacyLabels(ls labels.Labels) labels.Labels {
	clean := true
	ls.Range(func(l labels.Label) {
		clean = clean && utf8.ValidString(l.Value)
		if l.Name == model.MetricNameLabel {
			clean = clean && l.Value == legacyName(l.Value, true)
		} else {
			clean = clean && l.Name == legacyName(l.Name, false)
		}
	})
	if clean {
		return ls
	}
	b := labels.NewScratchBuilder(ls.Len())
	seen := map[string]bool{}
	ls.Range(func(l labels.Label) {
		name, val := legacyName(l.Name, false), strings.ToValidUTF8(l.Value, "\uFFFD")
		switch {
		case l.Name == model.MetricNameLabel:
			val = legacyName(l.Value, true)
		case name == model.MetricNameLabel: // it would be the name of another metric
			name = "_" + name
		}
		if !seen[name] {
			seen[name] = true
			b.Add(name, val)
		}
	})
	b.Sort()
	return b.Labels()
}

// legacyName replaces what the names of metrics or labels could not contain before
// Prometheus 3 by underscores. Only metrics may have colons.
func legacyName(name string, metric bool) string {
	valid := func(r rune, first bool) bool {
		return r == '_' || r == ':' && metric || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' && !first
	}
	for i, r := range name {
		if valid(r, i == 0) {
			continue
		}
		first := true
		return strings.Map(func(r rune) rune {
			ok := valid(r, first)
			first = false
			if ok {
				return r
			}
			return '_'
		}, name)
	}
	return name
}
