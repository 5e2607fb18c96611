package expand

import (
	"maps"
	"slices"
	"text/template/parse"
)

// Constants returns the string constants in the template's actions: among them are the
// expressions that it will query, unless it puts them together from parts.
func (t *Template) Constants() []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(t.trees)) {
		constants(t.trees[name].Root, &all)
	}
	return all
}

// constants appends the string constants under n.
func constants(n parse.Node, all *[]string) {
	switch n := n.(type) {
	case *parse.StringNode:
		*all = append(*all, n.Text)
	case *parse.ListNode:
		if n == nil { // a branch without else
			return
		}
		for _, n := range n.Nodes {
			constants(n, all)
		}
	case *parse.PipeNode:
		if n == nil { // a template called without data
			return
		}
		for _, n := range n.Cmds {
			constants(n, all)
		}
	case *parse.CommandNode:
		for _, n := range n.Args {
			constants(n, all)
		}
	case *parse.ActionNode:
		constants(n.Pipe, all)
	case *parse.TemplateNode:
		constants(n.Pipe, all)
	case *parse.ChainNode:
		constants(n.Node, all)
	case *parse.IfNode:
		branch(&n.BranchNode, all)
	case *parse.RangeNode:
		branch(&n.BranchNode, all)
	case *parse.WithNode:
		branch(&n.BranchNode, all)
	}
}

func branch(n *parse.BranchNode, all *[]string) {
	constants(n.Pipe, all)
	constants(n.List, all)
	constants(n.ElseList, all)
}
