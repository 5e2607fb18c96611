package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// benchmarks returns the source file of each benchmark of the repository, by name.
func benchmarks(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	declared := regexp.MustCompile(`(?m)^func (Benchmark\w+)\(b \*testing\.B\)`)
	err := filepath.WalkDir(docsRoot, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		data, err := os.ReadFile(path)
		for _, m := range declared.FindAllStringSubmatch(string(data), -1) {
			found[m[1]] += string(data)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// Every number of the page on performance can be measured again: its benchmark
// exists and reports the metric.
func TestPerformancePageNamesBenchmarks(t *testing.T) {
	known := benchmarks(t)
	text := readDoc(t, "docs/design/performance.md")
	for _, name := range regexp.MustCompile(`Benchmark\w+`).FindAllString(text, -1) {
		if known[name] == "" {
			t.Errorf("docs/design/performance.md names %s, which does not exist", name)
		}
	}
	tables := docTables(text, "benchmark")
	if len(tables) == 0 {
		t.Fatal("docs/design/performance.md has no table of benchmarks")
	}
	for _, table := range tables {
		for _, row := range table.rows {
			name, _, _ := strings.Cut(strings.Trim(row[0], "`"), "/")
			metric := strings.Trim(row[1], "`")
			if !strings.Contains(known[name], `"`+metric+`"`) && metric != "ns/op" && metric != "allocs/op" {
				t.Errorf("docs/design/performance.md: %s reports no metric %q", name, metric)
			}
		}
	}
}
