package ruletest_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vitals-health/vitals/internal/ruletest"
)

var update = flag.Bool("update", false, "write the expected outputs instead of comparing with them")

// testFiles are the test files of testdata.
func testFiles(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/*.yml")
	if err != nil || len(files) < 30 {
		t.Fatalf("Glob() = %v, %v, want at least 30 test files", files, err)
	}
	return files
}

var want = regexp.MustCompile(`^# want: (pass|fail|mistake)\b`)

// outcome returns the result of a report in one word.
func outcome(r *ruletest.Report) string {
	switch {
	case len(r.Mistakes) > 0:
		return "mistake"
	case r.Failed() > 0:
		return "fail"
	}
	return "pass"
}

// output returns the text of a report with its warnings and mistakes.
func output(r *ruletest.Report) string {
	var b strings.Builder
	for _, w := range r.Warnings {
		b.WriteString("warning: " + w + "\n")
	}
	for _, m := range r.Mistakes {
		b.WriteString("mistake: " + m.Error() + "\n")
	}
	r.Text(&b)
	return b.String()
}

// Every file of testdata has the outcome of its first line and the output of its .out file.
func TestFiles(t *testing.T) {
	for _, file := range testFiles(t) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yml"), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			expected := want.FindStringSubmatch(string(data))
			if expected == nil {
				t.Fatal("the first line has no expected outcome")
			}
			r := ruletest.Run(t.Context(), file, ruletest.Options{})
			if got := outcome(r); got != expected[1] {
				t.Errorf("the outcome is %s, want %s:\n%s", got, expected[1], output(r))
			}
			golden := strings.TrimSuffix(file, ".yml") + ".out"
			if *update {
				if err := os.WriteFile(golden, []byte(output(r)), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			wanted, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(wanted), output(r)); diff != "" {
				t.Errorf("the output differs (-want +got):\n%s", diff)
			}
		})
	}
}
