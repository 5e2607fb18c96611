package kinds

import (
	"slices"
	"testing"
)

// A name leads to one place, and is not that of a kind.
func TestOtherNames(t *testing.T) {
	places := map[string]string{}
	for instead, names := range otherNames() {
		for _, name := range names {
			if other, twice := places[name]; twice {
				t.Errorf("%q leads to %q and to %q, want one of them", name, instead, other)
			}
			places[name] = instead
			if slices.Contains(Names(), name) {
				t.Errorf("%q leads to %q, and is a kind itself", name, instead)
			}
			if got := (&Config{}).Instead(name); got != instead {
				t.Errorf("Instead(%q) = %q, want %q", name, got, instead)
			}
		}
	}
	if len(places) < 50 {
		t.Errorf("%d names, want those of the table", len(places))
	}
	if got := (&Config{}).Instead("unheard"); got != "" {
		t.Errorf("Instead() of an unknown name = %q, want none", got)
	}
}
