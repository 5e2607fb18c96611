package lint_test

import (
	"testing"

	"github.com/vitals-health/vitals/rules"
	"github.com/vitals-health/vitals/rules/lint"
)

// Four times the rules, or an expression of four times the size, need at most about four
// times the computations of shapes, traits and outcomes.
func TestEachExpressionIsComputedOnce(t *testing.T) {
	const size = 100
	for name, make := range map[string]func(n int) string{
		"rules": manyRules, "or": oneRule("or"), "and": oneRule("and on ()"), "unless": oneRule("unless"), "sum": oneRule("+"), "nested": nested, "chain": chain,
	} {
		size := size
		if name == "nested" {
			size = maxNested / 4
		}
		small, large := computations(t, make(size)), computations(t, make(4*size))
		if small < size || large > 4*small+size {
			t.Errorf("%s: %d computations for a size of %d and %d for four times the size, want about four times as many", name, small, size, large)
		}
	}
}

func computations(t *testing.T, text string) int {
	t.Helper()
	states := []string{"ready", "alive", "started"}
	f, mistakes := rules.Parse("f.yml", []byte(text), states)
	if len(mistakes) > 0 {
		t.Fatal(mistakes[0])
	}
	return lint.Computations([]*rules.File{f}, lint.Options{Vocabulary: vocabulary(nil), States: states, Complete: true})
}
