package main

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// docAnchors returns the anchors of the headings of a page.
func docAnchors(text string) []string {
	var anchors []string
	code := false
	for l := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(l), "```") {
			code = !code
		}
		title, ok := strings.CutPrefix(strings.TrimLeft(l, "#"), " ")
		if code || !ok || !strings.HasPrefix(l, "#") {
			continue
		}
		title = regexp.MustCompile(`\]\([^)]*\)`).ReplaceAllString(strings.TrimSpace(title), "")
		title = regexp.MustCompile(`[^\pL\pN _-]`).ReplaceAllString(strings.ToLower(title), "")
		anchors = append(anchors, strings.ReplaceAll(title, " ", "-"))
	}
	return anchors
}

// The file and the heading of every link exist. Links to other sites are not followed.
func TestLinksOfThePagesLead(t *testing.T) {
	for _, page := range docPages(t) {
		for _, m := range regexp.MustCompile(`\]\(([^)\s]+)\)`).FindAllStringSubmatch(readDoc(t, page), -1) {
			target, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, "://") {
				continue
			}
			file := page
			if target != "" {
				file = path.Join(path.Dir(page), target)
			}
			if _, err := os.Stat(filepath.Join(docsRoot, file)); err != nil {
				t.Errorf("%s links to %s, which does not exist", page, m[1])
				continue
			}
			if anchor != "" && !slices.Contains(docAnchors(readDoc(t, file)), anchor) {
				t.Errorf("%s links to %s: %s has no such heading", page, m[1], file)
			}
		}
	}
}

// Pages that code, configuration and scripts name by path exist. The change log keeps old
// paths.
func TestPagesThatFilesNameExist(t *testing.T) {
	page := regexp.MustCompile(`\bdocs/(?:(?:guides|reference|design|collectors|runbooks)/)?\w[\w-]*\.md\b`)
	err := filepath.WalkDir(docsRoot, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == ".git" || d.Name() == "bin") {
			return fs.SkipDir
		}
		if d.IsDir() || !slices.Contains([]string{".go", ".yml", ".yaml", ".conf", ".md", ".sh", ""}, filepath.Ext(file)) || d.Name() == "CHANGELOG.md" {
			return nil
		}
		data, err := os.ReadFile(file)
		for _, name := range page.FindAllString(string(data), -1) {
			if _, err := os.Stat(filepath.Join(docsRoot, name)); err != nil && !strings.HasSuffix(name, "/NAME.md") && !strings.HasSuffix(name, "/KIND.md") {
				t.Errorf("%s names %s, which does not exist", file, name)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
