package oracle

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vitals-health/vitals/internal/ruletest"
)

// promtoolFiles returns the files of promtool's tests and their results in those tests, with
// the features that are always enabled now.
func promtoolFiles() map[string]string {
	return map[string]string{
		"at-modifier-test.yml":       "passes",
		"bad-input-series.yml":       "has mistakes",
		"bad-promql.yml":             "fails",
		"bad-rules-error-test.yml":   "fails",
		"bad-rules-syntax-test.yml":  "has mistakes",
		"failing.yml":                "fails",
		"long-period.yml":            "passes",
		"negative-offset-test.yml":   "passes",
		"no-test-group-interval.yml": "passes",
		"rules_run.yml":              "fails",
		"rules_run_fuzzy.yml":        "fails",
		"rules_run_no_fuzzy.yml":     "fails",
		"start-time-test.yml":        "passes",
		"unittest.yml":               "passes",
		// It passes with --ignore-unknown-fields only. Vitals has no such flag: an unknown
		// key is a mistake.
		"rules_run_extrafields.yml": "has mistakes",
	}
}

// testdata returns the directory of promtool's test files in the module of Prometheus.
func testdata(t *testing.T) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/prometheus/prometheus").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	return filepath.Join(strings.TrimSpace(string(out)), "cmd", "promtool", "testdata")
}

func ending(r *ruletest.Report) string {
	switch {
	case len(r.Mistakes) > 0:
		return "has mistakes"
	case r.Failed() > 0:
		return "fails"
	}
	return "passes"
}

// promtool's test files have the same results as in promtool.
func TestPromtoolFiles(t *testing.T) {
	isTest := regexp.MustCompile(`(?m)^tests:`)
	files, err := filepath.Glob(filepath.Join(testdata(t), "*.yml"))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if isTest.Match(data) {
			got[filepath.Base(file)] = ending(ruletest.Run(t.Context(), file, ruletest.Options{}))
		}
	}
	if diff := cmp.Diff(promtoolFiles(), got); diff != "" {
		t.Errorf("results of the files differ (-want +got):\n%s", diff)
	}
}

// In files with several tests, the same tests pass as in promtool.
func TestPromtoolFilesTestByTest(t *testing.T) {
	dir := testdata(t)
	for file, want := range map[string]map[string]int{
		"rules_run.yml":          {"correct test": 0, "wrong test": 1},
		"rules_run_fuzzy.yml":    {"correct fuzzy match": 0, "wrong fuzzy match": 2},
		"rules_run_no_fuzzy.yml": {"correct fuzzy match": 2},
		"failing.yml":            {"Failing test": 2, "Failing alert test": 2},
	} {
		got := map[string]int{}
		for _, test := range ruletest.Run(t.Context(), filepath.Join(dir, file), ruletest.Options{}).Tests {
			got[test.Name] = len(test.Failures)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("failures of the tests in %s (-want +got):\n%s", file, diff)
		}
	}
}
