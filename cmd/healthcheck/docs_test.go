package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/vitals-health/vitals/internal/execprobe"
)

func page(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile("../../docs/guides/exec-probe.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// cells are the cells of a page's table rows, one slice a row.
func cells(text string) [][]string {
	var rows [][]string
	for _, row := range regexp.MustCompile(`(?m)^\| (.*) \|$`).FindAllStringSubmatch(text, -1) {
		rows = append(rows, strings.Split(strings.ReplaceAll(row[1], "`", ""), " | "))
	}
	return rows
}

// The documentation has the codes of every outcome, and the help has the same.
func TestDocumentedCodes(t *testing.T) {
	documented := map[string][]string{}
	for _, row := range cells(page(t)) {
		documented[row[0]] = row[1:]
	}
	help := map[string]string{"stale": "stale verdict", "forbidden": "no permission", "usage error": "usage"}
	for outcome := execprobe.OK; outcome <= execprobe.Protocol; outcome++ {
		name := outcome.String()
		row := documented[name]
		if len(row) != len(execprobe.Styles()) {
			t.Errorf("docs/guides/exec-probe.md has %q for %q, want a code for each style", row, name)
			continue
		}
		if other, ok := help[name]; ok {
			name = other
		}
		line := regexp.MustCompile(`(?m)^` + name + ` {2,}(.*)$`).FindStringSubmatch(usage)
		if line == nil {
			t.Errorf("the help has no line for %q", name)
			continue
		}
		inHelp := strings.Fields(strings.ReplaceAll(line[1], ", own", ""))
		for i, style := range execprobe.Styles() {
			if want := strconv.Itoa(style.Code(execprobe.Result{Outcome: outcome})); row[i] != want || inHelp[i] != want {
				t.Errorf("%s in style %s: documented as %s, in the help as %s, want %s", outcome, style, row[i], inHelp[i], want)
			}
		}
	}
}

func TestDocumentedNames(t *testing.T) {
	found := 0
	for _, row := range cells(page(t)) {
		if len(row) == 2 && row[0] != "called as" {
			found++
			if got := execprobe.StyleOf("/usr/bin/" + row[0]); string(got) != row[1] {
				t.Errorf("StyleOf(%q) = %s, want %s as documented", row[0], got, row[1])
			}
		}
	}
	if found != 4 {
		t.Errorf("docs/guides/exec-probe.md has %d names, want 4", found)
	}
}

func TestDocumentedFlags(t *testing.T) {
	def := map[string]string{"--socket": defaultSocket, "--state": defaultState, "--style": "by the program's name", "--timeout": defaultTimeout.String(),
		"--standalone": "no", "--config.file": defaultConfig, "--profile": "none", "--vitals": "vitals beside this program"}
	found := 0
	for _, row := range cells(page(t)) {
		want, ok := def[row[0]]
		if !ok {
			continue
		}
		found++
		variable := environment + strings.ToUpper(strings.ReplaceAll(strings.TrimPrefix(row[0], "--"), ".", "_"))
		if row[0] == "--profile" {
			variable = profileEnvironment
		}
		if row[1] != variable || row[2] != want {
			t.Errorf("%s is documented with %s and %s, want %s and %s", row[0], row[1], row[2], variable, want)
		}
		if !regexp.MustCompile(`(?m)^  ` + row[0] + `[= ]`).MatchString(usage) {
			t.Errorf("the help has no %s", row[0])
		}
	}
	if found != len(def) {
		t.Errorf("docs/guides/exec-probe.md has %d flags, want %d", found, len(def))
	}
}

// Every scenario that the page lists is shown by the tests that it names.
func TestDocumentedScenarios(t *testing.T) {
	var listed []string
	for _, row := range regexp.MustCompile("(?m)^\\| (E[0-9]{2}) \\| .* \\| (`.*`) \\|$").FindAllStringSubmatch(page(t), -1) {
		id, dir := row[1], ""
		listed = append(listed, id)
		for _, span := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row[2], -1) {
			if !strings.HasPrefix(span[1], "Test") {
				dir = span[1]
			} else if !hasTest(t, filepath.Join("../..", dir), span[1], id) {
				t.Errorf("docs/guides/exec-probe.md: %s names the test %s in %s, which does not exist or does not name the scenario", id, span[1], dir)
			}
		}
	}
	want := []string{"E35", "E51", "E52", "E79", "E80", "E81", "E82", "E83", "E84", "E85", "E86", "E87", "E88", "E89", "E90"}
	if !slices.Equal(listed, want) {
		t.Errorf("docs/guides/exec-probe.md lists the scenarios %v, want %v", listed, want)
	}
}

// hasTest reports whether a directory has a test that names a scenario.
func hasTest(t *testing.T, dir, test, id string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("tests in %s: %v, %v", dir, files, err)
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, body, found := strings.Cut(string(text), "\nfunc "+test+"(t *testing.T) {\n")
		body, _, _ = strings.Cut(body, "\n}\n")
		if found {
			return strings.Contains(body, id)
		}
	}
	return false
}
