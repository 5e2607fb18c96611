package rulecheck

import (
	"slices"
	"testing"

	"github.com/vitals-health/vitals/collectors/kinds"
	"github.com/vitals-health/vitals/collectors/scrape"
	"github.com/vitals-health/vitals/internal/config"
	"github.com/vitals-health/vitals/rules"
	"github.com/vitals-health/vitals/rules/lint"
)

// A rule about the components of a scraped Vitals matches nothing by default, and depends on
// the target where the collector honours them.
func TestRulesAboutAnotherVitals(t *testing.T) {
	const rule = `groups: [{name: g, rules: [{alert: A, expr: 'vitals_component_alive{component="c",exported_component="watcher"} == 0', for: 1m, labels: {state: alive}}]}]`
	file, errs := rules.Parse("r.yml", []byte(rule), []string{"ready", "alive", "started"})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	for _, tt := range []struct {
		name   string
		config scrape.Config
		want   string
		not    string
	}{
		{"by default", scrape.Config{}, "V003", "V001"},
		{"honoured", scrape.Config{HonorVitalsMetrics: true}, "V001", "V003"},
		{"honoured with its labels", scrape.Config{HonorVitalsMetrics: true, HonorLabels: true}, "V004", "V003"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.config.URL = "http://192.0.2.1:9100/metrics"
			v := Vocabulary(&config.Loaded{Config: config.Config{
				Collectors: []kinds.Config{{Name: "c", Interval: 15e9, Kinds: kinds.Kinds{Scrape: &tt.config}}},
			}})
			var codes []string
			for _, f := range lint.Check([]*rules.File{file}, lint.Options{Vocabulary: v}) {
				codes = append(codes, f.Code)
			}
			if !slices.Contains(codes, tt.want) || slices.Contains(codes, tt.not) {
				t.Errorf("findings = %v, want %s and not %s", codes, tt.want, tt.not)
			}
		})
	}
}
