package main

import (
	"flag"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var updateDocs = flag.Bool("update", false, "write what is generated in docs/ instead of comparing with it")

// docsRoot is the path of the repository's top folder.
const docsRoot = "../.."

// readDoc reads a page, by its path from the top folder.
func readDoc(t *testing.T, page string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(docsRoot, page))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// docPages are all pages: those of the top folder and of e2e, and those below docs.
func docPages(t *testing.T) []string {
	t.Helper()
	pages := []string{"README.md", "CONTRIBUTING.md", "SECURITY.md", "e2e/README.md"}
	for _, pattern := range []string{"docs/*.md", "docs/*/*.md", "collectors/*/*.md"} {
		found, err := filepath.Glob(filepath.Join(docsRoot, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range found {
			rel, err := filepath.Rel(docsRoot, path)
			if err != nil {
				t.Fatal(err)
			}
			pages = append(pages, filepath.ToSlash(rel))
		}
	}
	if len(pages) < 10 {
		t.Fatalf("the pages are %v, want those of docs/ too", pages)
	}
	return pages
}

// kindPage returns the page of a kind: the README of its folder, or KIND.md in a folder that
// has several kinds.
func kindPage(t *testing.T, kind string) string {
	t.Helper()
	for _, pattern := range []string{"collectors/" + kind + "/README.md", "collectors/*/" + kind + ".md"} {
		found, err := filepath.Glob(filepath.Join(docsRoot, pattern))
		if err != nil {
			t.Fatal(err)
		}
		if len(found) == 1 {
			return filepath.ToSlash(strings.TrimPrefix(found[0], docsRoot+"/"))
		}
	}
	t.Fatalf("the kind %s has no page, want collectors/%s/README.md", kind, kind)
	return ""
}

// docTable is a table of a page.
type docTable struct {
	header []string
	rows   [][]string
}

// docTables returns the tables of a page whose first column has a title.
func docTables(text, title string) []docTable {
	var found []docTable
	var current docTable
	end := func() {
		if len(current.header) > 0 && current.header[0] == title {
			found = append(found, current)
		}
		current = docTable{}
	}
	for l := range strings.Lines(text + "\n") {
		l = strings.TrimSpace(l)
		if !strings.HasPrefix(l, "|") {
			end()
			continue
		}
		// A pipe in a cell is written \|.
		cells := strings.Split(strings.ReplaceAll(strings.Trim(l, "|"), `\|`, "\x00"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(strings.ReplaceAll(cells[i], "\x00", "|"))
		}
		switch {
		case current.header == nil:
			current.header = cells
		case !strings.HasPrefix(cells[0], "--"):
			current.rows = append(current.rows, cells)
		}
	}
	end()
	return found
}

// codeSpans returns the code spans of a text.
func codeSpans(text string) []string {
	var spans []string
	for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(text, -1) {
		spans = append(spans, m[1])
	}
	return spans
}

// firstColumn returns the code spans of the first column of all tables with this title.
func firstColumn(text, title string) []string {
	var spans []string
	for _, table := range docTables(text, title) {
		for _, row := range table.rows {
			spans = append(spans, codeSpans(row[0])...)
		}
	}
	return spans
}

// missing returns the elements of a that b does not have.
func missing(a, b []string) []string {
	var found []string
	for _, s := range a {
		if !slices.Contains(b, s) && !slices.Contains(found, s) {
			found = append(found, s)
		}
	}
	slices.Sort(found)
	return found
}

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }
