package strictyaml

import "gopkg.in/yaml.v3"

// hiddenText replaces a secret.
const hiddenText = "<secret>"

// Redacted returns the document without expansion and comments, and with "<secret>" for every
// scalar for which secret returns true. secret is called for every key and list element,
// with its path and the nearest key. If it returns true for a list or a mapping, all scalars
// below are hidden. shown returns the output for other scalars; it gets the elements of a
// list together, and any other scalar as a list of one. For a file that is not YAML,
// Redacted returns nil.
func (d *Document) Redacted(secret func(path, key string) bool, shown func(list []string) []string) []byte {
	if d.root == nil {
		return nil
	}
	r := redactor{secret: secret, shown: shown, hidden: map[*yaml.Node]bool{}, texts: map[*yaml.Node]string{}, copies: map[*yaml.Node]*yaml.Node{}}
	r.mark(d.root, "", "", false)
	text, err := yaml.Marshal(r.copy(d.root))
	if err != nil {
		return nil
	}
	return text
}

type redactor struct {
	secret func(path, key string) bool
	shown  func(list []string) []string
	hidden map[*yaml.Node]bool
	// texts are the replacements of scalars that shown has changed.
	texts  map[*yaml.Node]string
	copies map[*yaml.Node]*yaml.Node
}

// mark finds the scalars to hide. It follows an alias with the path of the alias: a scalar
// that is secret at one path is hidden at all paths.
func (r *redactor) mark(n *yaml.Node, path, key string, hide bool) {
	n = deref(n)
	hide = hide || r.secret(path, key)
	switch n.Kind {
	case yaml.ScalarNode:
		if hide && !isNull(n) {
			r.hidden[n] = true
		}
		r.show(n)
	case yaml.SequenceNode:
		r.show(n.Content...)
		for i, c := range n.Content {
			r.mark(c, PathIndex(path, i), key, hide)
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if k := deref(n.Content[i]); isMerge(k) {
				r.markMerged(n.Content[i+1], path, key, hide)
			} else {
				r.show(k)
				r.mark(n.Content[i+1], PathKey(path, k.Value), k.Value, hide)
			}
		}
	}
}

// show stores the replacements of the scalars of a list. An alias may be in two lists: text
// that is hidden in one is hidden in both.
func (r *redactor) show(list ...*yaml.Node) {
	texts := make([]string, len(list))
	for i, n := range list {
		if n = deref(n); n.Kind == yaml.ScalarNode {
			texts[i] = n.Value
			if text, ok := r.texts[n]; ok {
				texts[i] = text
			}
		}
	}
	for i, text := range r.shown(texts) {
		if text != texts[i] {
			r.texts[deref(list[i])] = text
		}
	}
}

func (r *redactor) markMerged(n *yaml.Node, path, key string, hide bool) {
	if n = deref(n); n.Kind != yaml.SequenceNode {
		r.mark(n, path, key, hide)
		return
	}
	for _, c := range n.Content {
		r.mark(c, path, key, hide)
	}
}

func (r *redactor) copy(n *yaml.Node) *yaml.Node {
	if done := r.copies[n]; done != nil {
		return done
	}
	c := &yaml.Node{Kind: n.Kind, Style: n.Style, Tag: n.Tag, Value: n.Value, Anchor: n.Anchor}
	r.copies[n] = c
	switch {
	case n.Kind == yaml.AliasNode:
		c.Alias = r.copy(n.Alias)
	case isMerge(n):
		c.Tag = "" // else it is written as "!!merge <<"
	case r.hidden[n]:
		c.Value, c.Tag, c.Style = hiddenText, "!!str", 0
	default:
		if text, ok := r.texts[n]; ok {
			c.Value, c.Tag, c.Style = text, "!!str", n.Style&^yaml.TaggedStyle
		}
	}
	for _, child := range n.Content {
		c.Content = append(c.Content, r.copy(child))
	}
	return c
}
