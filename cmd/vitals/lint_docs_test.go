package main

import (
	"bytes"
	"errors"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/vitals-health/vitals/internal/config"
	"github.com/vitals-health/vitals/internal/rulecheck"
	"github.com/vitals-health/vitals/internal/strictyaml"
	"github.com/vitals-health/vitals/rules"
	"github.com/vitals-health/vitals/rules/lint"
)

const lintPage = "docs/reference/lint.md"

// lintSection is the section of a check on the page.
type lintSection struct {
	name, severity string
	// examples are the blocks of YAML: a bad one and a good one.
	examples []docFence
}

// lintSections returns the sections of the page by their codes.
func lintSections(t *testing.T) map[string]lintSection {
	t.Helper()
	found := map[string]lintSection{}
	severity := regexp.MustCompile("^`(error|warning|info)`")
	for _, text := range strings.Split(readDoc(t, lintPage), "\n### ")[1:] {
		heading, body, _ := strings.Cut(text, "\n\n")
		code, name, _ := strings.Cut(heading, " ")
		s := lintSection{name: name, examples: docFences(lintPage+" "+code, body, "yaml")}
		if m := severity.FindStringSubmatch(body); m != nil {
			s.severity = m[1]
		}
		found[code] = s
	}
	return found
}

// lintVocabulary is that of the configuration on the page.
func lintVocabulary(t *testing.T) *lint.Vocabulary {
	t.Helper()
	dir := t.TempDir()
	for _, block := range docFences(lintPage, readDoc(t, lintPage), "yaml") {
		if kindOfBlock(block.text) == "vitals.yml" {
			writeFile(t, filepath.Join(dir, "vitals.yml"), block.text)
		}
	}
	writeFile(t, filepath.Join(dir, "rules.yml"), "groups: []\n")
	l, errs := config.LoadFile(filepath.Join(dir, "vitals.yml"))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	return rulecheck.Vocabulary(l)
}

// lintExample returns the codes of the findings in the rules of a group, and those of
// them that are more than a remark.
func lintExample(v *lint.Vocabulary, example string) (codes, bad []string) {
	states := []string{"ready", "alive", "started"}
	text := "groups:\n  - name: example\n    rules:\n      " + strings.ReplaceAll(example, "\n", "\n      ")
	if strings.HasPrefix(example, "groups:") || strings.HasPrefix(example, "apiVersion:") {
		text = example
	}
	files, mistakes := rules.ParseAll("example.yml", []byte(text), states)
	if len(mistakes) == 0 {
		mistakes = rules.Check(files)
	}
	for _, m := range mistakes {
		var e *strictyaml.Error
		code := lint.CodeInvalid
		if errors.As(m, &e) && e.Code != "" {
			code = e.Code
		}
		codes = append(codes, code)
	}
	if len(mistakes) > 0 {
		return codes, codes
	}
	for _, f := range lint.Check(files, lint.Options{Vocabulary: v, States: states}) {
		if f.Accepted != "" {
			continue
		}
		codes = append(codes, f.Code)
		if f.Severity != lint.Info {
			bad = append(bad, f.Code)
		}
	}
	return codes, bad
}

// Each check has its section, in order. The bad example has the finding, and the
// good one has none.
func TestLintPage(t *testing.T) {
	sections, v := lintSections(t), lintVocabulary(t)
	for _, c := range lint.Checks() {
		s, ok := sections[c.Code]
		if !ok || s.name != c.Name || s.severity != c.Severity.String() {
			t.Errorf("%s has the section %q of severity %q, want %s with %s", c.Code, s.name, s.severity, c.Name, c.Severity)
		}
		if len(s.examples) != 2 {
			t.Errorf("%s has %d examples, want a bad one and a good one", c.Code, len(s.examples))
			continue
		}
		if strings.HasPrefix(c.Code, "V03") {
			continue // in manifests: see TestLintPageOfProbes
		}
		if got, _ := lintExample(v, s.examples[0].text); !slices.Contains(got, c.Code) {
			t.Errorf("the bad example of %s has %v, want %s", c.Code, got, c.Code)
		}
		if got, bad := lintExample(v, s.examples[1].text); len(bad) > 0 || slices.Contains(got, c.Code) {
			t.Errorf("the good example of %s has %v, want nothing wrong", c.Code, got)
		}
	}
	var order []string
	for _, m := range regexp.MustCompile(`(?m)^### (V\d+) `).FindAllStringSubmatch(readDoc(t, lintPage), -1) {
		order = append(order, m[1])
	}
	if !slices.IsSorted(order) || len(order) != len(sections) {
		t.Errorf("the sections are %v, want each code once and in order", order)
	}
}

// The examples of comments have what they accept, also without a configuration.
func TestAcceptancesOfThePagesAcceptSomething(t *testing.T) {
	for _, page := range []string{lintPage, "docs/reference/rules.md"} {
		text := readDoc(t, page)
		i := slices.IndexFunc(docFences(page, text, "yaml"), func(block docFence) bool {
			return strings.HasPrefix(block.text, "# vitals:accept-file")
		})
		if i < 0 {
			t.Errorf("%s has no example", page)
			continue
		}
		file := filepath.Join(t.TempDir(), "rules.yml")
		writeFile(t, file, docFences(page, text, "yaml")[i].text)
		var out, errs bytes.Buffer
		if code := run([]string{"check", "rules", file}, &out, &errs); code != exitOK || !strings.HasSuffix(out.String(), ", 2 findings accepted\n") {
			t.Errorf("the example of %s exits with %d:\n%s%s", page, code, out.String(), errs.String())
		}
	}
}
