package alerts

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/vitals-health/vitals/internal/strictyaml"
	"github.com/vitals-health/vitals/rules"
	"github.com/vitals-health/vitals/rules/lint"
)

// objectYAML is a PrometheusRule of the Prometheus Operator.
type objectYAML struct {
	APIVersion string       `yaml:"apiVersion"`
	Kind       string       `yaml:"kind"`
	Metadata   metadataYAML `yaml:"metadata"`
	Spec       rulesYAML    `yaml:"spec"`

	// comment are lines that begin with "#".
	comment string
}

// MarshalYAML writes the object's comment above it.
func (o objectYAML) MarshalYAML() (any, error) {
	type plain objectYAML
	return commented(o.comment, plain(o))
}

type metadataYAML struct {
	Name   string            `yaml:"name"`
	Labels map[string]string `yaml:"labels"`
}

const objectsHead = `# Rules for the Prometheus Operator, made by "vitals generate alerts": the alerts about
# Vitals, and one object for each rule file. Vitals itself reads such an object as well.
`

// objects makes prometheusrule.yaml.
func (s *set) objects() ([]byte, error) {
	all := []any{object("vitals", []groupYAML{s.group()}, "")}
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
		comments := map[*rules.Rule]string{}
		for _, c := range lint.Comments(f) {
			comments[c.Rule] = strings.TrimPrefix(comments[c.Rule]+"\n"+c.Text, "\n")
		}
		var groups []groupYAML
		for i := range f.Groups {
			groups = append(groups, groupOf(&f.Groups[i], comments))
		}
		all = append(all, object(name, groups, comments[nil]))
	}
	text, err := strictyaml.EncodeAll(all...)
	return append([]byte(objectsHead), text...), err
}

func object(name string, groups []groupYAML, comment string) objectYAML {
	return objectYAML{
		comment:    comment,
		APIVersion: "monitoring.coreos.com/v1", Kind: "PrometheusRule",
		Metadata: metadataYAML{name, map[string]string{"app.kubernetes.io/name": "vitals"}}, Spec: rulesYAML{groups},
	}
}

// notInNames is what a Kubernetes object cannot have in its name.
var notInNames = regexp.MustCompile(`[^a-z0-9]+`)

// objectName makes a name for a Kubernetes object of a rule file's name.
func objectName(file string) string {
	name := path.Base(file)
	if _, shipped, ok := strings.Cut(name, ":"); ok { // builtin:NAME
		name = shipped
	}
	name = strings.TrimSuffix(name, path.Ext(name))
	return inName(name)
}

// inName makes of a text what can stand in the name of an object.
func inName(text string) string {
	return strings.Trim(notInNames.ReplaceAllString(strings.ToLower(text), "-"), "-")
}

// groupOf is a group of a rule file as it is written, with the comments that accept what is
// found in its rules: the object is checked as its file is.
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

const serviceMonitor = `# Scrapes every Service with the label app.kubernetes.io/name: vitals and a port named
# health, for the Prometheus Operator; made by "vitals generate alerts".
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata:
  name: vitals
  labels:
    app.kubernetes.io/name: vitals
spec:
  namespaceSelector:
    any: true
  selector:
    matchLabels:
      app.kubernetes.io/name: vitals
  endpoints:
    - port: health
      path: /metrics
      interval: 15s
      scrapeTimeout: 5s
`

const podMonitor = `# Scrapes every container named vitals that has a port named health, as those of
# deploy/kubernetes/ do, for the Prometheus Operator; made by "vitals generate alerts".
apiVersion: monitoring.coreos.com/v1
kind: PodMonitor
metadata:
  name: vitals
  labels:
    app.kubernetes.io/name: vitals
spec:
  namespaceSelector:
    any: true
  selector: {}
  podMetricsEndpoints:
    - port: health
      path: /metrics
      interval: 15s
      scrapeTimeout: 5s
      relabelings:
        - action: keep
          sourceLabels: [__meta_kubernetes_pod_container_name]
          regex: vitals
`

// serviceMonitor makes servicemonitor.yaml.
func (s *set) serviceMonitor() ([]byte, error) {
	text := serviceMonitor
	if job := s.jobRelabeling(); job != "" {
		text += "      relabelings:\n" + job
	}
	return []byte(text), nil
}

// podMonitor makes podmonitor.yaml.
func (s *set) podMonitor() ([]byte, error) {
	return []byte(podMonitor + s.jobRelabeling()), nil
}

// jobRelabeling gives targets the job by which the alerts know them, where they know them
// by one.
func (s *set) jobRelabeling() string {
	for _, m := range s.matchers {
		if m.Name == "job" && m.Type == labels.MatchEqual {
			return fmt.Sprintf("        - targetLabel: job # as the alerts select it\n          replacement: %s\n", strings.ReplaceAll(quoted(m.Value), "$", "$$"))
		}
	}
	return ""
}

// quoted is a string in YAML: a JSON string is one.
func quoted(s string) string { return fmt.Sprintf("%q", s) }
