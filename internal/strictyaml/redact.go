package strictyaml

import (
	"regexp"

	"gopkg.in/yaml.v3"
)

// hiddenText stands where a secret was.
const hiddenText = "<secret>"

// userinfo is the part of a URL between its scheme and the last "@": greedy, so
// that a password with a slash in it is hidden whole.
var userinfo = regexp.MustCompile(`(://)[^\s"'<>]*@`)

// Redacted returns the document as it was written, nothing expanded, without
// comments, and with "<secret>" for every scalar for which secret is true and for
// the user information of URLs. secret is asked for every key and list element,
// with its path and the nearest key; if it is true for a list or a mapping, all
// scalars below it are hidden. A file that is not YAML yields nothing.
func (d *Document) Redacted(secret func(path, key string) bool) []byte {
	if d.root == nil {
		return nil
	}
	r := redactor{secret: secret, hidden: map[*yaml.Node]bool{}, copies: map[*yaml.Node]*yaml.Node{}}
	r.mark(d.root, "", "", false)
	text, err := yaml.Marshal(r.copy(d.root))
	if err != nil {
		return nil
	}
	return text
}

type redactor struct {
	secret func(path, key string) bool
	hidden map[*yaml.Node]bool
	copies map[*yaml.Node]*yaml.Node
}

// mark finds the scalars to hide. An alias is followed with its own path: what is
// secret in one place is hidden in all places.
func (r *redactor) mark(n *yaml.Node, path, key string, hide bool) {
	n = deref(n)
	hide = hide || r.secret(path, key)
	switch n.Kind {
	case yaml.ScalarNode:
		if hide && !isNull(n) {
			r.hidden[n] = true
		}
	case yaml.SequenceNode:
		for i, c := range n.Content {
			r.mark(c, PathIndex(path, i), key, hide)
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if k := deref(n.Content[i]); isMerge(k) {
				r.markMerged(n.Content[i+1], path, key, hide)
			} else {
				r.mark(n.Content[i+1], PathKey(path, k.Value), k.Value, hide)
			}
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
	case n.Kind == yaml.ScalarNode && userinfo.MatchString(n.Value):
		c.Value, c.Style = userinfo.ReplaceAllString(n.Value, "${1}"+hiddenText+"@"), n.Style&^yaml.TaggedStyle
	}
	for _, child := range n.Content {
		c.Content = append(c.Content, r.copy(child))
	}
	return c
}
