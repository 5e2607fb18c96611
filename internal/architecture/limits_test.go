package architecture_test

import (
	"fmt"
	"go/ast"
	"go/format"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// constants returns the expressions of the constants in a file, by their names.
func constants(t *testing.T, path string) map[string]string {
	t.Helper()
	s, err := parse(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, d := range s.file.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.CONST {
			continue
		}
		for _, spec := range g.Specs {
			for i, value := range spec.(*ast.ValueSpec).Values {
				var text strings.Builder
				if err := format.Node(&text, s.set, value); err != nil {
					t.Fatal(err)
				}
				found[spec.(*ast.ValueSpec).Names[i].Name] = text.String()
			}
		}
	}
	return found
}

// shownLimit turns an expression into the words of a page, such as 5 * time.Second into 5 s.
func shownLimit(expression string) string {
	for pattern, with := range map[string]string{
		`^time\.Second$`: "1 s", `^time\.Minute$`: "60 s", `^(\d+) \* time\.Second$`: "$1 s",
		`^(\d+) << 10$`: "$1 KiB", `^(\d+) << 20$`: "$1 MiB", `^(\d+)$`: "$1",
	} {
		if re := regexp.MustCompile(pattern); re.MatchString(expression) {
			return re.ReplaceAllString(expression, with)
		}
	}
	return "unreadable " + expression
}

// The limits on the pages are those of the code: %s stands for the value of the constant.
func TestLimitsOfThePages(t *testing.T) {
	for _, limit := range []struct{ page, text, file, constant string }{
		{"endpoints.md", "header may have %s.", "internal/server/limits/limits.go", "maxHeaderBytes"},
		{"endpoints.md", "whole request may take %s to arrive", "internal/server/limits/limits.go", "ReadTimeout"},
		{"endpoints.md", "the answer %s.", "internal/server/limits/limits.go", "WriteTimeout"},
		{"endpoints.md", "Idle connections end after %s.", "internal/server/limits/limits.go", "idleTimeout"},
		{"endpoints.md", "first waits up to %s for another generation", "internal/server/poll.go", "maxWait"},
		{"endpoints.md", "of which %s may wait", "internal/server/poll.go", "maxWaiters"},
		{"endpoints.md", "bounded on each listener: %s each for", "internal/server/inflight.go", "maxLarge"},
		{"endpoints.md", ", %s for reports,", "internal/server/inflight.go", "maxReports"},
		{"endpoints.md", "413 beyond %s", "internal/server/components.go", "maxReport"},
		{"endpoints.md", "than the %s of `rules`", "internal/explain/explain.go", "maxRules"},
		{"lifecycle.md", "process then gets %s to end", "cmd/vitals/serve.go", "stopTimeout"},
		{"lifecycle.md", "running requests get %s.", "internal/listen/listen.go", "closeTimeout"},
		{"lifecycle.md", "directory for up to %s.", "internal/history/journal/journal.go", "openTimeout"},
		{"lifecycle.md", "Files are synchronized every %s and", "internal/history/journal/journal.go", "beat"},
		{"lifecycle.md", "| 3 intervals, at least %s |", "evaluator/config.go", "minStall"},
		{"lifecycle.md", "(config.md), %s |", "evaluator/config.go", "defaultStalledAlive"},
		{"lifecycle.md", "up to %s of lines wait", "internal/logqueue/logqueue.go", "MaxBytes"},
		{"lifecycle.md", "what waits for at most %s.", "cmd/vitals/log.go", "flushTimeout"},
		{"lifecycle.md", "and then one each %s.", "internal/listen/errorlog.go", "errorPause"},
		{"../guides/reload.md", "cannot be read within %s are", "internal/configfile/reload.go", "reloadTimeout"},
	} {
		want := fmt.Sprintf(limit.text, shownLimit(constants(t, limit.file)[limit.constant]))
		page, err := os.ReadFile(filepath.Join(root, "docs/reference", limit.page))
		if err != nil {
			t.Fatal(err)
		}
		if text := strings.Join(strings.Fields(string(page)), " "); !strings.Contains(text, want) {
			t.Errorf("docs/reference/%s has no %q, want it: %s has %s = %s", limit.page, want, limit.file, limit.constant, constants(t, limit.file)[limit.constant])
		}
	}
}

// No page has the same paragraph twice.
func TestParagraphsAreNotRepeated(t *testing.T) {
	pages := 0
	for _, path := range projectFiles(t) {
		if !isPage(path) {
			continue
		}
		pages++
		data, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, paragraph := range strings.Split(withoutCode(string(data)), "\n\n") {
			text := strings.Join(strings.Fields(paragraph), " ")
			if len(text) > 100 && seen[text] {
				t.Errorf("%s has this paragraph twice: %.100s", path, text)
			}
			seen[text] = true
		}
	}
	if pages < 30 {
		t.Errorf("%d pages were read, want all", pages)
	}
}
