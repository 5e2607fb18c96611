package dashboards_test

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"

	"github.com/vitals-health/vitals/collectors"
)

// beside has series that no golden exposition has: those that Prometheus adds if it has
// loaded the rule file, and what fails in no exposition.
const beside = `
ALERTS{alertname="Down",alertstate="pending",state="ready",severity="critical"} 1
ALERTS{alertname="Down",alertstate="firing",state="ready",severity="critical"} 1
vitals_kubernetes_watch_failure{dependency="kubernetes",resource="pods",reason="forbidden"} 1
vitals_supervisor_process_spawn_error{supervisor="s",group="g",program="p"} 1
vitals_script_signal{script="s"} 9
vitals_dns_rcode{dependency="d",rcode="nxdomain"} 1
vitals_openstack_load_balancer_provisioning_status{dependency="d",load_balancer="lb",status="error"} 1
vitals_unix_socket_listening 1
vitals_storage_writable 1
vitals_notifications_success{alertmanager="http://alertmanager:9093"} 1
vitals_kubernetes_report_success{verb="patch",resource="pods/status"} 1
vitals_rule_silenced{rule="Down",state="ready"} 1
vitals_state_maintenance{state="ready"} 1
vitals_http_connections{listener="web"} 1
# TYPE vitals_http_connections_evicted_total counter
vitals_http_connections_evicted_total{listener="web"} 1
# TYPE kuryr_cni_request_duration_seconds_count counter
kuryr_cni_request_duration_seconds_count{component="cni",command="ADD",error="True"} 1
`

// everything returns a history of all metrics of Vitals: each golden exposition belongs to
// one instance, in addition to its own metrics. One instance is down.
func everything(t *testing.T) *history {
	t.Helper()
	own := ownSamples(t)
	targets := map[string][]collectors.Sample{"gone": nil}
	for name, samples := range goldens(t) {
		targets[name] = append(append([]collectors.Sample{}, own...), samples...)
	}
	targets["beside"] = exposition(t, "beside", beside)
	return newHistory(t, time.Now(), targets)
}

// unanswered returns the queries without a result over everything, with the reason.
func unanswered() map[string]string {
	return map[string]string{
		"annotation Restarts": "nothing restarts in it",
	}
}

// Every query has a result with the labels of its legend. A panel of states has a word for
// each value.
func TestQueriesAnswer(t *testing.T) {
	h := everything(t)
	excused := unanswered()
	for _, d := range loadDashboards(t) {
		d.queries(func(where, expr string, p *panel, q *target) {
			result := h.query(expand(t, expr, "Down"))
			reason := excused[where[len(d.file)+2:]]
			if (len(result) == 0) != (reason != "") {
				t.Errorf("%s: %d series, want some unless there is a reason (%q):\n%s", where, len(result), reason, expr)
			}
			if p == nil {
				return
			}
			checkLegend(t, where, q.LegendFormat, result)
			if words := wordsOf(t, *p, q.RefID); words != nil {
				for _, s := range result {
					if value := strconv.FormatFloat(s.F, 'f', -1, 64); !words[value] {
						t.Errorf("%s: no word for the value %s of %s", where, value, s.Metric)
					}
				}
			}
		})
	}
}

func checkLegend(t *testing.T, where, legend string, result promql.Vector) {
	t.Helper()
	for _, m := range regexp.MustCompile(`\{\{(\w+)\}\}`).FindAllStringSubmatch(legend, -1) {
		found := len(result) == 0
		for _, s := range result {
			found = found || s.Metric.Get(m[1]) != ""
		}
		if !found {
			t.Errorf("%s: no series has the label %s of the legend", where, m[1])
		}
	}
}

// wordsOf returns the values for which a query's display has words; nil if it shows numbers.
func wordsOf(t *testing.T, p panel, ref string) map[string]bool {
	t.Helper()
	found := p.FieldConfig.Defaults.Mappings
	for _, o := range p.FieldConfig.Overrides {
		applies := o.Matcher.ID == "byFrameRefID" && o.Matcher.Options == ref ||
			o.Matcher.ID == "byName" && p.Type == "table" && isValueColumn(p, o.Matcher.Options, ref)
		for _, property := range o.Properties {
			if applies && property.ID == "mappings" {
				found = nil
				if err := json.Unmarshal(property.Value, &found); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if len(found) == 0 {
		return nil
	}
	words := map[string]bool{}
	for _, m := range found {
		for value := range m.Options {
			words[value] = true
		}
	}
	return words
}

// isValueColumn reports whether a column of a table has the values of a query.
func isValueColumn(p panel, title, ref string) bool {
	for field, name := range renamed(p) {
		if name == title && (field == "Value #"+ref || field == "Value" && len(p.Targets) == 1) {
			return true
		}
	}
	return false
}

// panelOf returns the panel with a title.
func panelOf(t *testing.T, file, title string) panel {
	t.Helper()
	for _, d := range loadDashboards(t) {
		for _, p := range d.Panels {
			if d.file == file && p.Title == title {
				return p
			}
		}
	}
	t.Fatalf("%s has no panel %q", file, title)
	return panel{}
}

// statusSet returns the series of a rule in a status.
func statusSet(rule, state, status string) []collectors.Sample {
	var all []collectors.Sample
	for _, s := range []string{"ok", "pending", "failing", "unknown"} {
		value := 0.0
		if s == status {
			value = 1
		}
		all = append(all, collectors.Sample{Value: value, Labels: labels.FromStrings("__name__", "vitals_rule_status", "rule", rule, "state", state, "status", s)})
	}
	return all
}

// The number for a status is that of the worst instance: failing before unknown before
// pending before ok, as in the status of rules that share a name.
func TestStatusIsThatOfTheWorst(t *testing.T) {
	p := panelOf(t, "overview.json", "Rules over time")
	number := map[string]float64{}
	for _, m := range p.FieldConfig.Defaults.Mappings {
		for value, word := range m.Options {
			n, err := strconv.ParseFloat(value, 64)
			if err != nil {
				t.Fatal(err)
			}
			number[word.Text] = n
		}
	}
	for _, tt := range []struct{ a, b, want string }{
		{"ok", "ok", "OK"}, {"pending", "ok", "PENDING"}, {"ok", "unknown", "UNKNOWN"}, {"failing", "ok", "FAIL"},
		{"pending", "unknown", "UNKNOWN"}, {"unknown", "failing", "FAIL"}, {"failing", "pending", "FAIL"},
		{"pending", "pending", "PENDING"}, {"unknown", "unknown", "UNKNOWN"}, {"failing", "failing", "FAIL"},
	} {
		h := newHistory(t, time.Now(), map[string][]collectors.Sample{
			"a": append(statusSet("Down", "ready", tt.a), statusSet("Other", "ready", "ok")...),
			"b": append(statusSet("Down", "ready", tt.b), statusSet("Other", "alive", "ok")...),
		})
		got := map[string]float64{}
		every, _, _ := strings.Cut(p.Targets[0].Expr, " and on (rule)") // without the choice of rules
		for _, s := range h.query(expand(t, every, "")) {
			got[s.Metric.String()] = s.F
		}
		if len(got) != 2 || got[`{rule="Down"}`] != number[tt.want] || got[`{rule="Other"}`] != number["OK"] {
			t.Errorf("%s and %s: %v, want Down to be %s (%v)", tt.a, tt.b, got, tt.want, number)
		}
	}
}

// stateSamples returns the series that identify targets of Vitals, and the verdict of ready.
func stateSamples(ready float64) []collectors.Sample {
	return []collectors.Sample{
		{Labels: labels.FromStrings("__name__", "vitals_state", "state", "ready"), Value: ready},
		{Labels: labels.FromStrings("__name__", "vitals_evaluation_timestamp_seconds"), Value: 1},
	}
}

// An instance that is no longer scraped is down. Targets of other programs are left out.
func TestVerdictKnowsInstancesThatAreDown(t *testing.T) {
	stat, scraped := panelOf(t, "overview.json", "Ready"), panelOf(t, "overview.json", "Verdicts over time")
	foreign := []collectors.Sample{{Labels: labels.FromStrings("__name__", "other"), Value: 1}}
	const fail, down, ok, partly = 0, 1, 2, 3
	for _, tt := range []struct {
		name          string
		targets       map[string][]collectors.Sample
		leaves        string
		ready, scrape float64
	}{
		{"all are ready", map[string][]collectors.Sample{"a": stateSamples(1), "b": stateSamples(1), "node": foreign}, "", ok, ok},
		{"one is not ready", map[string][]collectors.Sample{"a": stateSamples(1), "b": stateSamples(0)}, "", partly, ok},
		{"one is down", map[string][]collectors.Sample{"a": stateSamples(1), "b": stateSamples(1)}, "b", partly, down},
		{"one is down, another not ready", map[string][]collectors.Sample{"a": stateSamples(0), "b": stateSamples(1)}, "b", fail, down},
		{"all are down", map[string][]collectors.Sample{"a": stateSamples(1)}, "a", down, down},
		{"another program is down", map[string][]collectors.Sample{"a": stateSamples(1), "node": nil}, "", ok, ok},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := newHistory(t, time.Now(), tt.targets)
			if tt.leaves != "" {
				h.leave(tt.targets, tt.leaves)
			}
			for expr, want := range map[string]float64{stat.Targets[0].Expr: tt.ready, scraped.Targets[1].Expr: tt.scrape} {
				if got := h.query(expand(t, expr, "")); len(got) != 1 || got[0].F != want {
					t.Errorf("%s = %v, want %v", expr, got, want)
				}
			}
		})
	}
}
