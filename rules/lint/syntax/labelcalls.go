package syntax

import (
	"fmt"
	"regexp"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql/parser"
)

// WrongCall is an argument of a function over labels that makes an evaluation fail.
type WrongCall struct {
	Arg        parser.Expr
	Text, Cure string
}

// WrongCalls returns the arguments in an expression with which each evaluation fails, although
// the parser accepts them.
func WrongCalls(e parser.Expr) []WrongCall {
	var all []WrongCall
	parser.Inspect(e, func(n parser.Node, _ []parser.Node) error {
		switch n := n.(type) {
		case *parser.Call:
			all = append(all, wrongArguments(n)...)
		case *parser.AggregateExpr:
			if n.Op == parser.COUNT_VALUES {
				all = append(all, wrongName("count_values", n.Param)...)
			}
		}
		return nil
	})
	return all
}

// wrongArguments checks the arguments of one call: label_replace(v, destination,
// replacement, source, regex) or label_join(v, destination, separator, source...).
func wrongArguments(n *parser.Call) []WrongCall {
	const destination, sources, regex = 1, 3, 4
	name := n.Func.Name
	switch name {
	case "label_replace":
		all := wrongName(name, n.Args[destination])
		text := Literal(n.Args[regex])
		if _, err := regexp.Compile("^(?s:" + text + ")$"); err != nil {
			all = append(all, WrongCall{n.Args[regex], fmt.Sprintf("%q in %s is not a valid regular expression", Quoted(text), name),
				"correct it: brackets need a pair, and a backslash is doubled in double quotes"})
		}
		return all
	case "label_join":
		all := wrongName(name, n.Args[destination])
		for _, source := range n.Args[sources:] {
			all = append(all, wrongName(name, source)...)
		}
		return all
	}
	return nil
}

// wrongName returns the argument if it is not a valid name of a label.
func wrongName(function string, arg parser.Expr) []WrongCall {
	text := Literal(arg)
	if model.UTF8Validation.IsValidLabelName(text) {
		return nil
	}
	return []WrongCall{{arg, fmt.Sprintf("%q in %s is not a valid name of a label", Quoted(text), function), "use a name that is not empty"}}
}
