package ruletest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/vitals-health/vitals/internal/ruletest"
)

// shipped is the pattern of the tests of shipped rule files.
const shipped = "../../rules/tests/*_test.yml"

func TestShippedRuleTestsPass(t *testing.T) {
	files, err := filepath.Glob(shipped)
	if err != nil || len(files) == 0 {
		t.Fatalf("Glob() = %v, %v, want test files", files, err)
	}
	for _, file := range files {
		if r := ruletest.Run(t.Context(), file, ruletest.Options{}); outcome(r) != "pass" || len(r.Warnings) > 0 {
			t.Error(output(r))
		}
	}
}

// Each kind with an example of a unit test passes it without warnings.
func TestExamplesOfKindsPass(t *testing.T) {
	files, err := filepath.Glob("../../collectors/*/testdata/rules_test.yml")
	if err != nil || len(files) == 0 {
		t.Fatalf("Glob() = %v, %v, want test files", files, err)
	}
	for _, file := range files {
		if r := ruletest.Run(t.Context(), file, ruletest.Options{}); outcome(r) != "pass" || len(r.Warnings) > 0 {
			t.Error(output(r))
		}
	}
}

// mutants returns copies of a rule file with one rule changed each: it never fires, has no
// for, or has a longer for.
func mutants(text string) map[string]string {
	all := map[string]string{}
	blocks := strings.Split(text, "      - alert: ")
	name, hold := regexp.MustCompile(`^\w+`), regexp.MustCompile(`(?m)^( +for: )(\d+)s$`)
	expr := regexp.MustCompile(`(?m)^( +expr: )(?:\|\n(?: {10}.*\n)+|.*\n)`)
	change := func(i int, what string, f func(string) string) {
		changed := append([]string(nil), blocks...)
		if changed[i] = f(changed[i]); changed[i] != blocks[i] {
			all[name.FindString(blocks[i])+" "+what] = strings.Join(changed, "      - alert: ")
		}
	}
	for i := 1; i < len(blocks); i++ {
		change(i, "never fires", func(b string) string { return expr.ReplaceAllString(b, "${1}vector(0) == 1\n") })
		change(i, "does not wait", func(b string) string { return hold.ReplaceAllString(b, "${1}0s") })
		change(i, "waits for longer", func(b string) string { return hold.ReplaceAllString(b, "${1}1${2}s") })
	}
	return all
}

// The tests of the shipped rules detect a change of any rule.
func TestShippedRuleTestsKillMutants(t *testing.T) {
	const rules, tests = "../../rules/builtin/kuryr-controller.yml", "../../rules/tests/kuryr-controller_test.yml"
	text, err := os.ReadFile(rules)
	if err != nil {
		t.Fatal(err)
	}
	all := mutants(string(text))
	if len(all) < 30 {
		t.Fatalf("there are %d mutants, want at least 30", len(all))
	}
	for what, mutant := range all {
		r := ruletest.Run(t.Context(), tests, ruletest.Options{ReadFile: func(name string) ([]byte, error) {
			if filepath.Base(name) == filepath.Base(rules) {
				return []byte(mutant), nil
			}
			return os.ReadFile(name)
		}})
		if got := outcome(r); got != "fail" {
			t.Errorf("%s: the tests %s, want them to fail: %s", what, got, fmt.Sprint(r.Mistakes))
		}
	}
}
