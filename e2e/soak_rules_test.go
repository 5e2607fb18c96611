//go:build e2e

package e2e_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// soakRule is a rule of the soak: what the program reads, and what the replay needs.
type soakRule struct {
	name, state, severity string
	observe               bool
	wait, keep            time.Duration
	expr                  string
	// holds computes the expression from the samples; data is false if there are none.
	holds func(s soakSamples) (holds, data bool)
}

// soakSamples are the samples that the rules select, by the values of their labels.
type soakSamples struct {
	// up are the dependencies, alive the components of the targets, queues the sums of the
	// targets' shards, as in t1/3.
	up, alive, queues map[string]float64
}

// soakRules are 50 rules. A few decide, so that each state passes at times; the others warn, or
// are shown only.
func soakRules() []soakRule {
	var all []soakRule
	seconds := func(choices ...int) func(i int) time.Duration {
		return func(i int) time.Duration { return time.Duration(choices[i%len(choices)]) * time.Second }
	}
	wait, keep := seconds(0, 1, 3, 5), seconds(0, 2, 4)
	for i := range soakDependencies {
		name := fmt.Sprintf("d%02d", i)
		all = append(all, soakRule{
			name: "Dependency" + name, state: "ready", severity: severity(i), observe: i >= 12, wait: wait(i), keep: keep(i),
			expr:  fmt.Sprintf(`vitals_dependency_up{dependency="%s"} == 0`, name),
			holds: func(s soakSamples) (bool, bool) { v, ok := s.up[name]; return ok && v == 0, ok },
		})
	}
	for i := range soakTargets * soakShards {
		target, shard := fmt.Sprintf("t%d", i/soakShards), i%soakShards
		key := fmt.Sprintf("%s/%d", target, shard)
		all = append(all, soakRule{
			name: fmt.Sprintf("Queue%s%d", target, shard), state: "ready", severity: severity(i), observe: i >= 15, wait: wait(i), keep: keep(i + 1),
			expr:  fmt.Sprintf(`sum(soak_queue{target="%s", shard="%d"}) > %d`, target, shard, queueLimit),
			holds: func(s soakSamples) (bool, bool) { v, ok := s.queues[key]; return v > queueLimit, ok },
		})
	}
	for i := range soakTargets {
		name := fmt.Sprintf("t%d", i)
		all = append(all, soakRule{
			name: "Component" + name, state: "alive", severity: "critical", wait: 4 * time.Second,
			expr:  fmt.Sprintf(`soak_component_up{target="%s"} == 0`, name),
			holds: func(s soakSamples) (bool, bool) { v, ok := s.alive[name]; return ok && v == 0, ok },
		})
	}
	return all
}

func severity(i int) string {
	if i < 3 {
		return "critical"
	}
	return "warning"
}

// decides reports whether the rule can make its state fail.
func (r soakRule) decides() bool { return !r.observe && r.severity == "critical" }

func (r soakRule) yaml() string {
	notes := []string{"summary: It is " + r.name + "."}
	if r.observe {
		notes = append(notes, "mode: observe")
	}
	return fmt.Sprintf("      - alert: %s\n        expr: '%s'\n        for: %s\n        keep_firing_for: %s\n        labels: {state: %s, severity: %s}\n        annotations: {%s}\n",
		r.name, r.expr, r.wait, r.keep, r.state, r.severity, strings.Join(notes, ", "))
}

// soakFiles writes the configuration and the rules, and replaces them.
type soakFiles struct {
	dir, config string
	rules       []soakRule
}

func newSoakFiles(t *testing.T, deps []*dependency, targets []*scrapeTarget) *soakFiles {
	t.Helper()
	f := &soakFiles{dir: t.TempDir(), rules: soakRules()}
	if len(f.rules) != 50 {
		t.Fatalf("%d rules, want 50", len(f.rules))
	}
	config := "evaluation_interval: 1s\nrule_files: [rules.yml]\ncollectors:\n"
	for _, d := range deps {
		config += fmt.Sprintf("  - {name: %s, interval: 1s, timeout: 1s, http: {url: \"%s/\"}}\n", d.name, d.server.URL)
	}
	for _, s := range targets {
		config += fmt.Sprintf("  - {name: t%d, interval: 2s, timeout: 2s, scrape: {url: \"%s/metrics\"}}\n", s.number, s.server.URL)
	}
	f.config = filepath.Join(f.dir, "vitals.yml")
	write(t, f.config, config)
	f.write(t, 0)
	return f
}

// write writes the rules of a variant: 0 has all, another one lacks every rule whose number it
// divides.
func (f *soakFiles) write(t *testing.T, variant int) {
	t.Helper()
	text := "groups:\n  - name: soak\n    rules:\n"
	for i, r := range f.rules {
		if !f.lacks(i, variant) {
			text += r.yaml()
		}
	}
	f.replace(t, text)
}

// replace replaces the rules at once: the program may read them at any time.
func (f *soakFiles) replace(t *testing.T, text string) {
	t.Helper()
	path := filepath.Join(f.dir, "rules.yml")
	write(t, path+".new", text)
	if err := os.Rename(path+".new", path); err != nil {
		t.Error(err)
	}
}

func (f *soakFiles) lacks(i, variant int) bool { return variant > 0 && i%variant == variant-1 }

// spoil writes rules with a mistake.
func (f *soakFiles) spoil(t *testing.T) {
	t.Helper()
	f.replace(t, "groups:\n  - name: soak\n    rules:\n      - {alert: Bad, expr: 'sum(', labels: {state: ready}}\n")
}

// parseSamples sorts the samples that the rules select.
func parseSamples(m metrics) soakSamples {
	s := soakSamples{map[string]float64{}, map[string]float64{}, map[string]float64{}}
	for key, value := range m {
		switch name, labels, _ := strings.Cut(key, "{"); name {
		case "vitals_dependency_up":
			s.up[labelOf(labels, "dependency")] = value
		case "soak_component_up":
			s.alive[labelOf(labels, "target")] = value
		case "soak_queue":
			s.queues[labelOf(labels, "target")+"/"+labelOf(labels, "shard")] += value
		}
	}
	return s
}

// labelOf returns the value of a label that has nothing to escape.
func labelOf(labels, name string) string {
	_, rest, _ := strings.Cut(labels, name+`="`)
	value, _, _ := strings.Cut(rest, `"`)
	return value
}

// statuses are the statuses of the rules in one exposition.
func statuses(m metrics) map[string]string {
	all := map[string]string{}
	for key, value := range m {
		if name, labels, _ := strings.Cut(key, "{"); value == 1 && name == "vitals_rule_status" {
			all[labelOf(labels, "rule")] = labelOf(labels, "status")
		}
	}
	return all
}

// names are the rules in an order that stays.
func names(statuses map[string]string) []string { return slices.Sorted(maps.Keys(statuses)) }
