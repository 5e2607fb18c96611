package architecture_test

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"testing"
)

// The limits for the lines of a file and of a function.
const (
	maxFileLines     = 400
	maxFunctionLines = 70
)

func TestSizes(t *testing.T) {
	for _, s := range sources(t) {
		if s.lines > maxFileLines {
			t.Errorf("%s has %d lines, want at most %d", s.path, s.lines, maxFileLines)
		}
		for _, decl := range s.file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if n := codeLines(s, f); n > maxFunctionLines {
				t.Errorf("%s: %s has %d lines of code, want at most %d", s.at(f), f.Name, n, maxFunctionLines)
			}
		}
	}
}

// codeLines counts the lines of a function without those of composite literals, because tables
// are data.
func codeLines(s source, f *ast.FuncDecl) int {
	height := func(n ast.Node) int { return s.set.Position(n.End()).Line - s.set.Position(n.Pos()).Line }
	lines := height(f) + 1
	ast.Inspect(f, func(n ast.Node) bool {
		if literal, ok := n.(*ast.CompositeLit); ok {
			lines -= height(literal)
			return false
		}
		return true
	})
	return lines
}

// Two instances of everything must fit into one process. An init function runs only once.
func TestNoInit(t *testing.T) {
	for _, s := range sources(t) {
		for _, decl := range s.file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
				t.Errorf("%s: func init, want none: the caller creates what it needs", s.at(f))
			}
		}
	}
}

// The whole process shares the variables of a package. Only constant values are allowed:
// errors, expressions, embedded files, declared metrics.
func TestNoMutablePackageVariables(t *testing.T) {
	constant := []string{"regexp.MustCompile", "errors.New", "fmt.Errorf", "collectors.NewGauge", "collectors.NewCounter"}
	for _, s := range program(t) {
		for _, v := range packageVariables(s) {
			if v.Names[0].Name == "_" || selector(v.Type) == "embed.FS" {
				continue
			}
			for i, name := range v.Names {
				made := ""
				if i < len(v.Values) {
					if call, ok := v.Values[i].(*ast.CallExpr); ok {
						made = selector(call.Fun)
					}
				}
				if !slices.Contains(constant, made) {
					t.Errorf("%s: var %s, want no package variable: use a function or a field of the caller", s.at(v), name)
				}
			}
		}
	}
}

func packageVariables(s source) []*ast.ValueSpec {
	var all []*ast.ValueSpec
	for _, decl := range s.file.Decls {
		d, ok := decl.(*ast.GenDecl)
		if !ok || d.Tok != token.VAR {
			continue
		}
		for _, spec := range d.Specs {
			if v, ok := spec.(*ast.ValueSpec); ok {
				all = append(all, v)
			}
		}
	}
	return all
}

// selector returns "pkg.Name" for such an expression, "name" for a plain one, else "".
func selector(e ast.Expr) string {
	if name, ok := e.(*ast.Ident); ok {
		return name.Name
	}
	sel, ok := e.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	if x, ok := sel.X.(*ast.Ident); ok {
		return x.Name + "." + sel.Sel.Name
	}
	return ""
}

// Names that program code must not use, with the reason.
func TestForbiddenNames(t *testing.T) {
	reasons := map[string]string{
		"http.DefaultServeMux":         "two servers fit into one process",
		"http.Handle":                  "it uses the default mux",
		"http.HandleFunc":              "it uses the default mux",
		"http.ListenAndServe":          "it has no limits: limits.HTTPServer has",
		"http.DefaultClient":           "it has no deadline",
		"http.Get":                     "it has no deadline",
		"http.Head":                    "it has no deadline",
		"http.Post":                    "it has no deadline",
		"http.PostForm":                "it has no deadline",
		"http.NewRequest":              "it has no context",
		"prometheus.DefaultRegisterer": "two registries fit into one process",
		"prometheus.DefaultGatherer":   "two registries fit into one process",
		"prometheus.MustRegister":      "it uses the default registry",
		"prometheus.Register":          "it uses the default registry",
		"slog.Default":                 "loggers are passed",
		"slog.SetDefault":              "loggers are passed",
		"slog.Info":                    "it uses the default logger",
		"slog.Warn":                    "it uses the default logger",
		"slog.Error":                   "it uses the default logger",
		"slog.Debug":                   "it uses the default logger",
		"time.Sleep":                   "it cannot be interrupted: select on a timer and the context",
		"time.Tick":                    "it cannot be stopped",
		"context.TODO":                 "every call has a context of its caller",
		"os.Setenv":                    "the environment belongs to the whole process",
	}
	for _, s := range program(t) {
		ast.Inspect(s.file, func(n ast.Node) bool {
			e, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if reason, bad := reasons[selector(e)]; bad {
				t.Errorf("%s: %s: %s", s.at(e), selector(e), reason)
			}
			return true
		})
	}
}

// Only main ends the process.
func TestOnlyMainExits(t *testing.T) {
	for _, s := range program(t) {
		for _, decl := range s.file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || s.file.Name.Name == "main" && f.Name.Name == "main" {
				continue
			}
			ast.Inspect(f, func(n ast.Node) bool {
				if e, ok := n.(*ast.SelectorExpr); ok && selector(e) == "os.Exit" {
					t.Errorf("%s: os.Exit in %s, want it in main only: it skips deferred calls", s.at(e), f.Name)
				}
				return true
			})
		}
	}
}

// Remaining work belongs in the issue tracker.
func TestNoNotesToSelf(t *testing.T) {
	note := regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|XX` + `X)\b`)
	for _, s := range sources(t) {
		for _, group := range s.file.Comments {
			if word := note.FindString(group.Text()); word != "" {
				t.Errorf("%s: the comment has a note %s, want it in an issue", s.at(group), word)
			}
		}
	}
}

// A skipped test checks nothing.
func TestNoSkippedTests(t *testing.T) {
	for _, s := range sources(t) {
		if !s.test {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if e, ok := n.(*ast.SelectorExpr); ok && slices.Contains([]string{"t.Skip", "t.Skipf", "t.SkipNow", "b.Skip", "tb.Skip"}, selector(e)) {
				t.Errorf("%s: %s, want a test that runs everywhere", s.at(e), selector(e))
			}
			return true
		})
	}
}
