package alerts

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"strings"

	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/internal/strictyaml"
	"github.com/vitals-health/vitals/rules"
	"github.com/vitals-health/vitals/rules/lint"
)

// The YAML form of a PrometheusRule of the Prometheus Operator.
type (
	objectYAML struct {
		APIVersion string       `yaml:"apiVersion"`
		Kind       string       `yaml:"kind"`
		Metadata   metadataYAML `yaml:"metadata"`
		Spec       specYAML     `yaml:"spec"`

		// comment has lines that begin with "#".
		comment string
	}
	metadataYAML struct {
		Name   string            `yaml:"name"`
		Labels map[string]string `yaml:"labels"`
	}
	specYAML struct {
		Groups []groupYAML `yaml:"groups"`
	}
	groupYAML struct {
		Name        string            `yaml:"name"`
		Interval    model.Duration    `yaml:"interval,omitempty"`
		QueryOffset model.Duration    `yaml:"query_offset,omitempty"`
		Limit       int               `yaml:"limit,omitempty"`
		Labels      map[string]string `yaml:"labels,omitempty"`
		Rules       []ruleYAML        `yaml:"rules"`
	}
	ruleYAML struct {
		Record        string            `yaml:"record,omitempty"`
		Alert         string            `yaml:"alert,omitempty"`
		Expr          string            `yaml:"expr"`
		For           model.Duration    `yaml:"for,omitempty"`
		KeepFiringFor model.Duration    `yaml:"keep_firing_for,omitempty"`
		Labels        map[string]string `yaml:"labels,omitempty"`
		Annotations   map[string]string `yaml:"annotations,omitempty"`

		// comment has lines that begin with "#".
		comment string
	}
)

// MarshalYAML writes the comment above the object.
func (o objectYAML) MarshalYAML() (any, error) {
	type plain objectYAML
	return commented(o.comment, plain(o))
}

// MarshalYAML writes the comment above the rule.
func (r ruleYAML) MarshalYAML() (any, error) {
	type plain ruleYAML
	return commented(r.comment, plain(r))
}

func commented(comment string, v any) (any, error) {
	if comment == "" {
		return v, nil
	}
	return strictyaml.Commented(comment, v)
}

const objectsHead = `# Rules for the Prometheus Operator, made by "vitals generate alerts": the alerts about
# Vitals, and one object for each rule file. Vitals itself reads such an object as well.
`

// objects returns prometheusrule.yaml.
func (s *set) objects() ([]byte, error) {
	text, err := s.ruleFile()
	if err != nil {
		return nil, err
	}
	about, errs := rules.Parse("alerts.yml", text, nil)
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	all := []any{objectOf("vitals", about)}
	taken := map[string]bool{"vitals": true}
	for _, f := range s.Rules {
		name := "vitals-" + objectName(f.Name)
		if _, part, ok := strings.Cut(f.Part, " "); ok {
			name += "-" + inName(part)
		}
		if taken[name] || name == "vitals-" {
			return nil, fmt.Errorf("rule file %s: the object would be named %s, expected files whose names differ in letters and digits", f.Name, name)
		}
		taken[name] = true
		all = append(all, objectOf(name, f))
	}
	encoded, err := strictyaml.EncodeAll(all...)
	return append([]byte(objectsHead), encoded...), err
}

// objectOf returns the object for a rule file. It has those comments of the file that
// accept findings of vitals check rules.
func objectOf(name string, f *rules.File) objectYAML {
	comments := map[*rules.Rule]string{}
	for _, c := range lint.Comments(f) {
		comments[c.Rule] = strings.TrimPrefix(comments[c.Rule]+"\n"+c.Text, "\n")
	}
	var groups []groupYAML
	for i := range f.Groups {
		groups = append(groups, groupOf(&f.Groups[i], comments))
	}
	return objectYAML{
		comment:    comments[nil],
		APIVersion: "monitoring.coreos.com/v1", Kind: "PrometheusRule",
		Metadata: metadataYAML{name, map[string]string{"app.kubernetes.io/name": "vitals"}}, Spec: specYAML{groups},
	}
}

// notInNames matches what the name of a Kubernetes object cannot contain.
var notInNames = regexp.MustCompile(`[^a-z0-9]+`)

// objectName derives the name of a Kubernetes object from the name of a rule file.
func objectName(file string) string {
	name := path.Base(file)
	if _, shipped, ok := strings.Cut(name, ":"); ok { // builtin:NAME
		name = shipped
	}
	return inName(strings.TrimSuffix(name, path.Ext(name)))
}

// inName replaces what the name of a Kubernetes object cannot contain.
func inName(text string) string {
	return strings.Trim(notInNames.ReplaceAllString(strings.ToLower(text), "-"), "-")
}

// groupOf returns the YAML form of a group. Its rules do not repeat the group's labels.
func groupOf(g *rules.Group, comments map[*rules.Rule]string) groupYAML {
	out := groupYAML{
		Name: g.Name, Interval: model.Duration(g.Interval), QueryOffset: model.Duration(g.QueryOffset),
		Limit: g.Limit, Labels: g.Labels,
	}
	for i := range g.Rules {
		r := &g.Rules[i]
		own := maps.Clone(r.Labels)
		maps.DeleteFunc(own, func(name, value string) bool { return g.Labels[name] == value })
		out.Rules = append(out.Rules, ruleYAML{
			Record: r.Record, Alert: r.Alert, Expr: r.Expr, For: model.Duration(r.For),
			KeepFiringFor: model.Duration(r.KeepFiringFor), Labels: own, Annotations: r.Annotations, comment: comments[r],
		})
	}
	return out
}
