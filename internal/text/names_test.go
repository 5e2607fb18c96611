package text_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/vitals-health/vitals/internal/text"
)

// Names and Near find the same texts as Distance.
func TestNear(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var all []string
	for range 300 {
		word := make([]byte, r.IntN(8))
		for i := range word {
			word[i] = "ab_1"[r.IntN(4)]
		}
		all = append(all, string(word))
	}
	names, found := text.NewNames(all), 0
	for _, s := range all[:50] {
		for limit := range 4 {
			var want []string
			for _, other := range all {
				near := text.Distance(s, other) <= limit
				if near {
					want = append(want, other)
				}
				if text.Near(s, other, limit) != near {
					t.Fatalf("Near(%q, %q, %d) = %v, want %v", s, other, limit, !near, near)
				}
			}
			got := slices.Sorted(names.Near(s, limit))
			slices.Sort(want)
			if found += len(got); !slices.Equal(got, want) {
				t.Fatalf("Names.Near(%q, %d) = %q, want %q", s, limit, got, want)
			}
		}
	}
	if found < 1000 {
		t.Errorf("%d names found, want enough to mean something", found)
	}
}
