package texttemplate

import (
	"slices"
	"strconv"
	"text/template/parse"
)

// The functions that meter adds to a template. The parser rejects them in a rule's text.
const (
	stepFunc   = "_step"
	enterFunc  = "_enter"
	leaveFunc  = "_leave"
	chargeFunc = "_charge"
)

// meter makes a template count what it executes, and end at the bounds. text/template
// itself ends an execution only when a function or a write fails, which a loop without
// output never reaches. meter adds function calls: at the start and end of the
// template, at the start of each loop body, and after each method call with arguments.
func meter(root *parse.ListNode) {
	visit(root, func(n parse.Node) bool {
		switch n := n.(type) {
		case *parse.RangeNode:
			n.List.Nodes = slices.Insert(n.List.Nodes, 0, action(n.Pos, stepFunc, weight(n.List)))
		case *parse.PipeNode:
			chargeMethods(n)
		}
		return true
	})
	root.Nodes = slices.Insert(root.Nodes, 0, action(root.Pos, enterFunc, weight(root)))
	root.Nodes = append(root.Nodes, action(root.Pos, leaveFunc))
}

// chargeMethods pipes the result of each method call with arguments through the charge
// function: time.Time.Format can return more bytes than it gets.
func chargeMethods(pipe *parse.PipeNode) {
	var cmds []*parse.CommandNode
	for i, cmd := range pipe.Cmds {
		cmds = append(cmds, cmd)
		switch cmd.Args[0].(type) {
		case *parse.FieldNode, *parse.ChainNode, *parse.VariableNode:
			if i > 0 || len(cmd.Args) > 1 {
				cmds = append(cmds, call(cmd.Pos, chargeFunc))
			}
		}
	}
	pipe.Cmds = cmds
}

// action returns the node of {{ function args... }}.
func action(pos parse.Pos, function string, args ...int) parse.Node {
	pipe := &parse.PipeNode{NodeType: parse.NodePipe, Pos: pos, Cmds: []*parse.CommandNode{call(pos, function, args...)}}
	return &parse.ActionNode{NodeType: parse.NodeAction, Pos: pos, Pipe: pipe}
}

func call(pos parse.Pos, function string, args ...int) *parse.CommandNode {
	cmd := &parse.CommandNode{NodeType: parse.NodeCommand, Pos: pos, Args: []parse.Node{parse.NewIdentifier(function).SetPos(pos)}}
	for _, n := range args {
		cmd.Args = append(cmd.Args, &parse.NumberNode{NodeType: parse.NodeNumber, Pos: pos, IsInt: true, Int64: int64(n), Text: strconv.Itoa(n)})
	}
	return cmd
}

// weight returns the number of nodes that one execution of n visits at most, without
// the bodies of loops.
func weight(n parse.Node) int {
	total := 0
	visit(n, func(n parse.Node) bool {
		total++
		loop, ok := n.(*parse.RangeNode)
		if ok {
			total += weight(loop.Pipe) + weight(loop.ElseList)
		}
		return !ok
	})
	return total
}

// all returns the nodes of type N under root, in the order of the text.
func all[N parse.Node](root parse.Node) []N {
	var found []N
	visit(root, func(n parse.Node) bool {
		if n, ok := n.(N); ok {
			found = append(found, n)
		}
		return true
	})
	return found
}

// visit calls f for n and, where f returns true, for the nodes under n in the order of
// the text.
func visit(n parse.Node, f func(parse.Node) bool) {
	switch n := n.(type) {
	case *parse.ListNode:
		if n == nil { // a branch without else
			return
		}
	case *parse.PipeNode:
		if n == nil { // a template call without data
			return
		}
	}
	if !f(n) {
		return
	}
	for _, child := range children(n) {
		visit(child, f)
	}
}

func children(n parse.Node) []parse.Node {
	switch n := n.(type) {
	case *parse.ListNode:
		return n.Nodes
	case *parse.PipeNode:
		nodes := make([]parse.Node, 0, len(n.Cmds))
		for _, cmd := range n.Cmds {
			nodes = append(nodes, cmd)
		}
		return nodes
	case *parse.CommandNode:
		return n.Args
	case *parse.ActionNode:
		return []parse.Node{n.Pipe}
	case *parse.TemplateNode:
		return []parse.Node{n.Pipe}
	case *parse.ChainNode:
		return []parse.Node{n.Node}
	case *parse.IfNode:
		return []parse.Node{n.Pipe, n.List, n.ElseList}
	case *parse.RangeNode:
		return []parse.Node{n.Pipe, n.List, n.ElseList}
	case *parse.WithNode:
		return []parse.Node{n.Pipe, n.List, n.ElseList}
	}
	return nil
}
