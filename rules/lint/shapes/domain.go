package shapes

import (
	"regexp"
	"slices"
	"strings"

	"github.com/prometheus/prometheus/model/labels"

	"github.com/vitals-health/vitals/rules/lint/syntax"
)

// Domain is the set of values that a label can have in a result. The zero value is the empty
// set: no result has the label, and none lacks it.
type Domain struct {
	// Lacking is set if a series may lack the label, which is the same as an empty value.
	Lacking bool
	// Open is set if the label can have any value. Otherwise Texts holds the values, sorted
	// and not empty.
	Open  bool
	Texts []string
}

// AnyText is every value, and no value. absentLabel is no value.
func AnyText() Domain { return Domain{Lacking: true, Open: true} }

func absentLabel() Domain { return Domain{Lacking: true} }

// OfTexts returns the set of the values: "" for a series without the label; nil for any.
func OfTexts(values []string) Domain {
	if values == nil {
		return AnyText()
	}
	d := Domain{Texts: slices.Clone(values)}
	slices.Sort(d.Texts)
	d.Texts = slices.Compact(d.Texts)
	if d.Lacking = len(d.Texts) > 0 && d.Texts[0] == ""; d.Lacking {
		d.Texts = d.Texts[1:]
	}
	return d
}

// Values is the inverse of OfTexts: nil if there are too many to list.
func (d Domain) Values() []string {
	switch {
	case d.Open:
		return nil
	case d.Lacking:
		return slices.Concat([]string{""}, d.Texts)
	}
	return append([]string{}, d.Texts...) // never nil
}

// Empty reports whether no result has the label and none lacks it.
func (d Domain) Empty() bool { return !d.Lacking && !d.Open && len(d.Texts) == 0 }

// Never reports whether no series has the label.
func (d Domain) Never() bool { return d.Lacking && !d.Open && len(d.Texts) == 0 }

func (d Domain) equal(e Domain) bool {
	return d.Lacking == e.Lacking && d.Open == e.Open && slices.Equal(d.Texts, e.Texts)
}

// Or returns the union. Of very many values, it returns any value.
func (d Domain) Or(e Domain) Domain {
	const many = 256
	sum := Domain{Lacking: d.Lacking || e.Lacking, Open: d.Open || e.Open}
	switch {
	case sum.Open:
	case slices.Equal(d.Texts, e.Texts):
		sum.Texts = d.Texts
	case len(d.Texts)+len(e.Texts) > many:
		sum.Open = true
	default:
		sum.Texts = OfTexts(slices.Concat([]string{}, d.Texts, e.Texts)).Texts
	}
	return sum
}

// and returns the intersection.
func (d Domain) and(e Domain) Domain {
	both := Domain{Lacking: d.Lacking && e.Lacking, Open: d.Open && e.Open}
	switch {
	case d.Open:
		both.Texts = e.Texts
	case e.Open:
		both.Texts = d.Texts
	default:
		both.Texts = filtered(d.Texts, func(v string) bool { _, ok := slices.BinarySearch(e.Texts, v); return ok })
	}
	return both
}

// Matching returns the values that a matcher accepts. Of any value it returns those that the
// matcher lists, if it lists them.
func (d Domain) Matching(m *labels.Matcher) Domain {
	if values, ok := syntax.OnlyValues(m); ok {
		return d.and(OfTexts(slices.Concat([]string{}, values)))
	}
	return Domain{Lacking: d.Lacking && m.Matches(""), Open: d.Open, Texts: filtered(d.Texts, m.Matches)}
}

func filtered(texts []string, keep func(string) bool) []string {
	return slices.DeleteFunc(slices.Clone(texts), func(v string) bool { return !keep(v) })
}

// Replaced returns the values that label_replace writes for the values of its source. kept is
// set if a value may not match, so that the label keeps its old value.
func (d Domain) Replaced(pattern, replacement string) (written Domain, kept bool) {
	const few = 8
	re, err := regexp.Compile("^(?s:" + pattern + ")$")
	constant := !strings.Contains(replacement, "$")
	if err != nil || len(d.Texts) > few || d.Never() && !constant { // a missing source is reported on its own
		return AnyText(), true
	}
	if d.Open {
		if written = AnyText(); constant {
			written = OfTexts([]string{replacement})
		}
		return written, !syntax.MatchesAll(pattern)
	}
	for _, v := range d.Values() {
		at := re.FindStringSubmatchIndex(v)
		if at == nil {
			kept = true
			continue
		}
		written = written.Or(OfTexts([]string{string(re.ExpandString(nil, replacement, v, at))}))
	}
	return written, kept
}

// String describes the set, as in "always missing" or "watcher or missing".
func (d Domain) String() string {
	const few = 3
	switch {
	case d.Never():
		return "always missing"
	case d.Open && d.Lacking:
		return "unknown"
	case d.Open:
		return "always present"
	}
	texts := d.Texts
	if len(texts) > few {
		texts = append(texts[:few:few], "another one")
	}
	if d.Lacking {
		texts = append(texts[:len(texts):len(texts)], "missing")
	}
	return strings.Join(texts, " or ")
}
