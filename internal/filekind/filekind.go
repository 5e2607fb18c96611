// Package filekind detects the kind of a YAML file by its top-level keys, for the error
// about a file of the wrong kind.
package filekind

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vitals-health/vitals/internal/strictyaml"
)

// Kind is the purpose of a file.
type Kind int

// The kinds of files.
const (
	// Unknown is a file whose keys belong to no kind.
	Unknown Kind = iota
	// Config is a configuration of Vitals.
	Config
	// Rules is a rule file of Prometheus, or a PrometheusRule object.
	Rules
	// Tests is a file of unit tests in the format of "promtool test rules".
	Tests
	// Manifest is a file of Kubernetes objects.
	Manifest
	// prometheus is a configuration of Prometheus itself.
	prometheus
)

// String returns the kind as in "expected a rule file".
func (k Kind) String() string {
	switch k {
	case Config:
		return "a configuration of Vitals"
	case Rules:
		return "a rule file"
	case Tests:
		return "a file of unit tests"
	case Manifest:
		return "a Kubernetes manifest"
	case prometheus:
		return "a configuration of Prometheus"
	}
	return "an unknown file"
}

// Instead returns the mistakes of a file that was read as one of kind want. If the file is
// of another kind, it returns a single mistake with the command for that kind.
func Instead(name string, data []byte, want Kind, mistakes []error) []error {
	if len(mistakes) == 0 {
		return mistakes
	}
	var found []Kind
	object := ""
	documents, _ := strictyaml.Parts(name, data)
	for i, d := range documents {
		found = append(found, kinds(&d)...)
		if i == 0 {
			object = d.Text("kind")
		}
	}
	if len(found) == 0 || slices.Contains(found, want) {
		return mistakes
	}
	return []error{&strictyaml.Error{
		File: name, Line: 1, Col: 1,
		Text: fmt.Sprintf("looks like %s, expected %s: %s", found[0], want, usage(found[0], name, object)),
	}}
}

// kinds returns the possible kinds of a document by its keys, the likeliest first.
func kinds(d *strictyaml.Part) []Kind {
	var all map[string]any
	doc, _ := d.Decode(&all) // mistakes do not matter here
	has := func(keys ...string) bool { return slices.ContainsFunc(keys, doc.Has) }
	object := d.Text("kind")
	var found []Kind
	if has("global", "scrape_configs", "alerting", "remote_write") {
		found = append(found, prometheus)
	}
	if has("collectors", "server") {
		found = append(found, Config)
	}
	if has("tests", "group_eval_order", "fuzzy_compare") {
		found = append(found, Tests)
	}
	ours := strings.HasPrefix(object, "PrometheusRule")
	if has("apiVersion") && object != "" && !ours {
		found = append(found, Manifest)
	}
	if has("groups") || ours || object == "List" { // a List may contain PrometheusRules
		found = append(found, Rules)
	}
	if len(found) == 0 && has("rule_files", "evaluation_interval", "states") {
		return []Kind{Config, Tests}
	}
	return found
}

// usage returns how to use a file of a kind.
func usage(k Kind, name, object string) string {
	if strings.ContainsAny(name, " '\"$*?") {
		name = "FILE"
	}
	switch k {
	case Config:
		return fmt.Sprintf("\"vitals check config %[1]s\" checks it, and \"vitals run --config.file=%[1]s\" starts with it", name)
	case Rules:
		return fmt.Sprintf("\"vitals check rules %s\" checks it, and a configuration names it in rule_files", name)
	case Tests:
		return fmt.Sprintf("\"vitals test rules %s\" runs it", name)
	case prometheus:
		return "Vitals reads the rule files that it names, and has a configuration of its own"
	}
	if object == "ConfigMap" || object == "Secret" {
		return "give what is in its data as files of their own"
	}
	return fmt.Sprintf("\"vitals check rules --manifest=%s RULES...\" checks its probes", name)
}
