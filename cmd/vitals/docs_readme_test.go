package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The files of the short way are there when its commands are pasted, and nothing is
// found in them: a first step must not end with a warning.
func TestReadmeShortWay(t *testing.T) {
	page := readDoc(t, "README.md")
	t.Chdir(t.TempDir())
	named := regexp.MustCompile(`^# (\w+\.yml)\b`)
	for _, block := range docFences("README.md", page, "yaml") {
		if name := named.FindStringSubmatch(block.text); name != nil {
			if err := os.WriteFile(filepath.Clean(name[1]), []byte(block.text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	pasted := 0
	for _, block := range docFences("README.md", page, "sh") {
		for line := range strings.Lines(block.text) {
			line, _, _ = strings.Cut(line, "#")
			args := strings.Fields(line)
			if len(args) < 3 || args[0] != "bin/vitals" || args[1] != "check" && args[1] != "test" {
				continue
			}
			pasted++
			var out, errs bytes.Buffer
			code := run(args[1:], &out, &errs)
			if code != exitOK || errs.Len() > 0 || strings.Contains(out.String(), "cure:") {
				t.Errorf("%s exits with %d:\n%s%s", strings.TrimSpace(line), code, out.String(), errs.String())
			}
		}
	}
	if pasted != 4 {
		t.Errorf("%d commands check or test the example, want 4", pasted)
	}
}
