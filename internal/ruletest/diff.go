package ruletest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/vitals-health/vitals/evaluator"
)

// diff is a comparison by lines: "- " is expected, "+ " is actual, and "  " is both.
type diff struct {
	lines   []string
	differs bool
}

func (d *diff) both(line string) { d.lines = append(d.lines, "  "+line) }

func (d *diff) missing(line string) {
	d.lines, d.differs = append(d.lines, "- "+line), true
}

func (d *diff) extra(line string) {
	d.lines, d.differs = append(d.lines, "+ "+line), true
}

// compare adds a single value.
func (d *diff) compare(what, want, got string) {
	if want == got {
		d.both(what + ": " + got)
		return
	}
	d.missing(what + ": " + want)
	d.extra(what + ": " + got)
}

func (d *diff) String() string { return strings.Join(d.lines, "\n") }

// alertDiff compares two lists of alerts.
func alertDiff(want, got []alert) string {
	var d diff
	partners, rest := pair(want, got, alert.equal, func(a alert) labels.Labels { return a.labels })
	for i, w := range want {
		g := partners[i]
		switch {
		case g == nil:
			d.missing(withoutName(w.labels))
			d.annotations(w.annotations, labels.EmptyLabels())
			continue
		case labels.Equal(w.labels, g.labels):
			d.both(withoutName(g.labels))
		default:
			d.missing(withoutName(w.labels))
			d.extra(withoutName(g.labels))
		}
		d.annotations(w.annotations, g.annotations)
	}
	for _, g := range rest {
		d.extra(withoutName(g.labels))
		d.annotations(labels.EmptyLabels(), g.annotations)
	}
	return d.String()
}

// annotations compares the annotations of two alerts. A missing annotation differs from an
// empty one.
func (d *diff) annotations(want, got labels.Labels) {
	names := map[string]bool{}
	want.Range(func(l labels.Label) { names[l.Name] = true })
	got.Range(func(l labels.Label) { names[l.Name] = true })
	for _, name := range sortedKeys(names) {
		w, g := want.Has(name), got.Has(name)
		switch {
		case w && g && want.Get(name) == got.Get(name):
			d.both("  " + annotation(name, got.Get(name)))
		default:
			if w {
				d.missing("  " + annotation(name, want.Get(name)))
			}
			if g {
				d.extra("  " + annotation(name, got.Get(name)))
			}
		}
	}
}

func annotation(name, text string) string { return fmt.Sprintf("%s: %q", name, text) }

// pair returns for every element of want the equal element of got or else the nearest of
// the remaining ones, or nil. It also returns the elements of got without a partner.
func pair[E any](want, got []E, same func(a, b E) bool, of func(E) labels.Labels) (partners []*E, rest []E) {
	partners = make([]*E, len(want))
	rest = slices.Clone(got)
	take := func(i, j int) {
		g := rest[j]
		partners[i], rest = &g, slices.Delete(rest, j, j+1)
	}
	for i, w := range want {
		if j := slices.IndexFunc(rest, func(g E) bool { return same(w, g) }); j >= 0 {
			take(i, j)
		}
	}
	for i, w := range want {
		if partners[i] == nil {
			if j := nearest(of(w), rest, of); j >= 0 {
				take(i, j)
			}
		}
	}
	return partners, rest
}

// nearest returns the index of the element with the most labels in common with l, but at
// least half of them without the alert's name. It returns -1 for none.
func nearest[E any](l labels.Labels, all []E, of func(E) labels.Labels) int {
	best, common := -1, 0
	for i, e := range all {
		other := of(e)
		if labels.Equal(l, other) {
			return i
		}
		n, count := 0, 0
		l.Range(func(l labels.Label) {
			if l.Name == model.AlertNameLabel {
				return
			}
			count++
			if other.Has(l.Name) && other.Get(l.Name) == l.Value {
				n++
			}
		})
		if 2*n >= count && n > common {
			best, common = i, n
		}
	}
	return best
}

// sampleDiff compares two results.
func sampleDiff(want, got []sample, same func(a, b sample) bool) string {
	var d diff
	partners, rest := pair(want, got, same, func(s sample) labels.Labels { return s.labels })
	nan := false
	for i, w := range want {
		nan = nan || w.value != w.value
		switch g := partners[i]; {
		case g == nil:
			d.missing(w.String())
		case same(w, *g):
			d.both(g.String())
		default:
			d.missing(w.String())
			d.extra(g.String())
		}
	}
	for _, g := range rest {
		d.extra(g.String())
	}
	if nan {
		d.both("NaN is never equal, as in promtool: test that the value differs from itself")
	}
	return d.String()
}

func (s sample) String() string {
	if s.histogram != "" {
		return s.labels.String() + " " + s.histogram
	}
	return s.labels.String() + " " + number(s.value)
}

// ruleLines describes rules of a snapshot, one per line.
func ruleLines(start time.Time, s *evaluator.Snapshot, shown func(evaluator.Rule) bool) string {
	var lines []string
	for _, r := range s.Rules {
		if shown(r) {
			lines = append(lines, "  "+ruleLine(start, r))
		}
	}
	return strings.Join(lines, "\n")
}

// ruleLine describes a rule's status, its start and its cause.
func ruleLine(start time.Time, r evaluator.Rule) string {
	line := r.Name + " is " + r.Status.String()
	if r.Status == evaluator.Pending || r.Status == evaluator.Failing {
		line += fmt.Sprintf(" from %s on", duration(max(0, r.Since.Sub(start))))
	}
	if r.Status == evaluator.Pending {
		line += fmt.Sprintf(" (for: %s)", duration(r.For))
	}
	line += because(r)
	if r.Starting {
		line += ", not ok since the start"
	}
	if r.Cause != "" {
		line += ", because of " + r.Cause
	}
	return line
}
