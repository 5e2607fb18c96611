package kinds_test

import (
	"log/slog"
	"path/filepath"
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
	for _, pattern := range []string{"../*/testdata/*.py", "../*/testdata/rules.yml"} {
		found, err := filepath.Glob(pattern)
		if err != nil || found == nil {
			t.Fatalf("Glob(%q) = %v, %v, want files", pattern, found, err)
		}
		files = append(files, found...)
	}
	return files
}

// The pages include the tested files, unchanged.
func TestPagesIncludeTheTestedFiles(t *testing.T) {
	language := map[string]string{".py": "python", ".yml": "yaml"}
	for _, file := range shown(t) {
		page := filepath.Join(filepath.Dir(filepath.Dir(file)), "README.md")
		if !strings.Contains(collectortest.Read(t, page), "```"+language[filepath.Ext(file)]+"\n"+collectortest.Read(t, file)+"```\n") {
			t.Errorf("%s does not include %s unchanged", page, file)
		}
	}
}

func TestExampleRulesParse(t *testing.T) {
	for _, file := range shown(t) {
		if filepath.Ext(file) != ".yml" {
			continue
		}
		if _, errs := rulefmt.Parse([]byte(collectortest.Read(t, file)), false, model.UTF8Validation, parser.NewParser(parser.Options{}), slog.New(slog.DiscardHandler)); errs != nil {
			t.Errorf("Parse(%s) = %v, want no errors", file, errs)
		}
	}
}
