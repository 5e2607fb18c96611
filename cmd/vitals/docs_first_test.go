package main

import (
	"strings"
	"testing"
)

// The commands of the page succeed where nothing is found, in their order and without findings.
// The last section has a new collector first.
func TestFirstConfigurationCommands(t *testing.T) {
	const page = "docs/guides/first-configuration.md"
	text := readDoc(t, page)
	t.Chdir(t.TempDir())
	host := t.TempDir()
	ran := 0
	for _, block := range docFences(page, text, "sh") {
		for line := range strings.Lines(block.text) {
			args := strings.Fields(line)
			if args[0] != "vitals" {
				t.Fatalf("%s: %s, want a command of vitals", block.where, line)
			}
			if err := parseOnly(args[1:]); err != nil {
				t.Errorf("%s: %v", block.where, err)
			}
			switch args[1] {
			case "run":
				continue
			case "init":
				args = append(args, "--root="+host)
			case "generate":
				writeFile(t, "vitals.yml", "collectors:\n  - name: web\n    http: {url: \"http://127.0.0.1:8000/\"}\n")
			}
			ran++
			succeed(t, args[1:]...)
		}
	}
	if ran != 7 {
		t.Errorf("%d commands of %s were run, want 7", ran, page)
	}
}
