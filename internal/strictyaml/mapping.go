package strictyaml

import (
	"fmt"

	"gopkg.in/yaml.v3"
)

// entry is one key of a mapping and its value, which may be an alias.
type entry struct {
	key, value *yaml.Node
}

// report reports a mistake in a mapping; nil discards it.
type report func(at *yaml.Node, text string)

// entries returns the keys of a mapping in the order of the file, followed by those of merge
// keys ("<<: *base") that the mapping does not have. The first of duplicate keys counts.
func entries(n *yaml.Node, report report) []entry {
	if report == nil {
		report = func(*yaml.Node, string) {}
	}
	var (
		list   []entry
		merged []*yaml.Node
		lines  = map[string]int{}
	)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := deref(n.Content[i]), n.Content[i+1]
		first, repeated := lines[key.Value]
		switch {
		case key.Kind != yaml.ScalarNode || isNull(key):
			report(n.Content[i], "expected a string as the key, got "+describe(key))
			continue
		case repeated:
			report(n.Content[i], fmt.Sprintf("duplicate key %s, expected it once (first at line %d)", quote(key.Value), first))
			continue
		case isMerge(key):
			merged = append(merged, value)
		default:
			list = append(list, entry{key, value})
		}
		lines[key.Value] = n.Content[i].Line
	}
	for _, m := range merged {
		for _, e := range mergedEntries(m, report) {
			if _, repeated := lines[e.key.Value]; !repeated {
				lines[e.key.Value] = e.key.Line
				list = append(list, e)
			}
		}
	}
	return list
}

// mergedEntries returns the entries of a merge key: those of a mapping, or of a list of
// mappings in their order.
func mergedEntries(at *yaml.Node, report report) []entry {
	n := deref(at)
	switch n.Kind {
	case yaml.MappingNode:
		return entries(n, report)
	case yaml.SequenceNode:
		var list []entry
		for _, c := range n.Content {
			if deref(c).Kind != yaml.MappingNode {
				report(c, `expected a mapping to merge with "<<", got `+describe(c))
				continue
			}
			list = append(list, entries(deref(c), report)...)
		}
		return list
	}
	report(at, `expected a mapping to merge with "<<", got `+describe(at))
	return nil
}

func isMerge(key *yaml.Node) bool { return key.Value == "<<" && key.ShortTag() == "!!merge" }

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }
