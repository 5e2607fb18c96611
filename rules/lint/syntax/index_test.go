package syntax_test

import (
	"slices"
	"testing"

	"github.com/vitals-health/vitals/rules/lint/syntax"
)

// The index returns, in the order in which they were added, at least the selectors that can
// select the same series.
func TestIndex(t *testing.T) {
	var index syntax.Index[string]
	added := []string{`up`, `up{a="1"}`, `up{a="2"}`, `up{a="1",b="1"}`, `up{b="2"}`, `down{a="1"}`, `{a="1"}`, `up{a=~"1|2"}`}
	for _, text := range added {
		index.Add(selector(t, text), text)
	}
	for text, want := range map[string][]string{
		`up{a="1"}`:       {`up`, `up{a="1"}`, `up{a="1",b="1"}`, `up{b="2"}`, `up{a=~"1|2"}`},
		`up{a="3"}`:       {`up`, `up{b="2"}`, `up{a=~"1|2"}`},
		`up`:              {`up`, `up{a="1"}`, `up{a="2"}`, `up{a="1",b="1"}`, `up{b="2"}`, `up{a=~"1|2"}`},
		`down`:            {`down{a="1"}`},
		`other{a="1"}`:    nil,
		`{__name__=~"a"}`: nil,
	} {
		var got []string
		for found := range index.Like(selector(t, text)) {
			got = append(got, found)
		}
		if !slices.Equal(got, want) {
			t.Errorf("Like(%s) = %q, want %q", text, got, want)
		}
	}
}
