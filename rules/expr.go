package rules

import (
	"errors"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/internal/promexpr"
)

// MaxExpr is the longest expression in bytes.
const MaxExpr = 64 << 10

// maxParseErrors is how many of the parser's errors are reported for an expression. The
// first ones cause the others.
const maxParseErrors = 3

// expr parses the expression of the rule at path.
func (p *fileParser) expr(path, text string) parser.Expr {
	switch {
	case text == "":
		if !p.doc.Broken(path) {
			p.fail(path, "expected an expression in expr, got none")
		}
		return nil
	case len(text) > MaxExpr:
		p.fail(path+".expr", "expression of %d bytes, expected at most %d", len(text), MaxExpr)
		return nil
	}
	path += ".expr"
	ast, err := promexpr.Parse(text)
	if err != nil {
		p.syntax(path, err)
		return nil
	}
	switch ast.Type() {
	case parser.ValueTypeVector, parser.ValueTypeScalar:
	default:
		p.fail(path, "expression returns a %s, expected an instant vector or a scalar", parser.DocumentedType(ast.Type()))
	}
	for _, e := range Excesses(ast, p.opts.Step) {
		p.add(p.doc.ErrorAt(path, int(e.Pos), "%s", e.Text))
	}
	return ast
}

// syntax reports the errors of the PromQL parser at their places in the file.
func (p *fileParser) syntax(path string, err error) {
	var list parser.ParseErrors
	if !errors.As(err, &list) {
		p.fail(path, "not valid PromQL: %s", clip(err.Error()))
		return
	}
	for _, e := range list[:min(len(list), maxParseErrors)] {
		p.add(p.doc.ErrorAt(path, int(e.PositionRange.Start), "not valid PromQL: %s", clip(e.Err.Error())))
	}
}

// topLevelBool rejects a rule of a state whose expression is a comparison with "bool".
func (p *fileParser) topLevelBool(path string, ast parser.Expr) {
	if b, text, cure := TopLevelBool(ast); b != nil {
		e := p.doc.ErrorAt(path, int(b.PositionRange().Start), "%s: %s", text, cure)
		e.Code = CodeTopLevelBool
		p.add(e)
	}
}

// TopLevelBool returns the comparison with "bool" at the top of an expression, what is wrong
// with it in an alert, and the cure. b is nil if there is none. Such a comparison always has
// a result, and an alert fires on any result.
func TopLevelBool(ast parser.Expr) (b *parser.BinaryExpr, text, cure string) {
	b, ok := promexpr.Bare(ast).(*parser.BinaryExpr)
	if !ok || !b.ReturnBool {
		return nil, "", ""
	}
	cure = `remove "bool"`
	if b.Type() == parser.ValueTypeScalar {
		cure = `remove "bool" and make one side a vector with vector(...)`
	}
	return b, `comparison with "bool" at the top of an alert is always 0 or 1 and never empty, so the alert would always fire`, cure
}
