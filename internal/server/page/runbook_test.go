package page_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The pages link to the runbook of a rule in one place, only with http or https.
func TestRunbookLinks(t *testing.T) {
	const guarded = "r?.runbook_url && /^https?:\\/\\//i.test(r.runbook_url) && el(\"a\", { class: \"link\", href: r.runbook_url,"
	files, err := filepath.Glob("assets/*.js")
	if err != nil || len(files) < 10 {
		t.Fatalf("Glob() = %q, %v, want the scripts of the page", files, err)
	}
	links, all := 0, 0
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		links += strings.Count(string(body), guarded)
		all += len(regexp.MustCompile(`\bhref: [^,}]*runbook`).FindAll(body, -1))
	}
	if links != 1 || all != 1 {
		t.Errorf("the scripts have %d links to runbooks, %d of them behind %s, want one", all, links, guarded)
	}
}
