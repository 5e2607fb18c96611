package file

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// yamlFile is the documents of a YAML text. Aliases are not expanded, so that a small text
// stays small.
type yamlFile []*yaml.Node

// parseYAML reads any number of documents, none included.
func parseYAML(data []byte) (func(Key) bool, *Mistake) {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var file yamlFile
	for {
		document, err := nextYAML(decoder)
		switch {
		case errors.Is(err, io.EOF):
			return file.has, nil
		case err != nil:
			return nil, yamlMistake(err)
		}
		if twice := yamlDuplicate(document); twice != nil {
			return nil, &Mistake{twice.Line, twice.Column, "not valid YAML: a key appears twice in a mapping"}
		}
		file = append(file, document)
	}
}

// nextYAML reads the next document. The library panics on some malformed texts.
func nextYAML(d *yaml.Decoder) (n *yaml.Node, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = errors.New("yaml: malformed")
		}
	}()
	n = new(yaml.Node)
	return n, d.Decode(n)
}

var yamlPlace = regexp.MustCompile(`^yaml: line (\d{1,9}): (did not find expected (?:key|'-' indicator|',' or|node content|<document start>))?`)

// yamlMistake keeps only the line of an error of the library: its text may quote the content.
// The library names no line for line 1, counts from zero in the messages of its parser, and
// has no line for two kinds of mistakes.
func yamlMistake(err error) *Mistake {
	text := err.Error()
	switch {
	case strings.HasPrefix(text, "yaml: unknown anchor"):
		return &Mistake{Text: "not valid YAML: an alias without its anchor"}
	case strings.HasPrefix(text, "yaml: control characters"):
		return &Mistake{Text: "not valid YAML: a control character"}
	}
	wrong := &Mistake{Line: 1, Text: "not valid YAML, at this line or in the block that begins there"}
	if found := yamlPlace.FindStringSubmatch(text); found != nil {
		wrong.Line, _ = strconv.Atoi(found[1])
		if found[2] != "" {
			wrong.Line++
		}
	}
	return wrong
}

// yamlDuplicate returns a key that appears twice in its mapping, or nil.
func yamlDuplicate(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.MappingNode {
		type scalar struct{ tag, value string }
		seen := make(map[scalar]bool, len(n.Content)/2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := yamlTarget(n.Content[i])
			if key.Kind != yaml.ScalarNode || isYAMLMerge(key) {
				continue
			}
			id := scalar{key.ShortTag(), key.Value}
			if seen[id] {
				return n.Content[i]
			}
			seen[id] = true
		}
	}
	for _, child := range n.Content {
		if twice := yamlDuplicate(child); twice != nil {
			return twice
		}
	}
	return nil
}

// has reports whether one of the documents has the key.
func (f yamlFile) has(key Key) bool {
	for _, document := range f {
		n := document
		if len(n.Content) > 0 {
			n = n.Content[0]
		}
		for _, step := range key {
			if n = yamlChild(n, step); n == nil {
				break
			}
		}
		if n != nil {
			return true
		}
	}
	return false
}

// yamlChild returns the child at one step, or nil.
func yamlChild(n *yaml.Node, step step) *yaml.Node {
	n = yamlTarget(n)
	switch {
	case n.Kind == yaml.MappingNode:
		return yamlEntry(n, step.Name, make(map[*yaml.Node]bool))
	case n.Kind == yaml.SequenceNode && step.Index >= 0 && step.Index < len(n.Content):
		return n.Content[step.Index]
	}
	return nil
}

// yamlEntry finds a key in a mapping and in those merged into it
// (https://yaml.org/type/merge.html). Each is visited once: they may merge each other.
func yamlEntry(n *yaml.Node, name string, visited map[*yaml.Node]bool) *yaml.Node {
	n = yamlTarget(n)
	if visited[n] {
		return nil
	}
	visited[n] = true
	switch n.Kind {
	case yaml.SequenceNode: // of merged mappings
		for _, item := range n.Content {
			if found := yamlEntry(item, name, visited); found != nil {
				return found
			}
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := yamlTarget(n.Content[i])
			if key.Kind == yaml.ScalarNode && key.Value == name && !isYAMLMerge(key) {
				return n.Content[i+1]
			}
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			if isYAMLMerge(n.Content[i]) {
				if found := yamlEntry(n.Content[i+1], name, visited); found != nil {
					return found
				}
			}
		}
	}
	return nil
}

// isYAMLMerge reports whether a key merges the value into its mapping.
func isYAMLMerge(key *yaml.Node) bool {
	return key.Kind == yaml.ScalarNode && key.Value == "<<" && key.ShortTag() == "!!merge"
}

// yamlTarget resolves an alias.
func yamlTarget(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		return n.Alias
	}
	return n
}
