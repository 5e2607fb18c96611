package shapes

import (
	"slices"
	"testing"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

// exported is the shape of a metric with the label a, and with b in some series.
func exported() Shape {
	return Shape{Some: true, Rest: AddedOnly, Labels: map[string]Domain{"a": OfTexts([]string{"1", "2"}), "b": OfTexts([]string{"", "3"})}}
}

func TestShapeOfALabel(t *testing.T) {
	for _, c := range []struct {
		name, label     string
		of              Shape
		lacks, declares bool
	}{
		{"a label of all series", "a", exported(), false, true},
		{"a label of some", "b", exported(), false, true},
		{"a label of none", "c", exported(), true, false},
		{"a label that a scrape adds", "instance", exported(), false, false},
		{"one that an aggregation dropped", "a", exported().Only("b"), true, false},
		{"one that was added and dropped", "instance", exported().Only("b"), true, false},
		{"nothing is known", "a", Anything(), false, true},
		{"a scalar", "a", Scalars(), true, false},
		{"no result", "a", Shape{}, false, true},
	} {
		if lacks, declares := c.of.Lacks(c.label), c.of.Declares(c.label); lacks != c.lacks || declares != c.declares {
			t.Errorf("%s: Lacks(%s) = %t, Declares() = %t, want %t and %t", c.name, c.label, lacks, declares, c.lacks, c.declares)
		}
	}
}

func TestShapeNarrowed(t *testing.T) {
	narrowed := exported().Narrowed([]*labels.Matcher{labels.MustNewMatcher(labels.MatchEqual, "a", "1"), labels.MustNewMatcher(labels.MatchNotEqual, "b", "")})
	if a, b := narrowed.Of("a").Values(), narrowed.Of("b").Values(); !slices.Equal(a, []string{"1"}) || !slices.Equal(b, []string{"3"}) {
		t.Errorf("the labels can be a=%q, b=%q, want 1 and 3", a, b)
	}
	if nothing := exported().Narrowed([]*labels.Matcher{labels.MustNewMatcher(labels.MatchEqual, "a", "9")}); nothing.Some {
		t.Errorf("with a value that no series has there is %+v, want no result", nothing)
	}
}

func TestShapesMatched(t *testing.T) {
	other := Shape{Some: true, Labels: map[string]Domain{"a": OfTexts([]string{"2", "4"}), "b": OfTexts([]string{"5"})}}
	for _, c := range []struct {
		name    string
		on      bool
		of      []string
		a, fail string
	}{
		{"on a label in common", true, []string{"a"}, "2", ""},
		{"on a label with other values", true, []string{"b"}, "", "b"},
		{"on all labels", false, nil, "", "b"},
		{"on all but one", false, []string{"b"}, "2", ""},
	} {
		both, fail := exported().Matched(other, MatchedOn{&parser.VectorMatching{On: c.on, MatchingLabels: c.of}})
		if fail != c.fail {
			t.Errorf("%s: they never match on %q, want %q", c.name, fail, c.fail)
		}
		if c.a != "" && !slices.Equal(both.Of("a").Values(), []string{c.a}) {
			t.Errorf("%s: a can be %q, want %s", c.name, both.Of("a").Values(), c.a)
		}
	}
}
