package architecture_test

import (
	"go/ast"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// banned returns the words that the project's text does not use. CONTRIBUTING.md names
// the terms that replace them.
func banned() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(says|say|said|asks|ask|asked|tells|tell|told|hears|heard|knows|speaks|nobody|somebody|besides|heir|haste|surroundings|wishes)\b`)
}

// thisFile lists the words, so it does not count.
const thisFile = "internal/architecture/words_test.go"

// passage is a piece of text that people read, with its place.
type passage struct {
	path string
	line int
	text string
}

// goPassages returns the comments and string literals of the Go files.
func goPassages(t *testing.T) []passage {
	t.Helper()
	var all []passage
	for _, s := range sources(t) {
		for _, group := range s.file.Comments {
			for _, c := range group.List {
				all = append(all, passage{s.path, s.set.Position(c.Pos()).Line, c.Text})
			}
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
				all = append(all, passage{s.path, s.set.Position(literal.Pos()).Line, literal.Value})
			}
			return true
		})
	}
	return all
}

// projectFiles returns the paths of the repository's files, without Git's own and what
// is built.
func projectFiles(t *testing.T) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains([]string{".git", "bin", "dist"}, d.Name()):
			return fs.SkipDir
		case d.Type().IsRegular():
			rel, err := filepath.Rel(root, path)
			all = append(all, filepath.ToSlash(rel))
			return err
		}
		return nil
	})
	if err != nil || len(all) < 300 {
		t.Fatalf("%d files found (%v), want the whole repository", len(all), err)
	}
	return all
}

// hasHashComments reports whether a file is one of shell, YAML, make or an image.
func hasHashComments(path string, text []byte) bool {
	return slices.Contains([]string{".sh", ".yml", ".yaml"}, filepath.Ext(path)) ||
		slices.Contains([]string{"Makefile", "Dockerfile"}, filepath.Base(path)) || regexp.MustCompile(`^#!.*\b(ba)?sh\b`).Match(text)
}

// isOfThePage reports whether a file belongs to the status page. All its lines are checked:
// it has comments, texts and names.
func isOfThePage(path string) bool { return strings.HasPrefix(path, "internal/server/page/assets/") }

// splitPassages returns the lines of a text as passages.
func splitPassages(path, text string) []passage {
	var all []passage
	for i, l := range strings.Split(text, "\n") {
		all = append(all, passage{path, i + 1, l})
	}
	return all
}

// filePassages returns the comments of shell, YAML, make and images, the prose of pages,
// and the status page.
func filePassages(t *testing.T) []passage {
	t.Helper()
	comment := regexp.MustCompile(`(?:^|\s)#+\s(.*)$`)
	var all []passage
	for _, path := range projectFiles(t) {
		text, err := os.ReadFile(filepath.Join(root, path))
		switch {
		case err != nil:
			t.Fatal(err)
		case isPage(path):
			all = append(all, splitPassages(path, withoutCode(string(text)))...)
		case isOfThePage(path):
			all = append(all, splitPassages(path, string(text))...)
		case hasHashComments(path, text):
			for _, p := range splitPassages(path, string(text)) {
				if m := comment.FindStringSubmatch(p.text); m != nil {
					all = append(all, passage{path, p.line, m[1]})
				}
			}
		}
	}
	return all
}

// isPage reports whether a file is a page of documentation. The change log is history
// and keeps its words.
func isPage(path string) bool { return filepath.Ext(path) == ".md" && path != "CHANGELOG.md" }

// withoutCode returns a page with its fenced blocks, code spans, comments and link
// targets blanked. Lines keep their numbers.
func withoutCode(text string) string {
	fenced := false
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		fence := strings.HasPrefix(strings.TrimSpace(l), "```")
		if fence || fenced {
			lines[i] = ""
		}
		if fence {
			fenced = !fenced
		}
		if strings.HasPrefix(l, "    ") && i > 0 && lines[i-1] == "" {
			lines[i] = ""
		}
	}
	text = strings.Join(lines, "\n")
	keepLines := func(s string) string { return "CODE" + strings.Repeat("\n", strings.Count(s, "\n")) }
	text = regexp.MustCompile("`[^`]+`").ReplaceAllStringFunc(text, keepLines)
	text = regexp.MustCompile(`(?s)<!--.*?-->`).ReplaceAllStringFunc(text, keepLines)
	return regexp.MustCompile(`\]\([^)\s]*\)`).ReplaceAllString(text, "]")
}

// The text of the project is plain technical English. The banned words belong to the
// idiom that it replaces.
func TestWords(t *testing.T) {
	words := banned()
	for _, p := range append(goPassages(t), filePassages(t)...) {
		if word := words.FindString(p.text); word != "" && p.path != thisFile {
			t.Errorf("%s:%d: the word %q, want a plain term: see CONTRIBUTING.md", p.path, p.line, word)
		}
	}
}

// The longest sentence of a page, and what the average stays below, in words.
const (
	maxSentence = 35
	maxAverage  = 16
)

// sentences returns the sentences of a page's paragraphs and list items.
func sentences(text string) []string {
	var all []string
	var paragraph []string
	end := func() {
		joined := strings.TrimSpace(strings.Join(paragraph, " "))
		paragraph = nil
		for _, s := range regexp.MustCompile(`[.!?]["”)*_]*\s`).Split(joined+" ", -1) {
			if len(wordsOf(s)) > 0 {
				all = append(all, s)
			}
		}
	}
	item := regexp.MustCompile(`^\s*([-*]|\d+\.) `)
	for l := range strings.Lines(withoutCode(text)) {
		l = strings.TrimRight(l, "\n")
		switch {
		case strings.TrimSpace(l) == "", strings.HasPrefix(l, "#"), strings.HasPrefix(strings.TrimSpace(l), "|"):
			end()
		case item.MatchString(l):
			end()
			paragraph = append(paragraph, item.ReplaceAllString(l, ""))
		default:
			paragraph = append(paragraph, l)
		}
	}
	end()
	return all
}

// wordsOf returns the words of a sentence; a code span counts as one.
func wordsOf(sentence string) []string {
	word := regexp.MustCompile(`[\pL\pN]`)
	return slices.DeleteFunc(strings.Fields(sentence), func(w string) bool { return !word.MatchString(w) })
}

// Sentences of pages are short. Tables and code do not count.
func TestSentences(t *testing.T) {
	for _, path := range projectFiles(t) {
		if !isPage(path) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			t.Fatal(err)
		}
		all, total := sentences(string(text)), 0
		for _, s := range all {
			n := len(wordsOf(s))
			total += n
			if n > maxSentence {
				t.Errorf("%s: a sentence of %d words, want at most %d: %s", path, n, maxSentence, s)
			}
		}
		if len(all) > 0 && total >= maxAverage*len(all) {
			t.Errorf("%s: %.1f words a sentence, want less than %d", path, float64(total)/float64(len(all)), maxAverage)
		}
	}
}

// CONTRIBUTING.md lists every banned word, with the terms that replace it.
func TestWordListIsComplete(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(banned().String(), `\b(`)
	list, _, _ = strings.Cut(list, ")")
	for word := range strings.SplitSeq(list, "|") {
		if !strings.Contains(string(text), "`"+word+"`") {
			t.Errorf("CONTRIBUTING.md does not list the word %q", word)
		}
	}
}
