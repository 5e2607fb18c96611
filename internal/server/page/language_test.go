package page_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/vitals-health/vitals/internal/states"
)

// The page shows the words that the server sends, with a sign for each, and has none of its own
// for a verdict.
func TestPageHasTheWordsOfVerdicts(t *testing.T) {
	comments := regexp.MustCompile(`(?s)/\*.*?\*/|(?:^|[\s;])//[^\n]*`)
	own := regexp.MustCompile(`\b(passe[sd]|passing|fails|yes)\b|["'` + "`" + `>](no|pass|warns|fail)["'` + "`" + `<]|not \$\{|[^.]\bwarns `)
	files, err := filepath.Glob("assets/*.*")
	if err != nil || len(files) < 10 {
		t.Fatalf("Glob() = %q, %v, want the files of the page", files, err)
	}
	icons := ""
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		code := comments.ReplaceAllString(string(body), "")
		if found := own.FindString(machine.ReplaceAllString(code, "")); found != "" && filepath.Ext(file) != ".css" {
			t.Errorf("%s has %q: expected the word of the server", file, found)
		}
		if _, table, ok := strings.Cut(code, "const icons = {"); ok {
			icons, _, _ = strings.Cut(table, "}")
		}
	}
	for _, word := range states.Words() {
		if !strings.Contains(icons, word+": ") {
			t.Errorf("the page has no sign for %q", word)
		}
	}
}

// machine are comparisons with the verdicts of the API, and the names of icons.
var machine = regexp.MustCompile(`verdict [!=]== "\w+"|\["fail", "warn"\]|\?\? "pass"`)
