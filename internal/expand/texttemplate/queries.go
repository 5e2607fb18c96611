package texttemplate

import (
	"slices"
	"strings"
	"text/template"
	"text/template/parse"
)

// Queries implements expand.Template.
func (t *parsed) Queries() []string {
	trees := t.tmpl.Templates()
	slices.SortFunc(trees, func(a, b *template.Template) int { return strings.Compare(a.Name(), b.Name()) })
	var found []string
	for _, tree := range trees {
		for _, pipe := range all[*parse.PipeNode](tree.Root) {
			found = append(found, queried(pipe)...)
		}
	}
	return found
}

// queried returns the constant arguments of the calls of query in a pipeline.
func queried(pipe *parse.PipeNode) []string {
	var found []string
	var before []parse.Node
	for _, cmd := range pipe.Cmds {
		args := append(slices.Clone(cmd.Args), before...)
		before = nil
		if len(cmd.Args) == 1 {
			before = cmd.Args
		}
		if id, ok := args[0].(*parse.IdentifierNode); !ok || id.Ident != "query" || len(args) != 2 {
			continue
		}
		if s, ok := args[1].(*parse.StringNode); ok {
			found = append(found, s.Text)
		}
	}
	return found
}
