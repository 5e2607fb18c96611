package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/vitals-health/vitals/internal/schema"
)

// A block that is a whole file for users to copy names its schema below its name, so that editors
// check it. Recipes are parts of files: their page shows both lines once. A fragment has no name.
func TestExamplesNameTheirSchema(t *testing.T) {
	counts := map[string]int{}
	for _, page := range docPages(t) {
		for _, block := range docFences(page, readDoc(t, page), "yaml") {
			named := docFirstComment.FindStringSubmatch(block.text)
			if named == nil || named[1] == "prometheus.yml" || page == recipesPage {
				continue
			}
			counts[named[1]]++
			want := schema.Modeline(strings.TrimSuffix(named[1], ".yml") + ".schema.json")
			if lines := strings.SplitN(block.text, "\n", 3); lines[1] != want {
				t.Errorf("%s: the second line is %q, want %q", block.where, lines[1], want)
			}
		}
	}
	if counts["vitals.yml"] < 4 || counts["rules.yml"] < 4 {
		t.Errorf("the pages have %v, want at least 4 files of each", counts)
	}
	both := schema.Modeline("vitals.schema.json") + "\n" + schema.Modeline("rules.schema.json") + "\n"
	if blocks := docFences(recipesPage, readDoc(t, recipesPage), "yaml"); !slices.ContainsFunc(blocks, func(b docFence) bool { return b.text == both }) {
		t.Errorf("%s shows no block with the lines\n%s", recipesPage, both)
	}
}
