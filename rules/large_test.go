package rules_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vitals-health/vitals/rules"
)

// large returns a file of almost so many bytes with rules of a state, and their number.
func large(expr string, size int) (text string, count int) {
	var b strings.Builder
	b.WriteString("groups:\n- name: g\n  rules:\n")
	for ; b.Len() < size-1000; count++ {
		fmt.Fprintf(&b, "  - alert: Rule%d\n    expr: %s\n    labels: {state: ready}\n    annotations:\n      summary: \"{{ $labels.x }} %s\"\n", count, expr, strings.Repeat("text ", 40))
	}
	return b.String(), count
}

func TestParseLargeFile(t *testing.T) {
	text, count := large("up == 0", 8<<20)
	f, errs := rules.Parse("large.yml", []byte(text), states())
	if len(errs) > 0 || len(f.Groups[0].Rules) != count {
		t.Fatalf("Parse() = %d rules and %v, want %d and no mistakes", len(f.Groups[0].Rules), errs, count)
	}
	if errs := rules.Check([]*rules.File{f}); len(errs) > 0 {
		t.Errorf("Check() = %v, want no mistakes", errs)
	}
}

// The cost of mistakes is linear: a quadratic one takes minutes.
func TestParseLargeFileWithMistakes(t *testing.T) {
	text, count := large("up ==", 4<<20)
	if _, errs := rules.Parse("large.yml", []byte(text), states()); len(errs) != count {
		t.Errorf("Parse() has %d mistakes, want %d", len(errs), count)
	}
}
