package main

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/kinds"
	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/rulecheck"
	"github.com/vitals-health/vitals/rules/lint"
)

// measured is an exported sample.
type measured struct {
	name   string
	labels map[string]string
	value  float64
}

// samplesOf returns the samples of what a running exhibit exports.
func samplesOf(t *testing.T, e *exhibit) []measured {
	t.Helper()
	var all []measured
	for _, batch := range e.run(t).Batches {
		for _, s := range batch.Samples {
			labels := s.Labels.Map()
			delete(labels, model.MetricNameLabel)
			all = append(all, measured{s.Labels.Get(model.MetricNameLabel), labels, s.Value})
		}
	}
	return all
}

// samplesOfGoldens returns the samples of the collectors' golden files.
func samplesOfGoldens(t *testing.T) []measured {
	t.Helper()
	var all []measured
	for _, families := range goldens(t) {
		for name, mf := range families {
			for _, m := range mf.GetMetric() {
				labels := map[string]string{}
				for _, l := range m.GetLabel() {
					labels[l.GetName()] = l.GetValue()
				}
				all = append(all, measured{name, labels, valueOf(m)})
			}
		}
	}
	return all
}

func valueOf(m *dto.Metric) float64 {
	return m.GetGauge().GetValue() + m.GetCounter().GetValue() + m.GetUntyped().GetValue()
}

// known returns why a sample matches none of the metrics, or "".
func known(metrics []lint.Metric, s measured) (why string) {
	why = "there is no such metric"
	for _, m := range metrics {
		if m.Name != s.name {
			continue
		}
		wrong := ""
		for _, label := range slices.Sorted(maps.Keys(s.labels)) {
			values, ok := m.Labels[label]
			switch {
			case !ok:
				wrong = "there is no label " + label
			case values != nil && !slices.Contains(values, s.labels[label]):
				wrong = fmt.Sprintf("the values of %s are %v", label, values)
			}
		}
		if m.Bool && s.value != 0 && s.value != 1 {
			wrong = "the value is always 0 or 1"
		}
		if wrong == "" {
			return ""
		}
		why = wrong
	}
	return why
}

// The catalogue of the kinds matches all exported samples.
func TestMetricsAreKnownBeforehand(t *testing.T) {
	e := newExhibit(t)
	configured := rulecheck.Vocabulary(e.loaded)
	for _, s := range samplesOf(t, e) {
		if s.name == "app_requests" { // of the scrape's target
			continue
		}
		if why := known(configured.Metrics, s); why != "" {
			t.Errorf("%s%v = %v is exported, and the configuration describes that %s", s.name, s.labels, s.value, why)
		}
	}
	possible := rulecheck.AnyVocabulary()
	for _, s := range samplesOfGoldens(t) {
		if !strings.HasPrefix(s.name, "vitals_") { // of a scrape's target
			continue
		}
		if why := known(possible.Metrics, s); why != "" {
			t.Errorf("%s%v = %v is in a golden file, and the kinds describe that %s", s.name, s.labels, s.value, why)
		}
	}
}

// The catalogue has no label or value without a sample: it would hide a misspelt selector.
func TestMetricsHaveNoMoreLabels(t *testing.T) {
	seen := labelsOf(expositions(t))
	for _, m := range rulecheck.AnyVocabulary().Metrics {
		if got, want := slices.Sorted(maps.Keys(m.Labels)), slices.Sorted(maps.Keys(seen[m.Name])); !slices.Equal(got, want) {
			t.Errorf("%s has the labels %v beforehand, want those that are exported: %v", m.Name, got, want)
		}
	}
	e := newExhibit(t)
	samples := samplesOf(t, e)
	for _, m := range rulecheck.Vocabulary(e.loaded).Metrics {
		if m.Vanishes || strings.HasSuffix(m.Name, "_info") { // of the values of an info, one is there
			continue
		}
		if len(m.Labels) == 0 && !slices.ContainsFunc(samples, func(s measured) bool { return s.name == m.Name }) {
			t.Errorf("%s is not there although all is well, want it to be marked as vanishing", m.Name)
		}
		for label, values := range m.Labels {
			for _, value := range values {
				if !slices.ContainsFunc(samples, func(s measured) bool { return known([]lint.Metric{m}, s) == "" && s.labels[label] == value }) {
					t.Errorf("%s{%s=%q} is not there although all is well, want it to be marked as vanishing, or no such value", m.Name, label, value)
				}
			}
		}
	}
}

// Names, help texts and types are those of the collector.
func TestMetricsAreThoseDescribed(t *testing.T) {
	e := newExhibit(t)
	for i, c := range e.loaded.Config.Collectors {
		key, kind := c.Kind()
		described := e.sources[i].Collector.Describe()
		if diff := cmp.Diff(described, descsOf(kind.Metrics(""))); diff != "" {
			t.Errorf("kind %s: Metrics(\"\") are not what Describe() returns (-Describe +Metrics):\n%s", key, diff)
		}
		if diff := cmp.Diff(described, descsOf(kinds.New(key).Metrics(""))); diff != "" {
			t.Errorf("kind %s: Metrics(\"\") of no configuration are not what Describe() returns (-Describe +Metrics):\n%s", key, diff)
		}
		for _, d := range descsOf(kind.Metrics(c.Name)) {
			if !slices.Contains(described, d) {
				t.Errorf("kind %s: Metrics(%q) have %+v, want only what Describe() returns", key, c.Name, d)
			}
		}
	}
}

func descsOf(metrics []collectors.Metric) []collectors.Desc {
	var descs []collectors.Desc
	for _, m := range metrics {
		descs = append(descs, m.Desc)
	}
	return descs
}

// The help texts contain it as well.
func TestMetricsMatchTheirHelp(t *testing.T) {
	isBool := regexp.MustCompile(`^Whether|\b1 for|always 1`)
	absent := regexp.MustCompile(`(?i)absent (while|unless|before|without|where|for)`)
	help := map[string]string{}
	for _, d := range allDescs() {
		help[d.Name] = d.Help
	}
	for _, m := range rulecheck.AnyVocabulary().Metrics {
		if got, want := m.Bool, isBool.MatchString(help[m.Name]); got != want {
			t.Errorf("%s is always 0 or 1: %t, and its help is %q", m.Name, got, help[m.Name])
		}
		if !m.Vanishes && absent.MatchString(help[m.Name]) {
			t.Errorf("%s does not vanish, and its help is %q", m.Name, help[m.Name])
		}
	}
}

func allDescs() []collectors.Desc {
	all := evaluator.Descs()
	for _, key := range kinds.Names() {
		all = append(all, descsOf(kinds.New(key).Metrics(""))...)
	}
	return all
}
