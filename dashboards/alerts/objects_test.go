package alerts_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"gopkg.in/yaml.v3"

	"github.com/vitals-health/vitals/dashboards/alerts"
	"github.com/vitals-health/vitals/rules"
	"github.com/vitals-health/vitals/rules/lint"
)

// someRules is a rule file with all fields.
const someRules = `
groups:
  - name: g
    interval: 30s
    query_offset: 1m
    limit: 5
    labels: {team: net, tier: "1"}
    rules:
      - record: job:up:sum
        expr: sum without (instance) (up)
        labels: {tier: "2"}
      - alert: Down
        expr: |
          up == 0
            and on () vector(1)
        for: 1m30s
        keep_firing_for: 5m
        labels: {state: ready, severity: critical, team: net}
        annotations: {summary: '{{ $labels.job }} is down: "really"', exit_code: 12}
  - name: empty
`

// The types are those of the operator's API monitoring.coreos.com/v1.
type (
	operatorObject[S any] struct {
		APIVersion string `yaml:"apiVersion"`
		Kind       string `yaml:"kind"`
		Metadata   struct {
			Name   string            `yaml:"name"`
			Labels map[string]string `yaml:"labels"`
		} `yaml:"metadata"`
		Spec S `yaml:"spec"`
	}
	monitorSpec struct {
		Namespaces struct {
			Any bool `yaml:"any"`
		} `yaml:"namespaceSelector"`
		Selector struct {
			MatchLabels map[string]string `yaml:"matchLabels"`
		} `yaml:"selector"`
		Endpoints    []endpoint `yaml:"endpoints"`
		PodEndpoints []endpoint `yaml:"podMetricsEndpoints"`
	}
	endpoint struct {
		Port          string       `yaml:"port"`
		Path          string       `yaml:"path"`
		Interval      string       `yaml:"interval"`
		ScrapeTimeout string       `yaml:"scrapeTimeout"`
		Relabelings   []relabeling `yaml:"relabelings"`
	}
	relabeling struct {
		Action       string   `yaml:"action"`
		SourceLabels []string `yaml:"sourceLabels"`
		Regex        string   `yaml:"regex"`
		TargetLabel  string   `yaml:"targetLabel"`
		Replacement  string   `yaml:"replacement"`
	}
)

// strictly decodes every document of a text, without unknown fields.
func strictly[T any](t *testing.T, text string) []T {
	t.Helper()
	d := yaml.NewDecoder(strings.NewReader(text))
	d.KnownFields(true)
	var all []T
	for {
		var one T
		if err := d.Decode(&one); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		all = append(all, one)
	}
}

// A PrometheusRule contains the rules of the file. All values of labels and annotations are
// strings, as the API requires.
func TestObjectsHoldTheRules(t *testing.T) {
	file := ruleFile(t, "conf/My_Rules.yml", someRules)
	objects := strictly[operatorObject[yaml.Node]](t, alertFiles(t, alerts.Options{Rules: []*rules.File{file}})["prometheusrule.yaml"])
	if len(objects) != 2 {
		t.Fatalf("there are %d objects, want one for Vitals and one for the file", len(objects))
	}
	want := []*rules.File{ruleFile(t, "", alertFiles(t, alerts.Options{})["alerts.yml"]), file}
	for i, name := range []string{"vitals", "vitals-my-rules"} {
		o := objects[i]
		if o.APIVersion != "monitoring.coreos.com/v1" || o.Kind != "PrometheusRule" || o.Metadata.Name != name || o.Metadata.Labels["app.kubernetes.io/name"] != "vitals" {
			t.Errorf("object %d is %s %s %+v, want a PrometheusRule named %s", i, o.APIVersion, o.Kind, o.Metadata, name)
		}
		var text bytes.Buffer
		if err := yaml.NewEncoder(&text).Encode(&o.Spec); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(text.String(), `tier: "1"`); n != i { // the group's, which its rules take over
			t.Errorf("%s has a label of the group %d times, want it once and not in its rules", name, n)
		}
		got := ruleFile(t, "", text.String())
		ignore := []cmp.Option{
			cmpopts.IgnoreUnexported(rules.File{}, rules.Rule{}), cmpopts.IgnoreFields(rules.File{}, "Name"), cmpopts.EquateEmpty(),
			cmpopts.IgnoreFields(rules.Group{}, "Line", "Col"), cmpopts.IgnoreFields(rules.Rule{}, "Line", "Col", "AST"),
		}
		if diff := cmp.Diff(want[i], got, ignore...); diff != "" {
			t.Errorf("rules of %s (-file +object):\n%s", name, diff)
		}
	}
	inspectStrings(t, &objects[1].Spec)
}

// An object has those comments of its file that accept findings, in the same places.
func TestObjectsKeepAcceptedFindings(t *testing.T) {
	const text = `# A file of two groups.
# vitals:accept-file V001 none at all
groups:
  - name: first
    rules:
      # An ordinary comment, which is dropped.
      # vitals:accept V021 its text is unused
      - {alert: A, expr: up == 0} # vitals:accept V008,V006: at once
  - name: second
    rules:
      - {record: "b:c", expr: sum(up)}
      - alert: B
        expr: up == 0 # vitals:accept V016 twice
`
	file := ruleFile(t, "commented.yml", text)
	written := alertFiles(t, alerts.Options{Rules: []*rules.File{file}})["prometheusrule.yaml"]
	objects, errs := rules.ParseAll("objects", []byte(written), nil)
	if len(errs) > 0 || len(objects) != 2 {
		t.Fatalf("ParseAll() = %d objects, %v, want 2", len(objects), errs)
	}
	comments := func(f *rules.File) []string {
		var all []string
		for _, c := range lint.Comments(f) {
			of := ""
			if c.Rule != nil {
				of = c.Rule.Name()
			}
			all = append(all, of+" "+c.Text)
		}
		return all
	}
	if diff := cmp.Diff(comments(file), comments(objects[1])); diff != "" {
		t.Errorf("comments (-file +object):\n%s\n%s", diff, written)
	}
	if got := len(comments(objects[0])) + strings.Count(written, "ordinary"); got != 0 || len(comments(file)) != 4 {
		t.Errorf("there are %d other comments, want those of the file alone:\n%s", got, written)
	}
}

// inspectStrings checks that all labels and annotations are strings.
func inspectStrings(t *testing.T, n *yaml.Node) {
	t.Helper()
	for i, child := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 && (child.Value == "labels" || child.Value == "annotations") {
			for j, value := range n.Content[i+1].Content {
				if j%2 == 1 && value.Tag != "!!str" {
					t.Errorf("line %d: %s has the value %s of type %s, want a string", value.Line, child.Value, value.Value, value.Tag)
				}
			}
		}
		inspectStrings(t, child)
	}
}

// The monitors scrape the port that the guide for Kubernetes names, often enough for the alerts, and
// set the job that the alerts select.
func TestMonitors(t *testing.T) {
	files := alertFiles(t, alerts.Options{Selector: `job="my $vitals"`})
	job := relabeling{Action: "replace", TargetLabel: "job", Replacement: "my $$vitals"}
	keep := relabeling{Action: "keep", SourceLabels: []string{"__meta_kubernetes_pod_container_name"}, Regex: "vitals"}
	of := func(relabelings ...relabeling) []endpoint {
		return []endpoint{{Port: "web", Path: "/metrics", Interval: "15s", ScrapeTimeout: "5s", Relabelings: relabelings}}
	}
	for _, tt := range []struct {
		file, kind       string
		selector         map[string]string
		endpoints, inPod []endpoint
	}{
		{"servicemonitor.yaml", "ServiceMonitor", map[string]string{"app.kubernetes.io/name": "vitals"}, of(job), nil},
		{"podmonitor.yaml", "PodMonitor", nil, nil, of(keep, job)},
	} {
		all := strictly[operatorObject[monitorSpec]](t, files[tt.file])
		if len(all) != 1 || all[0].APIVersion != "monitoring.coreos.com/v1" || all[0].Kind != tt.kind || !all[0].Spec.Namespaces.Any {
			t.Fatalf("%s has %+v, want one %s for all namespaces", tt.file, all, tt.kind)
		}
		spec := all[0].Spec
		if diff := cmp.Diff(tt.selector, spec.Selector.MatchLabels, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s selects (-want +got):\n%s", tt.file, diff)
		}
		if diff := cmp.Diff(tt.endpoints, spec.Endpoints); diff != "" {
			t.Errorf("%s has the endpoints (-want +got):\n%s", tt.file, diff)
		}
		if diff := cmp.Diff(tt.inPod, spec.PodEndpoints); diff != "" {
			t.Errorf("%s has the endpoints of pods (-want +got):\n%s", tt.file, diff)
		}
	}
}
