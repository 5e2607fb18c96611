package architecture_test

import (
	"go/ast"
	"strings"
	"testing"
)

// Every exported name has a comment that begins with the name and ends in a full stop.
func TestExportedNamesAreDocumented(t *testing.T) {
	for _, s := range program(t) {
		for _, decl := range s.file.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() && exportedReceiver(d) && !ofStandardInterface(d) {
					checkComment(t, s, d, d.Name.Name, d.Doc)
				}
			case *ast.GenDecl:
				checkDeclaration(t, s, d)
			}
		}
	}
}

// checkDeclaration checks types, constants and variables. The comment of a group applies to
// its members without a comment.
func checkDeclaration(t *testing.T, s source, d *ast.GenDecl) {
	t.Helper()
	if d.Lparen.IsValid() && d.Doc != nil && !isSentence(d.Doc) {
		t.Errorf("%s: the comment of the group does not end in a full stop", s.at(d))
	}
	for _, spec := range d.Specs {
		switch v := spec.(type) {
		case *ast.TypeSpec:
			if v.Name.IsExported() {
				checkComment(t, s, v, v.Name.Name, firstComment(v.Doc, d.Doc))
			}
		case *ast.ValueSpec:
			doc := v.Doc
			if !d.Lparen.IsValid() {
				doc = d.Doc
			}
			grouped := d.Lparen.IsValid() && d.Doc != nil
			if v.Names[0].IsExported() && (doc != nil || !grouped) {
				checkComment(t, s, v, v.Names[0].Name, doc)
			}
		}
	}
}

func checkComment(t *testing.T, s source, n ast.Node, name string, doc *ast.CommentGroup) {
	t.Helper()
	switch {
	case doc == nil:
		t.Errorf("%s: %s has no comment, want one that begins with its name", s.at(n), name)
	case !strings.HasPrefix(doc.Text(), name+" ") && !strings.HasPrefix(doc.Text(), name+":"):
		t.Errorf("%s: the comment of %s begins with %.20q, want its name", s.at(n), name, doc.Text())
	case !isSentence(doc):
		t.Errorf("%s: the comment of %s does not end in a full stop", s.at(n), name)
	}
}

// Every package has one comment with its purpose.
func TestPackagesAreDocumented(t *testing.T) {
	comments := map[string]int{}
	for _, s := range program(t) {
		comments[s.dir] += 0
		if s.file.Doc == nil {
			continue
		}
		comments[s.dir]++
		want := "Package " + s.file.Name.Name + " "
		if s.file.Name.Name == "main" {
			want = "Command "
		}
		if !strings.HasPrefix(s.file.Doc.Text(), want) || !isSentence(s.file.Doc) {
			t.Errorf("%s: the comment of the package is %.40q, want a sentence that begins with %q", s.path, s.file.Doc.Text(), want)
		}
	}
	for dir, n := range comments {
		if n != 1 {
			t.Errorf("package %s has %d comments, want 1", dir, n)
		}
	}
}

// isSentence reports whether a comment ends in a full stop, or in an indented example.
func isSentence(doc *ast.CommentGroup) bool {
	text := strings.TrimRight(doc.Text(), "\n")
	last := text[strings.LastIndexByte(text, '\n')+1:]
	return strings.HasSuffix(text, ".") || strings.HasSuffix(text, ".)") || strings.HasPrefix(last, "\t")
}

func firstComment(all ...*ast.CommentGroup) *ast.CommentGroup {
	for _, c := range all {
		if c != nil {
			return c
		}
	}
	return nil
}

// exportedReceiver reports whether a function is visible outside of its package. Methods of
// unexported types are not.
func exportedReceiver(f *ast.FuncDecl) bool {
	if f.Recv == nil {
		return true
	}
	e := f.Recv.List[0].Type
	for {
		switch x := e.(type) {
		case *ast.StarExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.Ident:
			return x.IsExported()
		default:
			return true
		}
	}
}

// ofStandardInterface reports whether a method is String, Error or Unwrap without
// parameters.
func ofStandardInterface(f *ast.FuncDecl) bool {
	name := f.Name.Name
	return f.Recv != nil && (name == "String" || name == "Error" || name == "Unwrap") && len(f.Type.Params.List) == 0
}
