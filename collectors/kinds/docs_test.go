package kinds_test

import (
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/collectors/collectortest"
)

// shown returns the files that the pages of the kinds include: programs and rules.
func shown(t *testing.T) []string {
	t.Helper()
	var files []string
	for _, pattern := range []string{"../*/testdata/*.py", "../*/testdata/rules.yml", "../*/testdata/rules_test.yml"} {
		found, err := filepath.Glob(pattern)
		if err != nil || found == nil {
			t.Fatalf("Glob(%q) = %v, %v, want files", pattern, found, err)
		}
		files = append(files, found...)
	}
	return files
}

// The pages include the tested files, unchanged. A folder of several kinds has a page for each, and
// a guide may be the page.
func TestPagesIncludeTheTestedFiles(t *testing.T) {
	guides, err := filepath.Glob("../../docs/guides/*.md")
	if err != nil {
		t.Fatal(err)
	}
	language := map[string]string{".py": "python", ".yml": "yaml"}
	for _, file := range shown(t) {
		folder := filepath.Dir(filepath.Dir(file))
		pages, err := filepath.Glob(folder + "/*.md")
		if err != nil {
			t.Fatal(err)
		}
		block := "```" + language[filepath.Ext(file)] + "\n" + collectortest.Read(t, file) + "```\n"
		if !slices.ContainsFunc(append(pages, guides...), func(page string) bool { return strings.Contains(collectortest.Read(t, page), block) }) {
			t.Errorf("no page of %s includes %s unchanged", folder, file)
		}
	}
}

func TestExampleRulesParse(t *testing.T) {
	for _, file := range shown(t) {
		if filepath.Base(file) != "rules.yml" {
			continue
		}
		if _, errs := rulefmt.Parse([]byte(collectortest.Read(t, file)), false, model.UTF8Validation, parser.NewParser(parser.Options{}), slog.New(slog.DiscardHandler)); errs != nil {
			t.Errorf("Parse(%s) = %v, want no errors", file, errs)
		}
	}
}
