package expand

import (
	"fmt"
	"reflect"
	"strings"
	"text/template/parse"
	"time"
)

// absent is the value that comes down a pipeline to its first command: none.
type absent struct{}

// pipeline evaluates the commands of a pipeline, each with the value of the one
// before as its last argument, and declares or assigns the pipeline's variables.
func (f *frame) pipeline(dot any, pipe *parse.PipeNode) (any, error) {
	if pipe == nil {
		return nil, nil
	}
	var value any = absent{}
	for _, cmd := range pipe.Cmds {
		v, err := f.command(dot, cmd, value)
		if err != nil {
			return nil, err
		}
		value = plain(v)
	}
	for _, d := range pipe.Decl {
		if !pipe.IsAssign {
			f.vars = append(f.vars, variable{d.Ident[0], value})
		} else if err := f.assign(d, value); err != nil {
			return nil, err
		}
	}
	return value, nil
}

// innermost returns the innermost variable that n names. The parser has made sure
// that there is one, except in the pipeline that would declare it.
func (f *frame) innermost(n *parse.VariableNode) (*variable, error) {
	for i := len(f.vars) - 1; i >= 0; i-- {
		if f.vars[i].name == n.Ident[0] {
			return &f.vars[i], nil
		}
	}
	return nil, f.fail(n, "undefined variable: %s", n.Ident[0])
}

func (f *frame) assign(n *parse.VariableNode, value any) error {
	v, err := f.innermost(n)
	if err == nil {
		v.value = value
	}
	return err
}

// command evaluates one command; piped is its last argument or absent.
func (f *frame) command(dot any, cmd *parse.CommandNode, piped any) (any, error) {
	if err := f.charge(1); err != nil {
		return nil, err
	}
	args := cmd.Args[1:]
	switch n := cmd.Args[0].(type) {
	case *parse.IdentifierNode:
		return f.function(dot, n, cmd, args, piped)
	case *parse.FieldNode:
		return f.fields(dot, dot, n, n.Ident, args, piped)
	case *parse.ChainNode:
		return f.chain(dot, n, args, piped)
	case *parse.VariableNode:
		if len(n.Ident) > 1 {
			return f.variable(dot, n, args, piped)
		}
	}
	if len(args) > 0 || piped != (absent{}) {
		return nil, f.fail(cmd, "can't give argument to non-function %s", cmd.Args[0])
	}
	return f.operand(dot, cmd.Args[0])
}

// operand evaluates a node that stands alone: a constant, a variable, the dot, a
// pipeline in parentheses, a function or a field without arguments.
func (f *frame) operand(dot any, node parse.Node) (any, error) {
	switch n := node.(type) {
	case *parse.BoolNode:
		return n.True, nil
	case *parse.StringNode:
		return n.Text, nil
	case *parse.NumberNode:
		return f.number(n)
	case *parse.DotNode:
		return dot, nil
	case *parse.PipeNode:
		return f.pipeline(dot, n)
	case *parse.IdentifierNode:
		return f.function(dot, n, n, nil, absent{})
	case *parse.FieldNode:
		return f.fields(dot, dot, n, n.Ident, nil, absent{})
	case *parse.ChainNode:
		return f.chain(dot, n, nil, absent{})
	case *parse.VariableNode:
		return f.variable(dot, n, nil, absent{})
	}
	return nil, f.fail(node, "can't evaluate command %q", node)
}

// number gives a constant the type that its spelling has in Go. There is no
// unsigned constant.
func (f *frame) number(n *parse.NumberNode) (any, error) {
	hex := strings.HasPrefix(n.Text, "0x") || strings.HasPrefix(n.Text, "0X")
	spelledFloat := strings.ContainsAny(n.Text, ".eEpP") && n.Text[0] != '\'' &&
		(!hex || strings.ContainsAny(n.Text, "pP"))
	switch {
	case n.IsComplex:
		return n.Complex128, nil
	case n.IsFloat && spelledFloat:
		return n.Float64, nil
	case n.IsInt && int64(int(n.Int64)) == n.Int64:
		return int(n.Int64), nil
	case n.IsInt, n.IsUint:
		return nil, f.fail(n, "%s overflows int", n.Text)
	}
	return nil, nil
}

func (f *frame) chain(dot any, n *parse.ChainNode, args []parse.Node, piped any) (any, error) {
	v, err := f.operand(dot, n.Node)
	if err != nil {
		return nil, err
	}
	return f.fields(dot, v, n, n.Field, args, piped)
}

func (f *frame) variable(dot any, n *parse.VariableNode, args []parse.Node, piped any) (any, error) {
	v, err := f.innermost(n)
	if err != nil {
		return nil, err
	}
	return f.fields(dot, v.value, n, n.Ident[1:], args, piped)
}

// fields follows names from v. Arguments go to the last one, which then has to be a
// method. Without names the result is v.
func (f *frame) fields(dot, v any, n parse.Node, names []string, args []parse.Node, piped any) (any, error) {
	for i, name := range names {
		var (
			last = i == len(names)-1
			err  error
		)
		if last {
			v, err = f.field(dot, v, n, name, args, piped)
		} else {
			v, err = f.field(dot, v, n, name, nil, absent{})
		}
		if err != nil {
			return nil, err
		}
	}
	return v, nil
}

func (f *frame) field(dot, v any, n parse.Node, name string, args []parse.Node, piped any) (any, error) {
	if v == nil {
		return nil, nil
	}
	if m, ok := method(v, name); ok {
		return f.call(dot, n, n, name, m, args, piped)
	}
	field, ok := member(v, name)
	switch {
	case !ok:
		return nil, f.fail(n, "can't evaluate field %s in type %T", name, v)
	case len(args) > 0 || piped != (absent{}):
		return nil, f.fail(n, "%s is not a method but has arguments", name)
	}
	return field, nil
}

// member returns the field of a struct or the entry of a map. An entry that the map
// does not have is its type's zero.
func member(v any, name string) (any, bool) {
	switch v := v.(type) {
	case map[string]string:
		return v[name], true
	case arguments:
		return element(v[name]), true
	case *sample:
		switch name {
		case "Labels":
			return v.Labels, true
		case "Value":
			return v.Value, true
		}
	case root:
		switch name {
		case "Labels":
			return v.Labels, true
		case "ExternalLabels":
			return v.ExternalLabels, true
		case "ExternalURL":
			return v.ExternalURL, true
		case "Value":
			return v.Value, true
		}
	}
	return nil, false
}

// function calls the function that n names; whole is the command around it.
func (f *frame) function(dot any, n *parse.IdentifierNode, whole parse.Node, args []parse.Node, piped any) (any, error) {
	if n.Ident == "and" || n.Ident == "or" {
		return f.shortCircuit(dot, n, args, piped)
	}
	return f.call(dot, n, whole, n.Ident, f.funcs[n.Ident], args, piped)
}

// shortCircuit evaluates and and or: their result is the first argument that decides,
// or the last one.
func (f *frame) shortCircuit(dot any, n *parse.IdentifierNode, args []parse.Node, piped any) (any, error) {
	if len(args) == 0 && piped == (absent{}) {
		return nil, f.fail(n, "wrong number of args for %s: want at least 1 got 0", n.Ident)
	}
	var v any
	for _, arg := range args {
		var err error
		if v, err = f.argument(dot, arg, anything); err != nil {
			return nil, err
		}
		if truth(v) == (n.Ident == "or") {
			return v, nil
		}
	}
	if piped != (absent{}) {
		return piped, nil
	}
	return v, nil
}

// call evaluates the arguments of a function or method, and calls it. Errors are
// reported at n where the arguments are wrong, and at whole where the call is.
func (f *frame) call(dot any, n, whole parse.Node, name string, fn function, nodes []parse.Node, piped any) (any, error) {
	count := len(nodes)
	if piped != (absent{}) {
		count++
	}
	switch {
	case fn.variadic && count < len(fn.in):
		return nil, f.fail(n, "wrong number of args for %s: want at least %d got %d", name, len(fn.in), count)
	case !fn.variadic && count != len(fn.in):
		return nil, f.fail(n, "wrong number of args for %s: want %d got %d", name, len(fn.in), count)
	}
	args := make([]any, 0, count)
	for _, node := range nodes {
		v, err := f.argument(dot, node, fn.param(len(args)))
		if err != nil {
			return nil, err
		}
		args = append(args, v)
	}
	if piped != (absent{}) {
		v, err := convert(piped, fn.param(len(args)))
		if err != nil {
			return nil, f.fail(n, "%w", err)
		}
		args = append(args, v)
	}
	v, err := fn.call(f.expansion, args)
	if err == nil {
		err = f.charge(size(v))
	}
	if err != nil {
		return nil, f.fail(whole, "error calling %s: %w", name, err)
	}
	return v, nil
}

// argument evaluates a node as an argument for a parameter of type p.
func (f *frame) argument(dot any, node parse.Node, p param) (any, error) {
	switch n := node.(type) {
	case *parse.NilNode:
		v, err := convert(nil, p)
		if err != nil {
			return nil, f.fail(n, "cannot assign nil to %s", p)
		}
		return v, nil
	case *parse.NumberNode:
		switch {
		case p == integer && n.IsInt:
			return int(n.Int64), nil
		case p == duration && n.IsInt:
			return time.Duration(n.Int64), nil
		}
	}
	v, err := f.operand(dot, node)
	if err != nil {
		return nil, err
	}
	if v, err = convert(v, p); err != nil {
		return nil, f.fail(node, "%w", err)
	}
	return v, nil
}

// convert makes v a value of type p, as far as a template converts: pointers are
// followed, nil becomes the nil of the type.
func convert(v any, p param) (any, error) {
	_, untyped := v.(null)
	switch v := plain(v).(type) {
	case nil:
		switch {
		case p == anything:
			return nil, nil
		case p == samples && !untyped:
			return vector(nil), nil
		case p == oneSample && !untyped:
			return (*sample)(nil), nil
		case p == zone && !untyped:
			return (*time.Location)(nil), nil
		}
	case *time.Time:
		if p == moment {
			return *v, nil
		}
	case *time.Duration:
		if p == duration {
			return *v, nil
		}
	}
	if v = plain(v); p == anything || v != nil && reflect.TypeOf(v) == p.goType() {
		return v, nil
	}
	return nil, fmt.Errorf("wrong type for value; expected %s; got %T", p, v)
}
