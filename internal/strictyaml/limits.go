package strictyaml

import (
	"fmt"

	"gopkg.in/yaml.v3"
)

const (
	// maxExpansion bounds the size of a file with its aliases expanded, as a multiple of
	// its own. The size of a node is nodeCost and the length of its text. A file without
	// aliases is always smaller: YAML has at most one node per byte, in "{a,b,c}". A file
	// below minExpanded may be expanded like one of that size.
	maxExpansion = 16
	minExpanded  = 1 << 20
	nodeCost     = 8
	// maxDepth bounds the nesting of lists and mappings.
	maxDepth = 100
)

// oversize finds deep nesting and aliases of aliases, which make a small file large. It is
// linear in the file, because it visits every node once. size is that of the file in bytes.
func oversize(root *yaml.Node, size int) (at *yaml.Node, problem string) {
	m := measure{done: map[*yaml.Node]extent{}, limit: maxExpansion * max(size, minExpanded)}
	whole := m.node(root, 0)
	if m.problem == "" && whole.size > m.limit {
		return root, fmt.Sprintf("aliases make the file larger than %d MiB", m.limit>>20)
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
	limit   int
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
		e.size = min(e.size+c.size, 2*m.limit) // stays far from an overflow
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
