package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const testingPage = "docs/guides/testing-rules.md"

// The tests on the page have the output that the page shows, or succeed.
func TestTestingPageTestsRun(t *testing.T) {
	page := readDoc(t, testingPage)
	t.Chdir(t.TempDir())
	named := regexp.MustCompile(`^# (\w+\.yml)\n`)
	var tests []string
	for _, block := range docFences(testingPage, page, "yaml") {
		name := named.FindStringSubmatch(block.text)
		if name == nil {
			t.Fatalf("%s: the block does not name its file", block.where)
		}
		if err := os.WriteFile(filepath.Clean(name[1]), []byte(block.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name[1], "_test.yml") {
			tests = append(tests, name[1])
		}
	}
	shown := map[string]string{}
	for _, block := range docFences(testingPage, page, "") {
		command, output, _ := strings.Cut(block.text, "\n")
		if file, ok := strings.CutPrefix(command, "$ vitals test rules "); ok {
			shown[file] = output
		}
	}
	for _, file := range tests {
		var out, errs bytes.Buffer
		code := run([]string{"test", "rules", file}, &out, &errs)
		want, ok := shown[file]
		if !ok {
			want = out.String()
			if code != exitOK {
				t.Errorf("%s on the page fails:\n%s%s", file, out.String(), errs.String())
			}
		}
		if out.String() != want || errs.Len() > 0 {
			t.Errorf("the page shows\n%s\nbut %s prints\n%s%s", want, file, out.String(), errs.String())
		}
	}
	if len(tests) < 4 || len(shown) < 2 || !slices.Contains(tests, "early_test.yml") {
		t.Errorf("the page has the tests %v and %d outputs, want at least 4 tests and 2 outputs", tests, len(shown))
	}
}
