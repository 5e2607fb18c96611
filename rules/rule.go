package rules

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/internal/strictyaml"
)

// alertName matches names that need no escaping in the path of a probe.
var alertName = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9_]*$`)

// rule checks and converts one rule. What a probe needs is checked for a rule of a state
// only: all others are loaded as in Prometheus. groupPath and groupLabels are those of its group.
func (p *fileParser) rule(path string, raw rawRule, groupPath string, groupLabels map[string]string) Rule {
	r := Rule{
		Alert: raw.Alert, Record: raw.Record, Expr: raw.Expr,
		For: time.Duration(raw.For), KeepFiringFor: time.Duration(raw.KeepFiringFor),
		Annotations: raw.Annotations, path: path, templates: p.opts.Templates,
	}
	r.Line, r.Col = p.doc.Position(path)
	r.Labels = merge(groupLabels, raw.Labels)
	r.Severity = r.Labels["severity"]
	if !p.doc.Broken(path + ".expr") {
		r.AST = p.expr(path, raw.Expr)
	}
	// A value that the decoder refused is empty here. The other ones are checked, so that one
	// run reports all mistakes of a rule.
	if !p.doc.Broken(path+".alert") && !p.doc.Broken(path+".record") {
		p.names(path, raw)
	}
	p.labelNames(path+".labels", raw.Labels)
	for _, name := range slices.Sorted(maps.Keys(raw.Annotations)) {
		if !model.UTF8Validation.IsValidLabelName(name) {
			p.fail(strictyaml.PathKey(path+".annotations", name), "invalid annotation name %q", clip(name))
		}
	}
	if raw.Alert == "" && !p.doc.Broken(path+".alert") {
		p.recording(path, raw)
		return r
	}
	p.templates(path+".labels", raw.Labels)
	p.templates(path+".annotations", raw.Annotations)
	at := probePaths{rule: path, labels: path + ".labels", groupLabels: groupPath + ".labels", own: raw.Labels}
	p.probe(at, &r)
	return r
}

// names checks the name of the rule.
func (p *fileParser) names(path string, raw rawRule) {
	switch {
	case raw.Record != "" && raw.Alert != "":
		p.fail(path, `expected one of "record" and "alert", got both`)
	case raw.Record == "" && raw.Alert == "":
		p.fail(path, `expected one of "record" and "alert", got none`)
	}
	if raw.Record == "" {
		return
	}
	switch {
	case strings.ContainsAny(raw.Record, "{}"):
		p.fail(path+".record", "braces in the name %q, expected a metric name; an expression belongs to expr", clip(raw.Record))
	case !model.UTF8Validation.IsValidMetricName(raw.Record):
		p.fail(path+".record", "invalid metric name %q", clip(raw.Record))
	}
}

// recording rejects keys that a recording rule, or a rule without a name, must not have.
func (p *fileParser) recording(path string, raw rawRule) {
	if raw.Record == "" {
		return
	}
	if len(raw.Annotations) > 0 {
		p.fail(path+".annotations", "annotations in a recording rule, expected them in alerting rules only")
	}
	if raw.For != 0 {
		p.fail(path+".for", "for in a recording rule, expected it in alerting rules only")
	}
	if raw.KeepFiringFor != 0 {
		p.fail(path+".keep_firing_for", "keep_firing_for in a recording rule, expected it in alerting rules only")
	}
	if label := p.opts.stateLabel(); slices.Contains(p.opts.States, raw.Labels[label]) {
		p.fail(strictyaml.PathKey(path+".labels", label), "state of a recording rule, expected it in alerting rules only: only an alert can feed a state")
	}
}

// labelNames checks the names and values of labels as Prometheus does.
func (p *fileParser) labelNames(path string, labels map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		if !model.UTF8Validation.IsValidLabelName(name) || name == model.MetricNameLabel {
			p.fail(strictyaml.PathKey(path, name), "invalid label name %q", clip(name))
		}
		if !model.LabelValue(labels[name]).IsValid() {
			p.fail(strictyaml.PathKey(path, name), "invalid label value %q", clip(labels[name]))
		}
	}
}

// merge returns the labels of a rule: its own, and those of its group that it does not
// override.
func merge(group, own map[string]string) map[string]string {
	if len(group) == 0 {
		return own
	}
	merged := maps.Clone(group)
	maps.Copy(merged, own)
	return merged
}
