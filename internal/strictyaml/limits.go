package strictyaml

import (
	"fmt"

	"gopkg.in/yaml.v3"
)

const (
	// maxExpanded bounds what a file becomes once its aliases are followed; every
	// node counts nodeCost and the length of its text. A file of maxSize without
	// aliases stays below it: at its densest, "{a,b,c}", YAML has a node a byte.
	maxExpanded = 16 << 20
	nodeCost    = 8
	// maxDepth bounds how deep lists and mappings may be nested.
	maxDepth = 100
)

// oversize looks for what makes a small file large: nesting, and aliases of
// aliases. Every node is visited once, so it is linear in the file.
func oversize(root *yaml.Node) (at *yaml.Node, problem string) {
	m := measure{known: map[*yaml.Node]extent{}}
	whole := m.node(root, 0)
	if m.problem == "" && whole.size > maxExpanded {
		return root, fmt.Sprintf("aliases make the file larger than %d MiB", maxExpanded>>20)
	}
	return m.at, m.problem
}

// extent is how large a node is with its aliases followed.
type extent struct {
	size   int
	height int
	open   bool // the node is being measured: an alias to it contains itself
}

type measure struct {
	known   map[*yaml.Node]extent
	at      *yaml.Node
	problem string
}

func (m *measure) fail(at *yaml.Node, format string, args ...any) extent {
	if m.problem == "" {
		m.at, m.problem = at, fmt.Sprintf(format, args...)
	}
	return extent{}
}

func (m *measure) node(at *yaml.Node, depth int) extent {
	n := deref(at)
	e, seen := m.known[n]
	switch {
	case e.open:
		return m.fail(at, "alias %s contains itself", quote(at.Value))
	case depth+e.height > maxDepth:
		return m.fail(at, "nested deeper than %d levels", maxDepth)
	case seen:
		return e
	}
	m.known[n] = extent{open: true}
	e = extent{size: nodeCost + len(n.Value)}
	for _, child := range n.Content {
		c := m.node(child, depth+1)
		e.size = min(e.size+c.size, 2*maxExpanded) // stays far from an overflow
		e.height = max(e.height, c.height+1)
	}
	m.known[n] = e
	return e
}

// deref follows an alias to what it stands for.
func deref(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}
