package expand

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"text/template/parse"
)

// expansion is the state of one Expand.
type expansion struct {
	ctx   context.Context
	data  Data
	query Query
	funcs map[string]function
	trees map[string]*parse.Tree

	out   strings.Builder
	steps int
	work  int
}

// frame is the state of one template among those that are being executed: the
// outermost one, or one that a {{template}} called.
type frame struct {
	*expansion
	tree  *parse.Tree
	depth int
	vars  []variable
}

type variable struct {
	name  string
	value any
}

// root is the data of the outermost template. Its fields and their order are what
// Prometheus' templates see and print, and like theirs it has no name.
type root = struct {
	Labels         map[string]string
	ExternalLabels map[string]string
	ExternalURL    string
	Value          any
}

// jump says how a list of nodes was left.
type jump int

const (
	next jump = iota
	breakRange
	continueRange
)

func (e *expansion) run(tree *parse.Tree) error {
	dot := root{e.data.Labels, e.data.ExternalLabels, e.data.ExternalURL, e.data.Value}
	f := &frame{expansion: e, tree: tree, vars: []variable{{"$", dot}}}
	_, err := f.walk(dot, tree.Root)
	return err
}

// fail makes an error that says where in the template it happened.
func (f *frame) fail(n parse.Node, format string, args ...any) error {
	location, source := f.tree.ErrorContext(n)
	return fmt.Errorf("template: %s: executing %q at <%s>: %w", location, f.tree.Name, source, fmt.Errorf(format, args...))
}

// What an expansion beyond its bounds fails with.
var (
	errWork   = errors.New("template does too much work")
	errSteps  = fmt.Errorf("template takes more than %d steps", MaxSteps)
	errOutput = fmt.Errorf("template makes more than %d bytes", MaxOutput)
	errDepth  = fmt.Errorf("templates call each other more than %d deep", MaxDepth)
)

// charge books work that was done or is about to be done.
func (e *expansion) charge(units int) error {
	if e.work += units; e.work > maxWork {
		return errWork
	}
	return nil
}

// step counts an iteration or a call, and notices the end of the context.
func (e *expansion) step() error {
	if e.steps++; e.steps > MaxSteps {
		return errSteps
	}
	return e.ctx.Err()
}

func (e *expansion) write(text string) error {
	if e.out.Len()+len(text) > MaxOutput {
		return errOutput
	}
	e.out.WriteString(text)
	return nil
}

// walk executes a node. Variables that it declares stay on the stack until the
// block around it ends.
func (f *frame) walk(dot any, node parse.Node) (jump, error) {
	if err := f.charge(1); err != nil {
		return next, err
	}
	switch n := node.(type) {
	case *parse.TextNode:
		return next, f.write(string(n.Text))
	case *parse.ActionNode:
		return next, f.action(dot, n)
	case *parse.IfNode:
		return f.branch(dot, &n.BranchNode, false)
	case *parse.WithNode:
		return f.branch(dot, &n.BranchNode, true)
	case *parse.RangeNode:
		return f.loop(dot, n)
	case *parse.TemplateNode:
		return next, f.template(dot, n)
	case *parse.ListNode:
		for _, n := range n.Nodes {
			if j, err := f.walk(dot, n); j != next || err != nil {
				return j, err
			}
		}
	case *parse.BreakNode:
		return breakRange, nil
	case *parse.ContinueNode:
		return continueRange, nil
	default:
		return next, f.fail(node, "unknown node: %s", node)
	}
	return next, nil
}

func (f *frame) action(dot any, n *parse.ActionNode) error {
	v, err := f.pipeline(dot, n.Pipe)
	if err != nil || len(n.Pipe.Decl) > 0 {
		return err
	}
	text, err := f.text(v)
	if err != nil {
		return err
	}
	return f.write(text)
}

// branch executes if and with, which differ in what the dot becomes.
func (f *frame) branch(dot any, n *parse.BranchNode, with bool) (jump, error) {
	defer f.leave(len(f.vars))
	v, err := f.pipeline(dot, n.Pipe)
	switch {
	case err != nil:
		return next, err
	case truth(v) && with:
		return f.walk(v, n.List)
	case truth(v):
		return f.walk(dot, n.List)
	case n.ElseList != nil:
		return f.walk(dot, n.ElseList)
	}
	return next, nil
}

// leave forgets the variables declared since there were n.
func (f *frame) leave(n int) { f.vars = f.vars[:n] }

func (f *frame) loop(dot any, n *parse.RangeNode) (jump, error) {
	defer f.leave(len(f.vars))
	v, err := f.pipeline(dot, n.Pipe)
	if err != nil {
		return next, err
	}
	items, err := f.items(n, v)
	if err != nil {
		return next, err
	}
	ran := false
	for key, elem := range items {
		ran = true
		if j, err := f.iterate(n, key, elem); err != nil || j == breakRange {
			return next, err
		}
	}
	if ran || n.ElseList == nil {
		return next, nil
	}
	j, err := f.walk(dot, n.ElseList)
	if j == breakRange {
		// text/template takes it for a break of the range that the else belongs to.
		j = next
	}
	return j, err
}

// iterate executes the body of a range once.
func (f *frame) iterate(n *parse.RangeNode, key, elem any) (jump, error) {
	if err := f.step(); err != nil {
		return next, f.fail(n, "%w", err)
	}
	defer f.leave(len(f.vars))
	decl := n.Pipe.Decl
	values := []any{elem}
	if len(decl) > 1 {
		values = []any{key, elem}
	}
	for i, d := range decl {
		if !n.Pipe.IsAssign {
			// The pipeline has declared them, on top of the stack.
			f.vars[len(f.vars)-len(decl)+i].value = values[i]
		} else if err := f.assign(d, values[i]); err != nil {
			return next, err
		}
	}
	return f.walk(elem, n.List)
}

// items returns what a range over v visits.
func (f *frame) items(n *parse.RangeNode, v any) (func(yield func(any, any) bool), error) {
	rv := reflect.Indirect(reflect.ValueOf(v))
	switch {
	case v == nil:
		return func(func(any, any) bool) {}, nil
	case rv.CanInt() || rv.CanUint():
		if len(n.Pipe.Decl) > 1 {
			return nil, f.fail(n, "can't use %v to iterate over more than one variable", v)
		}
		return func(yield func(any, any) bool) {
			for i := range rv.Seq() {
				if !yield(nil, i.Interface()) {
					return
				}
			}
		}, nil
	}
	switch v := v.(type) {
	case vector:
		return func(yield func(any, any) bool) {
			for i, s := range v {
				if !yield(i, s) {
					return
				}
			}
		}, nil
	case map[string]string:
		return sorted(v), nil
	case arguments:
		return sorted(v), nil
	}
	return nil, f.fail(n, "range can't iterate over %T", v)
}

// sorted visits a map in the order of its keys.
func sorted[M ~map[string]V, V any](m M) func(yield func(any, any) bool) {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return func(yield func(any, any) bool) {
		for _, k := range keys {
			if !yield(k, element(m[k])) {
				return
			}
		}
	}
}

func (f *frame) template(dot any, n *parse.TemplateNode) error {
	tree := f.trees[n.Name]
	if tree == nil {
		return f.fail(n, "template %q not defined", n.Name)
	}
	if f.depth == MaxDepth {
		return f.fail(n, "%w", errDepth)
	}
	if err := f.step(); err != nil {
		return f.fail(n, "%w", err)
	}
	dot, err := f.pipeline(dot, n.Pipe)
	if err != nil {
		return err
	}
	called := &frame{expansion: f.expansion, tree: tree, depth: f.depth + 1, vars: []variable{{"$", dot}}}
	_, err = called.walk(dot, tree.Root)
	return err
}
