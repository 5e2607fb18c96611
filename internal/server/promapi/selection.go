package promapi

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/prometheus/model/labels"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/promexpr"
)

// selection are the parameters of /api/v1/rules. An empty list chooses all.
type selection struct {
	// kind is alert, record or empty.
	kind                 string
	names, groups, files []string
	// matchers are sets, of which one must match the labels of the rule.
	matchers      [][]*labels.Matcher
	excludeAlerts bool
}

// selectionOf reads the parameters as Prometheus does.
func selectionOf(form url.Values) (selection, error) {
	chosen := selection{kind: strings.ToLower(form.Get("type")), names: form["rule_name[]"], groups: form["rule_group[]"], files: form["file[]"]}
	if !slices.Contains([]string{"", "alert", "record"}, chosen.kind) {
		return chosen, fmt.Errorf("invalid parameter \"type\": not supported value %q", chosen.kind)
	}
	var err error
	if given := form.Get("exclude_alerts"); given != "" {
		if chosen.excludeAlerts, err = strconv.ParseBool(strings.ToLower(given)); err != nil {
			return chosen, fmt.Errorf("invalid parameter \"exclude_alerts\": %w", err)
		}
	}
	if chosen.matchers, err = promexpr.NewParser().ParseMetricSelectors(form["match[]"]); err != nil {
		return chosen, err
	}
	for _, set := range chosen.matchers {
		if !slices.ContainsFunc(set, func(m *labels.Matcher) bool { return !m.Matches("") }) {
			return chosen, errors.New("match[] must contain at least one non-empty matcher")
		}
	}
	return chosen, nil
}

// has reports whether a list of chosen names has a name, or chooses all.
func has(list []string, name string) bool { return len(list) == 0 || slices.Contains(list, name) }

// chooses reports whether a rule is chosen.
func (c *selection) chooses(r *evaluator.GroupRule) bool {
	kind := "alert"
	if r.Alert < 0 {
		kind = "record"
	}
	if c.kind != "" && c.kind != kind || !has(c.names, r.Name) {
		return false
	}
	return len(c.matchers) == 0 || slices.ContainsFunc(c.matchers, func(set []*labels.Matcher) bool {
		return !slices.ContainsFunc(set, func(m *labels.Matcher) bool { return !m.Matches(r.Labels[m.Name]) })
	})
}
