package templates

import (
	"maps"
	"slices"
	"strings"
	"text/template/parse"

	"github.com/vitals-health/vitals/rules/lint/analysis"
	"github.com/vitals-health/vitals/rules/lint/check"
)

// valueInLabel finds labels of alerts that contain the value. Each change of the value
// creates a new alert, whose "for" restarts. A value that only selects between texts is
// allowed.
func valueInLabel(p *check.Pass, s *analysis.Subject) {
	if s.Rule.Alert == "" {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(s.Rule.Labels)) {
		if !printed(parseTemplate(s.Rule.Labels[name])) {
			continue
		}
		line, col := s.File.PlaceOfKey(s.Rule, "labels", name)
		p.AtPlace(s, line, col, "move the value to an annotation: the labels identify the alert",
			"the label "+name+` contains the value: each change creates a new alert, whose "for" restarts`)
	}
}

// printed reports whether a part of a template prints a value. Conditions do not count.
func printed(n parse.Node) bool {
	switch n := n.(type) {
	case *parse.ListNode:
		return n != nil && slices.ContainsFunc(n.Nodes, printed)
	case *parse.IfNode:
		return printed(n.List) || printed(n.ElseList)
	case *parse.RangeNode:
		return printed(n.List) || printed(n.ElseList)
	case *parse.WithNode:
		return printed(n.List) || printed(n.ElseList)
	case *parse.ActionNode:
		return len(n.Pipe.Decl) == 0 && carries(n.Pipe)
	}
	return false
}

// carries reports whether the result of a pipeline, or of one of its parts, contains the
// value.
func carries(n parse.Node) bool {
	switch n := n.(type) {
	case *parse.PipeNode:
		boolean := slices.ContainsFunc(n.Cmds, func(c *parse.CommandNode) bool { return decides(c.Args[0]) })
		return !boolean && slices.ContainsFunc(n.Cmds, func(c *parse.CommandNode) bool { return carries(c) })
	case *parse.CommandNode:
		return !decides(n.Args[0]) && slices.ContainsFunc(n.Args, carries)
	case *parse.IdentifierNode:
		return n.Ident == "value" // the value of a sample, such as the first one of a query
	case *parse.VariableNode:
		return n.Ident[0] == "$value" || n.Ident[0] != "$labels" && n.Ident[len(n.Ident)-1] == "Value"
	case *parse.FieldNode:
		return n.Ident[len(n.Ident)-1] == "Value"
	case *parse.ChainNode:
		return carries(n.Node) || n.Field[len(n.Field)-1] == "Value"
	}
	return false
}

// decides reports whether a function returns only true or false.
func decides(n parse.Node) bool {
	f, ok := n.(*parse.IdentifierNode)
	return ok && slices.Contains(strings.Fields("eq ne lt le gt ge not match"), f.Ident)
}
