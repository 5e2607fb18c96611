package rulecheck

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/kinds"
	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/config"
	"github.com/vitals-health/vitals/rules"
	"github.com/vitals-health/vitals/rules/lint"
)

// Vocabulary returns the metrics that rules can match with a configuration, which must be
// valid. Its alerts are those of l.Rules.
func Vocabulary(l *config.Loaded) *lint.Vocabulary {
	v := &lint.Vocabulary{Configured: true}
	var names []string
	for i := range l.Config.Collectors {
		c := &l.Config.Collectors[i]
		key, kind := c.Kind()
		names = append(names, c.Name)
		of := lint.Metric{Collector: c.Name, Kind: key, External: kind.External(), Interval: time.Duration(c.Interval)}
		addKind(v, of, kind, kind.Metrics(c.Name))
	}
	addForwarded(v, l.Config.Collectors)
	alerts, states := alertsOf(l.Rules)
	addOwn(v, time.Duration(l.Config.EvaluationInterval), map[string]map[string][]string{
		"vitals_state":     {"state": l.Config.StateNames()},
		"vitals_rule":      {"rule": alerts, "state": states},
		"vitals_collector": {"collector": names},
	})
	for _, m := range AnyVocabulary().Metrics {
		if m.Kind != ownKind {
			v.Kinds = append(v.Kinds, m)
		}
	}
	return v
}

// ownKind is the kind of the metrics about Vitals itself.
const ownKind = "vitals"

// AnyVocabulary returns the metrics that rules can match with any configuration.
func AnyVocabulary() *lint.Vocabulary {
	v := &lint.Vocabulary{}
	for _, key := range kinds.Names() {
		kind := kinds.New(key)
		metrics := kind.Metrics("")
		// A dependency is on another host unless its kind has a target that may be here.
		external := slices.ContainsFunc(metrics, func(m collectors.Metric) bool { return m.Name == "vitals_dependency_up" })
		_, targeted := kind.(collectors.Targeted)
		addKind(v, lint.Metric{Kind: key, External: external, MayBeLocal: external && targeted}, kind, metrics)
	}
	addOwn(v, 0, map[string]map[string][]string{
		"vitals_state": {"state": nil}, "vitals_rule": {"rule": nil, "state": nil}, "vitals_collector": {"collector": nil},
	})
	return v
}

// addKind adds the metrics of a collector or of a kind; of holds their common fields.
func addKind(v *lint.Vocabulary, of lint.Metric, kind collectors.Kind, metrics []collectors.Metric) {
	if _, ok := kind.(collectors.Reporting); ok {
		of.Interval = 0
	}
	if exporter, ok := kind.(collectors.Exporter); ok {
		passed := of
		passed.Labels = exporter.PassedOn(of.Collector)
		v.Others = append(v.Others, passed)
	}
	for _, m := range metrics {
		of.Name, of.Type, of.Labels, of.AnyLabel, of.Vanishes, of.Bool = m.Name, m.Type, m.Labels, m.AnyLabel, m.Vanishes, m.Bool
		v.Metrics = append(v.Metrics, of)
	}
}

// addOwn adds the metrics about Vitals itself that rules can match: those of the evaluator.
// values holds label values by the prefix of metric names.
func addOwn(v *lint.Vocabulary, interval time.Duration, values map[string]map[string][]string) {
	bools := []string{"vitals_state", "vitals_rule_status", "vitals_rule_info", "vitals_rule_silenced", "vitals_state_maintenance", "vitals_collector_success", "vitals_collector_failure", "vitals_config_last_reload_successful"}
	vanish := []string{"vitals_rule_silenced", "vitals_state_maintenance", "vitals_collector_last_success_timestamp_seconds"} // before the first success
	for _, d := range evaluator.Descs() {
		m := lint.Metric{
			Name: d.Name, Type: d.Type, Labels: map[string][]string{}, Kind: ownKind, Interval: interval,
			Vanishes: slices.Contains(vanish, d.Name),
			Bool:     slices.Contains(bools, d.Name),
		}
		for prefix, labels := range values {
			if strings.HasPrefix(d.Name, prefix) {
				maps.Copy(m.Labels, labels)
			}
		}
		switch d.Name {
		case "vitals_rule_status":
			m.Labels["status"] = statusNames()
		case "vitals_collector_failure":
			m.Labels["reason"] = []string{"memory"}
		case "vitals_rule_info":
			maps.Copy(m.Labels, map[string][]string{
				"severity": {rules.SeverityCritical, rules.SeverityWarning}, "mode": {"", "observe"}, // most rules have none
				"no_data": {"", string(rules.NoDataFail), string(rules.NoDataPass), string(rules.NoDataHold)},
			})
		}
		v.Metrics = append(v.Metrics, m)
	}
}

func statusNames() []string {
	var names []string
	for _, s := range evaluator.Statuses() {
		names = append(names, s.String())
	}
	return names
}

// alertsOf returns the names and the states of all alerts, each once.
func alertsOf(files []*rules.File) (names, states []string) {
	add := func(to []string, text string) []string {
		if text == "" || slices.Contains(to, text) {
			return to
		}
		return append(to, text)
	}
	for _, f := range files {
		for _, g := range f.Groups {
			for _, r := range g.Rules {
				if r.Alert != "" {
					names, states = add(names, r.Alert), add(states, r.State)
				}
			}
		}
	}
	return names, states
}
