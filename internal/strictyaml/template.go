package strictyaml

import (
	"regexp"
	"strings"

	"gopkg.in/yaml.v3"
)

// unrendered is the message for a template.
const unrendered = `this is a template, to be rendered first, as "helm template" does`

// chart matches templates of Helm but not of Prometheus: an object of Helm
// (helm.sh/docs/chart_template_guide/builtin_objects), or one of its functions.
var chart = regexp.MustCompile(`\{\{-?[^}"]*(\.(Values|Release|Chart|Capabilities|Files|Template)\b|\b(include|toYaml|tpl) )`)

// statement matches a statement of a template of Helm or Jinja.
var statement = regexp.MustCompile(`^\s*(\{\{|\{%)`)

// bare matches a value that begins with {{ without quotes.
var bare = regexp.MustCompile(`[:-] +\{\{`)

// templateHint returns a hint for the message about invalid YAML if the line has a template,
// or the file has one of Helm.
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

// isTemplate reports whether a node is {{ ... }} without quotes, which in YAML is a mapping
// within a mapping.
func isTemplate(n *yaml.Node) bool {
	return n.Kind == yaml.MappingNode && n.Style&yaml.FlowStyle != 0 && len(n.Content) > 0 && n.Content[0].Kind == yaml.MappingNode
}

// describeTemplate describes a template for messages.
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
