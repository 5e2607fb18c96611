package strictyaml

import (
	"regexp"
	"strings"

	"gopkg.in/yaml.v3"
)

// unrendered is what to do about a file that is the template of one.
const unrendered = `this is a template, to be rendered first, as "helm template" does`

// chart finds what templates of Helm have and those of Prometheus do not: an object of
// Helm (helm.sh/docs/chart_template_guide/builtin_objects), or one of its functions.
var chart = regexp.MustCompile(`\{\{-?[^}"]*(\.(Values|Release|Chart|Capabilities|Files|Template)\b|\b(include|toYaml|tpl) )`)

// statement finds a line that is one of a template and no YAML: of Helm, or of Jinja.
var statement = regexp.MustCompile(`^\s*(\{\{|\{%)`)

// bare finds a value that begins with {{ and has no quotes.
var bare = regexp.MustCompile(`[:-] +\{\{`)

// templateHint returns what to add to the message about a file that is no YAML, where a
// template in the line, or one of Helm anywhere, is why.
func templateHint(data []byte, line int) string {
	text := lineOf(data, line)
	switch {
	case chart.Match(data), statement.MatchString(text):
		return ": " + unrendered
	case bare.MatchString(text):
		return ": a value that begins with {{ needs quotes"
	}
	return ""
}

// isTemplate says whether a node is {{ ... }} without quotes, which for YAML is a mapping
// within a mapping.
func isTemplate(n *yaml.Node) bool {
	return n.Kind == yaml.MappingNode && n.Style&yaml.FlowStyle != 0 && len(n.Content) > 0 && n.Content[0].Kind == yaml.MappingNode
}

// describeTemplate says what is found in the place of another value.
func describeTemplate(n *yaml.Node) string {
	inner := n.Content[0]
	if len(inner.Content) > 0 && strings.HasPrefix(inner.Content[0].Value, "$") {
		return "{{ ... }} without quotes, which it needs"
	}
	return "{{ ... }} without quotes: " + unrendered
}

// unrenderedPlace finds {{ ... }} without quotes; nil if there is none.
func unrenderedPlace(n *yaml.Node) *yaml.Node {
	if isTemplate(n) {
		return n
	}
	for _, c := range n.Content {
		if at := unrenderedPlace(c); at != nil {
			return at
		}
	}
	return nil
}
