package lint_test

import (
	"fmt"
	"testing"

	"github.com/vitals-health/vitals/rules"
	"github.com/vitals-health/vitals/rules/lint"
)

// The checks end without a panic for every expression that loads, with and without a
// vocabulary, in an alert and in a recording rule that uses itself.
func FuzzCheck(f *testing.F) {
	// TestChecksOfRandomRules combines all fragments. Here a part is enough: lint of each
	// one takes milliseconds, before the fuzzer begins.
	for i, expr := range fragments(f) {
		if i%40 == 0 {
			f.Add(expr)
		}
	}
	for _, expr := range []string{
		`label_replace(up, "a", "$1", "b", "(")`, `label_replace(up, "a", "${1}x", "a", "(.*)")`, `label_join(up, "a", "-")`,
		`count_values without (a) ("a", up)`, `up{a="1",a="2",a=~"1|2|"}`, `absent(absent(up))`, `histogram_quantile(0.9, hour())`,
		`up and on (__name__) down`, `sum by (__name__) (up)`, `-(-(-up))`, `up @ start() unless ignoring (a) group(down[5m:1m] offset -1h)`,
	} {
		f.Add(expr)
	}
	vocabularies := []*lint.Vocabulary{vocabulary(nil), vocabulary([]string{"unconfigured"}), nil}
	f.Fuzz(func(t *testing.T, expr string) {
		text := fmt.Sprintf("groups: [{name: g, rules: [{alert: A, expr: %q, labels: {state: ready}}, {record: up, expr: %[1]q, labels: {a: b}}]}]", expr)
		states := []string{"ready", "alive", "started"}
		file, mistakes := rules.Parse("f.yml", []byte(text), states)
		for _, known := range vocabularies {
			opts := lint.Options{Vocabulary: known, States: states, Partial: len(mistakes) > 0}
			for _, found := range lint.Check([]*rules.File{file}, opts) {
				if found.Text == "" || found.Cure == "" || found.Line < 1 {
					t.Errorf("%s: %+v, want a place, a text and a cure", expr, found)
				}
			}
		}
	})
}
