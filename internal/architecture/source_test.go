package architecture_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// root is the path of the repository's top folder.
const root = "../.."

// module is the path of the program's module.
const module = "github.com/vitals-health/vitals"

// source is a Go file of the module.
type source struct {
	// path is relative to the repository, with slashes; dir is its folder.
	path, dir string
	test      bool
	lines     int
	set       *token.FileSet
	file      *ast.File
}

// at formats a position like a compiler.
func (s source) at(n ast.Node) string {
	pos := s.set.Position(n.Pos())
	pos.Filename = s.path
	return pos.String()
}

// imports returns the paths that the file imports.
func (s source) imports() []string {
	var paths []string
	for _, spec := range s.file.Imports {
		paths = append(paths, strings.Trim(spec.Path.Value, `"`))
	}
	return paths
}

// parsed returns every Go file of the module, parsed once.
var parsed = sync.OnceValues(parseAll)

// sources returns every Go file of the module, for all build tags.
func sources(t *testing.T) []source {
	t.Helper()
	all, err := parsed()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 100 {
		t.Fatalf("%d Go files found, want the whole repository", len(all))
	}
	return slices.Clone(all)
}

// parseAll skips nested modules, which have other rules.
func parseAll() ([]source, error) {
	var all []source
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			_, nested := os.Stat(filepath.Join(path, "go.mod"))
			if path != root && (nested == nil || slices.Contains([]string{".git", "testdata", "bin", "dist"}, d.Name())) {
				return fs.SkipDir
			}
			return nil
		}
		if filepath.Ext(path) != ".go" {
			return nil
		}
		s, err := parse(path)
		all = append(all, s)
		return err
	})
	return all, err
}

func parse(path string) (source, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return source{}, err
	}
	s := source{set: token.NewFileSet(), lines: strings.Count(string(text), "\n"), test: strings.HasSuffix(path, "_test.go")}
	rel, err := filepath.Rel(root, path)
	if err != nil {
		return source{}, err
	}
	s.path = filepath.ToSlash(rel)
	s.dir = filepath.ToSlash(filepath.Dir(rel))
	s.file, err = parser.ParseFile(s.set, path, text, parser.ParseComments)
	return s, err
}

// program returns the files of the programs, without tests.
func program(t *testing.T) []source {
	t.Helper()
	return slices.DeleteFunc(sources(t), func(s source) bool { return s.test })
}
