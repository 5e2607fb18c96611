package strictyaml

import (
	"fmt"

	"gopkg.in/yaml.v3"
)

const (
	// maxExpanded bounds the size of a file with its aliases expanded. The size of a node
	// is nodeCost and the length of its text. A file of maxSize without aliases is always
	// smaller: YAML has at most one node per byte, in "{a,b,c}".
	maxExpanded = 16 << 20
	nodeCost    = 8
	// maxDepth bounds the nesting of lists and mappings.
	maxDepth = 100
)

// oversize finds deep nesting and aliases of aliases, which make a small file large. It is
// linear in the file, because it visits every node once.
func oversize(root *yaml.Node) (at *yaml.Node, problem string) {
	m := measure{done: map[*yaml.Node]extent{}}
	whole := m.node(root, 0)
	if m.problem == "" && whole.size > maxExpanded {
		return root, fmt.Sprintf("aliases make the file larger than %d MiB", maxExpanded>>20)
	}
	return m.at, m.problem
}

// extent is the size of a node with its aliases expanded.
type extent struct {
	size   int
	height int
	open   bool // the node is being measured: an alias to it contains itself
}

type measure struct {
	done    map[*yaml.Node]extent
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
	e, seen := m.done[n]
	switch {
	case e.open:
		return m.fail(at, "alias %s contains itself", quote(at.Value))
	case depth+e.height > maxDepth:
		return m.fail(at, "nested deeper than %d levels", maxDepth)
	case seen:
		return e
	}
	m.done[n] = extent{open: true}
	e = extent{size: nodeCost + len(n.Value)}
	for _, child := range n.Content {
		c := m.node(child, depth+1)
		e.size = min(e.size+c.size, 2*maxExpanded) // stays far from an overflow
		e.height = max(e.height, c.height+1)
	}
	m.done[n] = e
	return e
}

// deref returns the node of an alias, or n.
func deref(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}
