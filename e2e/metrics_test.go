//go:build e2e

package e2e_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// metrics are the gauges and counters of one scrape; the key is what series returns.
type metrics map[string]float64

// series names one series: pairs are label names and values in turn.
func series(name string, pairs ...string) string {
	var labels []string
	for i := 0; i < len(pairs); i += 2 {
		labels = append(labels, fmt.Sprintf("%s=%q", pairs[i], pairs[i+1]))
	}
	slices.Sort(labels)
	return name + "{" + strings.Join(labels, ",") + "}"
}

// metrics scrapes the daemon.
func (d daemon) metrics() (metrics, error) {
	status, body, err := d.get("/metrics")
	if err != nil {
		return nil, err
	}
	if status != http.StatusOK {
		return nil, fmt.Errorf("GET /metrics = %d, want 200", status)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	m := metrics{}
	for name, family := range families {
		for _, sample := range family.Metric {
			var pairs []string
			for _, label := range sample.Label {
				pairs = append(pairs, label.GetName(), label.GetValue())
			}
			// One of the three is set; a histogram is none of them and counts as zero.
			m[series(name, pairs...)] = sample.GetGauge().GetValue() + sample.GetCounter().GetValue() + sample.GetUntyped().GetValue()
		}
	}
	return m, nil
}

// want compares one series; a series that is not there is not zero.
func (m metrics) want(want float64, name string, pairs ...string) error {
	key := series(name, pairs...)
	if got, ok := m[key]; !ok {
		return fmt.Errorf("%s is missing, want %g", key, want)
	} else if got != want {
		return fmt.Errorf("%s = %g, want %g", key, got, want)
	}
	return nil
}

// statusOf returns the status of a rule in one of its states, empty where there is none.
func (m metrics) statusOf(rule, state string) string {
	for _, status := range []string{"ok", "pending", "failing", "unknown"} {
		if m[series("vitals_rule_status", "rule", rule, "state", state, "status", status)] == 1 {
			return status
		}
	}
	return ""
}
