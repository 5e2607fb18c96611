package lint_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vitals-health/vitals/rules"
	"github.com/vitals-health/vitals/rules/lint"
)

// In a chain of recording rules, each uses the next one twice, and the last one uses the
// first. The number of paths through it exceeds the number of atoms.
func TestLongChainOfRecordingRules(t *testing.T) {
	const links = 300
	var text strings.Builder
	text.WriteString("groups:\n  - name: chain\n    rules:\n")
	for i := range links {
		fmt.Fprintf(&text, "      - {record: 'r:%d', expr: 'r:%d{y!=\"%d\"} + (r:%[2]d or vitals_component_alive)'}\n", i, (i+1)%links, i)
	}
	text.WriteString("      - {alert: A, expr: 'r:0 < 1', for: 30s, labels: {state: alive}, annotations: {summary: It is bad.}}\n")
	text.WriteString("      - {record: 'r:150', expr: vitals_dependency_up == 1, labels: {y: x}}\n")
	states := []string{"ready", "alive", "started"}
	f, mistakes := rules.Parse("chain.yml", []byte(text.String()), states)
	if len(mistakes) > 0 {
		t.Fatal(mistakes)
	}
	found := map[string]int{}
	for _, f := range lint.Check([]*rules.File{f}, lint.Options{Vocabulary: vocabulary(nil), States: states}) {
		found[f.Code]++
	}
	for _, code := range []string{"V001", "V006"} {
		if found[code] != 1 {
			t.Errorf("%s is found %d times, want once: %v", code, found[code], found)
		}
	}
}

// Each recording rule of a chain uses the next one twice and compares nothing.
func TestLongChainWithoutAComparison(t *testing.T) {
	const links = 100
	var text strings.Builder
	text.WriteString("groups:\n  - name: chain\n    rules:\n")
	for i := range links {
		fmt.Fprintf(&text, "      - {record: 'r:%d', expr: 'r:%d * r:%[2]d'}\n", i, i+1)
	}
	fmt.Fprintf(&text, "      - {record: 'r:%d', expr: app_errors}\n", links)
	text.WriteString("      - {alert: A, expr: 'r:0', labels: {state: ready}}\n")
	found := 0
	for _, f := range lint.Check([]*rules.File{parse(t, "chain.yml", text.String())}, lint.Options{Vocabulary: vocabulary(nil)}) {
		if f.Code == "V012" {
			found++
		}
	}
	if found != 1 {
		t.Errorf("V012 is found %d times, want once", found)
	}
}
