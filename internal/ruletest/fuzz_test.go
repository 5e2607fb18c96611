package ruletest_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/vitals-health/vitals/internal/ruletest"
)

// FuzzRead reads files of unit tests, with the notations of series and of times. It runs
// none of the tests.
func FuzzRead(f *testing.F) {
	for _, name := range []string{"mistakes", "notation", "fuzzy", "histograms", "alerts", "states"} {
		data, err := os.ReadFile(filepath.Join("testdata", name+".yml"))
		if err != nil && name != "states" {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte("tests: [{interval: 1s, input_series: [{series: 'a{', values: '1x1000000000'}], promql_expr_test: [{expr: '((', eval_time: 1e99}]}]\n"))
	none := regexp.MustCompile(`[^\s\S]`)
	f.Fuzz(func(t *testing.T, data []byte) {
		if strings.Contains(string(data), "*/") { // patterns of rule files are read from the disk
			return
		}
		report := ruletest.Run(t.Context(), "testdata/fuzz.yml", ruletest.Options{Only: none, ReadFile: func(name string) ([]byte, error) {
			if name == "testdata/fuzz.yml" {
				return data, nil
			}
			return nil, fs.ErrNotExist
		}})
		if len(report.Tests) > 0 {
			t.Fatalf("Run() has run %d tests, want none", len(report.Tests))
		}
		for _, mistake := range report.Mistakes {
			if !strings.HasPrefix(mistake.Error(), "testdata/") && !strings.HasPrefix(mistake.Error(), "builtin:") {
				t.Errorf("mistake %q, want one with its file", mistake)
			}
		}
	})
}
