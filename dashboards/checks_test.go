package dashboards_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// What a real Grafana showed to hurt, as checks of the JSON of every dashboard.
func TestChecksOfTheJSON(t *testing.T) {
	all := linted(t)
	for name, check := range map[string]func(*testing.T, []dashboard){
		"no annotation is enabled":             annotationsAreOff,
		"no data is neutral":                   noDataIsNeutral,
		"presence ignores the shown range":     presenceIgnoresTheRange,
		"a timeline has a row for each legend": timelinesHaveARowForEachLegend,
		"series have names":                    seriesHaveNames,
		"a legend is beside wide graphs only":  legendsLeaveRoom,
	} {
		t.Run(name, func(t *testing.T) { check(t, all) })
	}
}

// Annotations are off: the regions of several alerts add up, and cover healthy rows.
func annotationsAreOff(t *testing.T, all []dashboard) {
	t.Helper()
	for _, d := range all {
		for _, a := range d.Annotations.List {
			if a.Enable {
				t.Errorf("%s: the annotation %s is enabled", d.file, a.Name)
			}
		}
		if len(d.Annotations.List) != 2 {
			t.Errorf("%s has %d annotations, want two to switch on", d.file, len(d.Annotations.List))
		}
	}
}

// The text without data has no colour that means good or bad.
func noDataIsNeutral(t *testing.T, all []dashboard) {
	t.Helper()
	for _, d := range all {
		for _, p := range d.Panels {
			defaults := p.FieldConfig.Defaults
			if defaults.NoValue != "" && (len(defaults.Thresholds.Steps) == 0 || defaults.Thresholds.Steps[0].Color != "text") {
				t.Errorf("%s: %s: without data the colour is of %+v, want that of text", d.file, p.Title, defaults.Thresholds.Steps)
			}
		}
	}
}

// Whether an instance is known does not depend on the shown range: a short one would forget it.
func presenceIgnoresTheRange(t *testing.T, all []dashboard) {
	t.Helper()
	presence := regexp.MustCompile(`(last|present|absent)_over_time\([^[]*\[\$__range\]`)
	for _, d := range all {
		d.queries(func(where, expr string, _ *panel, _ *target) {
			if found := presence.FindString(expr); found != "" {
				t.Errorf("%s: %s is a condition about presence over the shown range", where, found)
			}
		})
	}
}

// A row of a timeline is one series: the query keeps the labels of the legend and no others.
// It reads the worst value within a step, so that a short failure is drawn.
func timelinesHaveARowForEachLegend(t *testing.T, all []dashboard) {
	t.Helper()
	label := regexp.MustCompile(`\{\{(\w+)\}\}`)
	for _, d := range all {
		d.queries(func(where, expr string, p *panel, q *target) {
			if p == nil || p.Type != "state-timeline" {
				return
			}
			var shown []string
			for _, m := range label.FindAllStringSubmatch(q.LegendFormat, -1) {
				shown = append(shown, m[1])
			}
			kept, ok := keptLabels(parse(t, expr))
			slices.Sort(shown)
			if kept = slices.Sorted(slices.Values(kept)); !ok || !slices.Equal(kept, shown) {
				t.Errorf("%s: the query keeps %v (%t), and the legend shows %v", where, kept, ok, shown)
			}
			if !strings.Contains(expr, "_over_time(") || !strings.Contains(expr, "[$__interval]") {
				t.Errorf("%s: does not read the worst value within a step: %s", where, expr)
			}
		})
	}
}

// A series has a name of its own: without one Grafana writes all labels. One number and the
// values of a table need none.
func seriesHaveNames(t *testing.T, all []dashboard) {
	t.Helper()
	for _, d := range all {
		d.queries(func(where, _ string, p *panel, q *target) {
			if p == nil || q.Format == "table" || q.LegendFormat != "" {
				return
			}
			if kept, ok := keptLabels(parse(t, q.Expr)); p.Type != "stat" || ok && len(kept) > 0 {
				t.Errorf("%s: has no legend", where)
			}
		})
	}
}

// A narrow graph has its legend below, because one beside it would leave no room.
func legendsLeaveRoom(t *testing.T, all []dashboard) {
	t.Helper()
	beside := 0
	for _, d := range all {
		for _, p := range d.Panels {
			if p.Type != "timeseries" || p.Options.Legend.Placement == "bottom" {
				continue
			}
			beside++
			if p.Options.Legend.Placement != "right" || p.GridPos.W < 12 {
				t.Errorf("%s: %s is %d columns wide and has its legend at the %s", d.file, p.Title, p.GridPos.W, p.Options.Legend.Placement)
			}
		}
	}
	if beside == 0 {
		t.Error("no graph has its legend beside it")
	}
}

// notShown are the metrics that no panel shows, with the reason.
func notShown() map[string]string {
	return map[string]string{
		"vitals_cgroup_info":                              "the version of an interface of the kernel",
		"vitals_component_expected":                       "always 1",
		"vitals_component_reported":                       "a component that never reported has no state",
		"vitals_component_last_report_timestamp_seconds":  "the deadline makes a late component not alive",
		"vitals_component_reports_total":                  "heartbeats",
		"vitals_component_invalid_reports_total":          "a mistake of a client, which the log has",
		"vitals_component_last_failure_timestamp_seconds": "the failures themselves are shown",
		"vitals_kubernetes_report_failures_total":         "reports that fail now are shown",
		"vitals_kubernetes_report_dropped_events_total":   "reports that fail now are shown",
		"vitals_notifications_sent_total":                 "how often alerts are sent follows from how many fire",
		"vitals_notifications_errors_total":               "Alertmanagers that fail now are shown",
		"vitals_notifications_dropped_total":              "Alertmanagers that fail now are shown",
		"vitals_notifications_latency_seconds":            "no verdict waits for Alertmanager",
		"vitals_notifications_queue_length":               "Alertmanagers that fail now are shown",
		"vitals_notifications_queue_capacity":             "a constant",
		"vitals_memcached_accepting_connections":          "1 to the check itself, unless the server pauses",
		"vitals_redis_replication_offset_bytes":           "a counter of bytes, of which the lag is the difference",
		"vitals_keystone_token_issued_timestamp_seconds":  "the expiry is shown",
		"vitals_neutron_quota_measured":                   "a quota that was not measured is absent",
		"vitals_openstack_list_measured":                  "a list that was not measured is absent",
		"vitals_query_rows":                               "the values are shown",
		"vitals_script_perfdata_min":                      "a bound of the scale",
		"vitals_script_perfdata_max":                      "a bound of the scale",
		"vitals_supervisor_state":                         "supervisord does not answer in the other states",
	}
}

// Each metric of Vitals is in some panel, or has a reason not to be.
func TestMetricsAreShown(t *testing.T) {
	known := vocabulary(t)
	used := map[string]bool{}
	for _, d := range loadDashboards(t) {
		d.queries(func(_, expr string, _ *panel, _ *target) {
			for _, name := range slices.Sorted(maps.Keys(known)) {
				used[name] = used[name] || regexp.MustCompile(name+`\b`).MatchString(expr)
			}
		})
	}
	failure := regexp.MustCompile(`^vitals_\w+_failure$`) // TestFailuresOfEveryKindAreShown
	for name := range known {
		reason := notShown()[name]
		if strings.HasPrefix(name, "vitals_") && !failure.MatchString(name) && used[name] == (reason != "") {
			t.Errorf("%s is shown: %t, want true unless there is a reason (%q)", name, used[name], reason)
		}
	}
	for name := range notShown() {
		if _, ok := known[name]; !ok {
			t.Errorf("%s is not a metric", name)
		}
	}
}

// The dashboard of a rule shows what no metric has a label for.
func TestRuleShowsWhatItIs(t *testing.T) {
	texts := map[string]map[string]string{}
	for _, m := range mappingsOf(t, "rule.json", "What the rule is") {
		texts[m.title] = m.texts
	}
	for title, want := range map[string]string{
		"For":        "10s",
		"Expression": `vitals_dependency_up{dependency="keystone"} == 0`,
	} {
		if got := texts[title]["KeystoneDown"]; !strings.Contains(got, want) {
			t.Errorf("the %s of KeystoneDown is %q, want it to contain %q", title, got, want)
		}
	}
	for title := range texts {
		if len(texts[title]) == 0 {
			t.Errorf("the column %s has no texts", title)
		}
	}
	for name, text := range texts["Summary"] {
		if text == "" || strings.Contains(text, "{{") {
			t.Errorf("the summary of %s is %q, want a sentence without a template", name, text)
		}
	}
	// The links to runbooks in this repository lead to existing pages.
	const here = "https://github.com/vitals-health/vitals/blob/main/"
	for name, url := range texts["Runbook"] {
		page, _, _ := strings.Cut(strings.TrimPrefix(url, here), "#")
		if _, err := os.Stat(filepath.Join("..", page)); err != nil {
			t.Errorf("the runbook of %s is %s: %v", name, url, err)
		}
	}
}

// columnTexts are the texts of a column with the names of rules.
type columnTexts struct {
	title string
	texts map[string]string
}

// mappingsOf returns the columns of a table that replace the names of rules by texts.
func mappingsOf(t *testing.T, file, title string) []columnTexts {
	t.Helper()
	var all []columnTexts
	for _, o := range panelOf(t, file, title).FieldConfig.Overrides {
		for _, property := range o.Properties {
			var found []struct {
				Type    string
				Options json.RawMessage
			}
			if property.ID != "mappings" || json.Unmarshal(property.Value, &found) != nil || len(found) != 2 {
				continue
			}
			var options map[string]struct{ Text string }
			if err := json.Unmarshal(found[0].Options, &options); err != nil || found[1].Type != "regex" {
				t.Fatalf("%s: %s is %+v (%v), want texts and one for all others", title, o.Matcher.Options, found, err)
			}
			c := columnTexts{o.Matcher.Options, map[string]string{}}
			for name, o := range options {
				c.texts[name] = o.Text
			}
			all = append(all, c)
		}
	}
	return all
}
