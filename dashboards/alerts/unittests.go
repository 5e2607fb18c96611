package alerts

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/prometheus/prometheus/model/labels"
	"gopkg.in/yaml.v3"
)

// The labels in alerts_test.yml.
const (
	// testTarget begins every series of the instance under test.
	testTarget   = `instance="` + testInstance + `",job="vitals"`
	testInstance = "10.0.0.7:8080"
	// otherJob is the job of the series that the alerts must not select.
	otherJob = "other"
)

// chosenTarget are the parameters of a link to a dashboard that select the target.
var chosenTarget = regexp.MustCompile(`var-job=vitals&var-instance=[^&]*`)

// expectation is an alert that a unit test expects to fire.
type expectation struct {
	Labels      map[string]string `yaml:"exp_labels"`
	Annotations map[string]string `yaml:"exp_annotations"`
}

// tests returns alerts_test.yml, or nil if no labels of a target follow from the selector.
func (s *set) tests() ([]byte, error) {
	target, ok := s.target()
	if !ok {
		return nil, nil
	}
	var series []string
	for _, l := range slices.Sorted(maps.Keys(target)) {
		series = append(series, fmt.Sprintf("%s=%q", l, target[l]))
	}
	return rewrite("alerts_test.yml", func(n *yaml.Node) error {
		switch {
		case n.Kind == yaml.MappingNode && n.Content[0].Value == "exp_labels":
			return s.expect(n, target)
		case strings.Contains(n.Value, testTarget):
			n.Value = strings.Replace(n.Value, testTarget, strings.Join(series, ","), 1)
		default:
			n.Value = s.adapt(n.Value)
		}
		return nil
	})
}

// target returns the labels of a target that the selector matches. It returns false if
// they do not follow from the selector, or if the selector matches otherJob as well.
func (s *set) target() (map[string]string, bool) {
	target := map[string]string{"job": "vitals", "instance": testInstance}
	for _, m := range s.matchers {
		switch values := m.SetMatches(); {
		case m.Type == labels.MatchEqual:
			target[m.Name] = m.Value
		case m.Type == labels.MatchRegexp && len(values) > 0:
			target[m.Name] = values[0]
		}
	}
	return target, s.matches(target) && !s.matches(map[string]string{"job": otherJob})
}

func (s *set) matches(target map[string]string) bool {
	return !slices.ContainsFunc(s.matchers, func(m *labels.Matcher) bool { return !m.Matches(target[m.Name]) })
}

// expect gives an expectation the labels of the target. An alert without an instance comes
// from absent(), whose result has only the labels that the selector determines.
func (s *set) expect(n *yaml.Node, target map[string]string) error {
	var e expectation
	if err := n.Decode(&e); err != nil {
		return err
	}
	if _, ok := e.Labels["instance"]; !ok {
		target = s.fixed()
	}
	own := e.Labels
	maps.DeleteFunc(own, func(name, _ string) bool { return name == "job" || name == "instance" })
	e.Labels = maps.Clone(target)
	maps.Copy(e.Labels, own)
	link := "var-job=" + e.Labels["job"] + "&var-instance=" + e.Labels["instance"]
	e.Annotations["dashboard_url"] = chosenTarget.ReplaceAllLiteralString(e.Annotations["dashboard_url"], link)
	e.Annotations["description"] = strings.ReplaceAll(e.Annotations["description"], testInstance, e.Labels["instance"])
	return n.Encode(e)
}
