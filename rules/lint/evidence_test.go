package lint_test

import (
	"os"
	"slices"
	"testing"

	"github.com/vitals-health/vitals/rules"
	"github.com/vitals-health/vitals/rules/lint"
)

// Where missing data makes alive fail, or holds it, alive does not need evidence to fail.
func TestAliveWithoutEvidenceFollowsThePolicy(t *testing.T) {
	const path = "testdata/alive_without_evidence.yml"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for policy, want := range map[rules.NoData]bool{"": true, rules.NoDataPass: true, rules.NoDataFail: false, rules.NoDataHold: false} {
		f, mistakes := rules.Parse(path, text, []string{"ready", "alive"})
		if len(mistakes) > 0 {
			t.Fatal(mistakes)
		}
		if policy != "" { // the annotations of rules precede
			for g := range f.Groups {
				for r := range f.Groups[g].Rules {
					f.Groups[g].Rules[r].NoData = ""
				}
			}
		}
		found := lint.Check([]*rules.File{f}, lint.Options{Vocabulary: vocabulary([]string{"unexpected"}), Complete: true, States: []string{"ready", "alive"}, AliveNoData: policy})
		if got := slices.ContainsFunc(found, func(f lint.Finding) bool { return f.Code == "V029" }); got != want {
			t.Errorf("with no_data: %s of alive there is V029: %t, want %t", policy, got, want)
		}
	}
}
