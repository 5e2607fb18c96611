package shapes

import (
	"fmt"
	"slices"
	"testing"

	"github.com/prometheus/prometheus/model/labels"
)

// universe are the values of a label with which the tests compare: "" is no label.
func universe() []string { return []string{"", "1", "2", "3", "else"} }

func (d Domain) has(value string) bool {
	if value == "" {
		return d.Lacking
	}
	return d.Open || slices.Contains(d.Texts, value)
}

// domains returns all sets over a part of the universe, and those of any value.
func domains() []Domain {
	all := []Domain{AnyText(), {Open: true}}
	for set := range 1 << 4 {
		values := []string{}
		for i, value := range universe()[:4] {
			if set&(1<<i) != 0 {
				values = append(values, value)
			}
		}
		all = append(all, OfTexts(values))
	}
	return all
}

func TestDomainsCombined(t *testing.T) {
	for _, d := range domains() {
		for _, e := range domains() {
			for _, value := range universe() {
				if got, want := d.Or(e).has(value), d.has(value) || e.has(value); got != want {
					t.Errorf("%+v or %+v has %q: %t, want %t", d, e, value, got, want)
				}
				if got, want := d.and(e).has(value), d.has(value) && e.has(value); got != want {
					t.Errorf("%+v and %+v has %q: %t, want %t", d, e, value, got, want)
				}
			}
		}
	}
}

func TestDomainOfItsValues(t *testing.T) {
	for _, d := range domains() {
		values := d.Values()
		if d.Open != (values == nil) {
			t.Errorf("Values() of %+v = %q, want nil only for any value", d, values)
		}
		if back := OfTexts(values); !d.Open && !back.equal(d) {
			t.Errorf("OfTexts(%q) = %+v, want %+v", values, back, d)
		}
	}
}

// A matcher leaves the values that it accepts. Of any value it may leave more, unless it lists
// its values.
func TestDomainMatching(t *testing.T) {
	for _, of := range []struct {
		kind  labels.MatchType
		value string
		lists bool
	}{
		{labels.MatchEqual, "1", true}, {labels.MatchEqual, "", true}, {labels.MatchNotEqual, "2", false}, {labels.MatchNotEqual, "", false},
		{labels.MatchRegexp, "1|3", true}, {labels.MatchRegexp, "[12]?", false}, {labels.MatchRegexp, "e.*", false}, {labels.MatchNotRegexp, "1|else", false},
	} {
		m := labels.MustNewMatcher(of.kind, "l", of.value)
		for _, d := range domains() {
			left := d.Matching(m)
			for _, value := range universe() {
				want := d.has(value) && m.Matches(value)
				if got := left.has(value); got != want && (want || !d.Open || of.lists || value == "") {
					t.Errorf("%s of %+v has %q: %t, want %t", m, d, value, got, want)
				}
			}
		}
	}
}

// label_replace writes what its replacement makes of a matching value, and keeps the old label
// for the others.
func TestDomainReplaced(t *testing.T) {
	for _, c := range []struct {
		of                   Domain
		pattern, replacement string
		want                 string
	}{
		{OfTexts([]string{"a1", "a2"}), "a(.*)", "$1", "1 or 2 false"},
		{OfTexts([]string{"a1", "b"}), "a(.*)", "$1", "1 true"},
		{OfTexts([]string{"a1", ""}), "(.*)", "x$1", "x or xa1 false"},
		{OfTexts([]string{"a"}), "b", "x", "no value true"},
		{Domain{Open: true}, ".*", "x", "x false"},
		{Domain{Open: true}, "a", "x", "x true"},
		{AnyText(), "(.*)", "$1", "unknown false"},
		{OfTexts([]string{"a"}), "(", "$1", "unknown true"},
	} {
		written, kept := c.of.Replaced(c.pattern, c.replacement)
		text := written.String()
		if written.Empty() {
			text = "no value"
		}
		if got := fmt.Sprint(text, " ", kept); got != c.want {
			t.Errorf("Replaced(%q, %q) of %+v = %s, want %s", c.pattern, c.replacement, c.of, got, c.want)
		}
	}
}
