package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestThreatModel holds the tables of threats: each line names a test that exists, as
// folder.TestName, or a script.
func TestThreatModel(t *testing.T) {
	named := regexp.MustCompile(`^([\w/.-]+)\.((?:Test|Fuzz|Benchmark)\w+)$`)
	lines := 0
	for _, table := range docTables(readDoc(t, "docs/design/threat-model.md"), "entry") {
		for _, row := range table.rows {
			lines++
			spans := codeSpans(row[len(row)-1])
			if len(row) != 4 || len(spans) == 0 {
				t.Errorf("%q: no test, want one in the fourth column", row)
			}
			for _, span := range spans {
				if m := named.FindStringSubmatch(span); m != nil {
					holdsTest(t, m[1], m[2])
				} else if info, err := os.Stat(filepath.Join(docsRoot, span)); err != nil || info.Mode()&0o111 == 0 {
					t.Errorf("%s is neither folder.TestName nor a script", span)
				}
			}
		}
	}
	if lines < 40 {
		t.Errorf("%d threats, want those of all tables", lines)
	}
}

// holdsTest checks that a folder has a test.
func holdsTest(t *testing.T, folder, name string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(docsRoot, folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "\nfunc "+name+"(") {
			return
		}
	}
	t.Errorf("%s has no test %s", folder, name)
}
