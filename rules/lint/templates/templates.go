package templates

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/template/parse"

	"github.com/vitals-health/vitals/internal/strictyaml"
	"github.com/vitals-health/vitals/rules/lint/analysis"
	"github.com/vitals-health/vitals/rules/lint/check"
)

// templateLabel finds templates with a label that the result of the rule's expression
// cannot have. They show an empty text in its place.
func templateLabel(p *check.Pass, s *analysis.Subject) {
	if s.Rule.Alert == "" {
		return
	}
	is := p.Shape(s.Rule.AST)
	for _, of := range []struct {
		key   string
		texts map[string]string
	}{{"labels", s.Rule.Labels}, {"annotations", s.Rule.Annotations}} {
		for _, name := range slices.Sorted(maps.Keys(of.texts)) {
			for _, label := range templateLabels(of.texts[name]) {
				if !is.Lacks(label) {
					continue
				}
				text, cure := "the result of the expression has no label "+label, check.Suggest(label, is.Names())
				if len(is.Names()) == 0 {
					cure = fmt.Sprintf("remove it, or keep the label in the expression, as in sum by (%s) (...)", label)
				}
				if _, ok := s.Rule.Labels[label]; ok || label == "alertname" {
					text += ": a template cannot use labels that the rule adds"
				}
				p.At(s, strictyaml.PathKey(of.key, name), cure, "%s", text)
			}
		}
	}
}

// templateLabels returns the labels of the alert that a template uses.
func templateLabels(text string) []string {
	root := parseTemplate(text)
	if root == nil {
		return nil
	}
	w := templateWalk{}
	w.list(root, true)
	return w.labels
}

// parseTemplate returns the parsed text of a label or an annotation, or nil if it contains
// no action or is invalid. $ is .Labels and so on, as Prometheus defines them.
func parseTemplate(text string) *parse.ListNode {
	const head = "{{$labels := .Labels}}{{$externalLabels := .ExternalLabels}}{{$externalURL := .ExternalURL}}{{$value := .Value}}"
	if !strings.Contains(text, "{{") {
		return nil
	}
	tree := parse.New("t")
	tree.Mode = parse.SkipFuncCheck
	if _, err := tree.Parse(head+text, "{{", "}}", map[string]*parse.Tree{}); err != nil {
		return nil
	}
	return tree.Root
}

// templateWalk collects labels.
type templateWalk struct{ labels []string }

func (w *templateWalk) add(label string) {
	if !slices.Contains(w.labels, label) {
		w.labels = append(w.labels, label)
	}
}

// list walks a part of the template. root is set while the dot is the data of the whole
// template.
func (w *templateWalk) list(l *parse.ListNode, root bool) {
	if l == nil {
		return
	}
	for _, n := range l.Nodes {
		switch n := n.(type) {
		case *parse.ActionNode:
			w.pipe(n.Pipe, root)
		case *parse.TemplateNode:
			w.pipe(n.Pipe, root)
		case *parse.IfNode:
			w.branch(&n.BranchNode, root, root)
		case *parse.WithNode:
			w.branch(&n.BranchNode, root, false)
		case *parse.RangeNode:
			w.branch(&n.BranchNode, root, false)
		}
	}
}

func (w *templateWalk) branch(b *parse.BranchNode, root, inside bool) {
	w.pipe(b.Pipe, root)
	w.list(b.List, inside)
	w.list(b.ElseList, root)
}

func (w *templateWalk) pipe(p *parse.PipeNode, root bool) {
	if p == nil {
		return
	}
	for _, c := range p.Cmds {
		for i, arg := range c.Args {
			w.argument(arg, root)
			if i == 2 && calls(c.Args[0], "index") && isLabels(c.Args[1]) {
				if s, ok := arg.(*parse.StringNode); ok {
					w.add(s.Text)
				}
			}
		}
	}
}

func (w *templateWalk) argument(n parse.Node, root bool) {
	const parts = 2 // $labels.NAME, .Labels.NAME
	switch n := n.(type) {
	case *parse.VariableNode:
		if len(n.Ident) >= parts && n.Ident[0] == "$labels" {
			w.add(n.Ident[1])
		}
	case *parse.FieldNode:
		if root && len(n.Ident) >= parts && n.Ident[0] == "Labels" {
			w.add(n.Ident[1])
		}
	case *parse.PipeNode:
		w.pipe(n, root)
	case *parse.ChainNode:
		w.argument(n.Node, root)
	}
}

func calls(n parse.Node, function string) bool {
	id, ok := n.(*parse.IdentifierNode)
	return ok && id.Ident == function
}

func isLabels(n parse.Node) bool {
	v, ok := n.(*parse.VariableNode)
	return ok && len(v.Ident) == 1 && v.Ident[0] == "$labels"
}
