package lint

import (
	"regexp"
	"slices"
	"strings"

	"github.com/prometheus/prometheus/model/labels"
)

// domain is the set of values that a label can have in a result. The zero value is the empty
// set: no result has the label, and none lacks it.
type domain struct {
	// lacking is set if a series may lack the label, which is the same as an empty value.
	lacking bool
	// open is set if the label can have any value. Otherwise texts holds the values, sorted
	// and not empty.
	open  bool
	texts []string
}

// anyText is every value, and no value. absentLabel is no value.
func anyText() domain     { return domain{lacking: true, open: true} }
func absentLabel() domain { return domain{lacking: true} }

// ofTexts returns the set of the values: "" for a series without the label; nil for any.
func ofTexts(values []string) domain {
	if values == nil {
		return anyText()
	}
	d := domain{texts: slices.Clone(values)}
	slices.Sort(d.texts)
	d.texts = slices.Compact(d.texts)
	if d.lacking = len(d.texts) > 0 && d.texts[0] == ""; d.lacking {
		d.texts = d.texts[1:]
	}
	return d
}

// values is the inverse of ofTexts: nil if there are too many to list.
func (d domain) values() []string {
	switch {
	case d.open:
		return nil
	case d.lacking:
		return slices.Concat([]string{""}, d.texts)
	}
	return slices.Concat([]string{}, d.texts)
}

func (d domain) empty() bool { return !d.lacking && !d.open && len(d.texts) == 0 }

// never reports whether no series has the label.
func (d domain) never() bool { return d.lacking && !d.open && len(d.texts) == 0 }

func (d domain) equal(e domain) bool {
	return d.lacking == e.lacking && d.open == e.open && slices.Equal(d.texts, e.texts)
}

// or returns the union. Of very many values, it returns any value.
func (d domain) or(e domain) domain {
	const many = 256
	sum := domain{lacking: d.lacking || e.lacking, open: d.open || e.open}
	switch {
	case sum.open:
	case slices.Equal(d.texts, e.texts):
		sum.texts = d.texts
	case len(d.texts)+len(e.texts) > many:
		sum.open = true
	default:
		sum.texts = ofTexts(slices.Concat([]string{}, d.texts, e.texts)).texts
	}
	return sum
}

// and returns the intersection.
func (d domain) and(e domain) domain {
	both := domain{lacking: d.lacking && e.lacking, open: d.open && e.open}
	switch {
	case d.open:
		both.texts = e.texts
	case e.open:
		both.texts = d.texts
	default:
		both.texts = filtered(d.texts, func(v string) bool { _, ok := slices.BinarySearch(e.texts, v); return ok })
	}
	return both
}

// matching returns the values that a matcher accepts. Of any value it returns those that the
// matcher lists, if it lists them.
func (d domain) matching(m *labels.Matcher) domain {
	if values, ok := onlyValues(m); ok {
		return d.and(ofTexts(slices.Concat([]string{}, values)))
	}
	return domain{lacking: d.lacking && m.Matches(""), open: d.open, texts: filtered(d.texts, m.Matches)}
}

func filtered(texts []string, keep func(string) bool) []string {
	return slices.DeleteFunc(slices.Clone(texts), func(v string) bool { return !keep(v) })
}

// replaced returns the values that label_replace writes for the values of its source. kept is
// set if a value may not match, so that the label keeps its old value.
func (d domain) replaced(pattern, replacement string) (written domain, kept bool) {
	const few = 8
	re, err := regexp.Compile("^(?s:" + pattern + ")$")
	constant := !strings.Contains(replacement, "$")
	if err != nil || len(d.texts) > few || d.never() && !constant { // a missing source is reported on its own
		return anyText(), true
	}
	if d.open {
		if written = anyText(); constant {
			written = ofTexts([]string{replacement})
		}
		return written, !matchesAll(pattern)
	}
	for _, v := range d.values() {
		at := re.FindStringSubmatchIndex(v)
		if at == nil {
			kept = true
			continue
		}
		written = written.or(ofTexts([]string{string(re.ExpandString(nil, replacement, v, at))}))
	}
	return written, kept
}
