package manifest

import (
	"fmt"
	"strconv"

	"gopkg.in/yaml.v3"

	"github.com/vitals-health/vitals/internal/strictyaml"
)

// most is the largest valid number: that of Kubernetes' int32.
const most = 1<<31 - 1

// pair is a key with its value.
type pair struct{ key, value *yaml.Node }

// entries returns the entries of a mapping, followed by those of merged mappings. The first
// entry of a key counts.
func entries(n *yaml.Node) []pair {
	n = deref(n)
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	var own, merged []pair
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Tag != "!!merge" {
			own = append(own, pair{key, value})
			continue
		}
		if from := deref(value); from.Kind == yaml.SequenceNode {
			for _, m := range from.Content {
				merged = append(merged, entries(m)...)
			}
		} else {
			merged = append(merged, entries(from)...)
		}
	}
	return append(own, merged...)
}

// entry returns a key of a mapping and its value with aliases resolved, or nil.
func entry(n *yaml.Node, key string) (at, value *yaml.Node) {
	for _, e := range entries(n) {
		if e.key.Value == key {
			return e.key, deref(e.value)
		}
	}
	return nil, nil
}

// get returns the node at a path of keys, or nil.
func get(n *yaml.Node, path ...string) *yaml.Node {
	for _, key := range path {
		_, n = entry(n, key)
	}
	return n
}

// elements returns the elements of a list.
func elements(n *yaml.Node) []*yaml.Node {
	if n = deref(n); n == nil || n.Kind != yaml.SequenceNode {
		return nil
	}
	return n.Content
}

// text returns the text of a scalar, and "" for any other node.
func text(n *yaml.Node) string {
	if n = deref(n); n == nil || n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		return ""
	}
	return n.Value
}

func texts(n *yaml.Node) []string {
	var all []string
	for _, e := range elements(n) {
		all = append(all, text(e))
	}
	return all
}

func deref(n *yaml.Node) *yaml.Node {
	if n != nil && n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// lines returns the first position of a node and the last line of its value.
func lines(at, value *yaml.Node) Lines {
	return Lines{at.Line, at.Column, max(at.Line, last(value))}
}

// last returns the last line of a node. It does not follow aliases.
func last(n *yaml.Node) int {
	line := n.Line
	for _, c := range n.Content {
		line = max(line, last(c))
	}
	return line
}

// whole parses a whole number from 0 to most.
func whole(s string) (int, bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	return int(n), err == nil && n >= 0 && n <= most
}

func (r *reader) fail(n *yaml.Node, format string, args ...any) {
	r.errs = append(r.errs, &strictyaml.Error{File: r.file.Name, Line: max(n.Line, 1), Col: max(n.Column, 1), Text: fmt.Sprintf(format, args...)})
}
