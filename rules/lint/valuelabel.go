package lint

import (
	"maps"
	"slices"
	"strings"
	"text/template/parse"
)

// templateStart is what Prometheus puts before every template; $ is .Labels and so on.
const templateStart = `{{$labels := .Labels}}{{$externalLabels := .ExternalLabels}}{{$externalURL := .ExternalURL}}{{$value := .Value}}`

// valueInLabel finds labels of alerts that contain the value: each change of the value
// makes another alert of it, whose "for" begins anew. A value that only decides between
// texts is fine.
func valueInLabel(p *pass) {
	for _, s := range p.subjects {
		if s.rule.Alert == "" {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(s.rule.Labels)) {
			if !printsValue(s.rule.Labels[name]) {
				continue
			}
			line, col := s.file.PlaceOfKey(s.rule, "labels", name)
			p.about(s, line, col, "move the value to an annotation: the labels identify the alert",
				"the label "+name+` contains the value: whenever that changes this is another alert, and its "for" begins anew`)
		}
	}
}

// printsValue says whether the text that a template makes contains the alert's value, or
// that of a query.
func printsValue(text string) bool {
	if !strings.Contains(text, "{{") {
		return false
	}
	t := parse.New("label")
	t.Mode = parse.SkipFuncCheck
	if _, err := t.Parse(templateStart+text, "{{", "}}", map[string]*parse.Tree{}); err != nil {
		return false
	}
	return printed(t.Root)
}

// printed looks for a value in what a part of a template prints, and not in what it asks.
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

// carries says whether the result of a pipeline or of one of its parts shows the value.
func carries(n parse.Node) bool {
	switch n := n.(type) {
	case *parse.PipeNode:
		asks := slices.ContainsFunc(n.Cmds, func(c *parse.CommandNode) bool { return decides(c.Args[0]) })
		return !asks && slices.ContainsFunc(n.Cmds, func(c *parse.CommandNode) bool { return carries(c) })
	case *parse.CommandNode:
		return !decides(n.Args[0]) && slices.ContainsFunc(n.Args, carries)
	case *parse.IdentifierNode:
		return n.Ident == "value" // that of a sample, such as the first one of a query
	case *parse.VariableNode:
		return n.Ident[0] == "$value" || n.Ident[0] != "$labels" && n.Ident[len(n.Ident)-1] == "Value"
	case *parse.FieldNode:
		return n.Ident[len(n.Ident)-1] == "Value"
	case *parse.ChainNode:
		return carries(n.Node) || n.Field[len(n.Field)-1] == "Value"
	}
	return false
}

// decides says whether a function answers with yes or no, whatever it is given.
func decides(n parse.Node) bool {
	f, ok := n.(*parse.IdentifierNode)
	return ok && slices.Contains(strings.Fields("eq ne lt le gt ge not match"), f.Ident)
}
