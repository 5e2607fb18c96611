package kinds_test

import (
	"slices"
	"testing"

	"github.com/vitals-health/vitals/collectors/kinds"
)

func TestIdentityLabels(t *testing.T) {
	got := kinds.IdentityLabels()
	for _, want := range []string{"component", "dependency", "disk", "process"} {
		if !slices.Contains(got, want) {
			t.Errorf("IdentityLabels() = %q, without %s", got, want)
		}
	}
	if slices.Contains(got, "reason") || slices.Contains(got, "path") {
		t.Errorf("IdentityLabels() = %q, with a label that no collector's name has", got)
	}
}
