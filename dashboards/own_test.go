package dashboards_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/rules"
)

// ownFile has all kinds of rules that make a difference for dashboards.
const ownFile = `
groups:
  - name: g
    rules:
      - {alert: Plain, expr: up == 0}
      - alert: Gold
        expr: queue_length > 100
        labels: {state: gold}
      - alert: Slow
        expr: request_seconds > 2
        for: 90s
        labels: {state: ready}
        annotations: {summary: 'Requests take {{ $value }} s.'}
      - alert: Slow
        expr: request_seconds > 1
        labels: {state: ready, severity: warning}
      - {alert: Dead, expr: "worker_alive == 0 and on () worker_expected == 1", labels: {state: alive}, annotations: {mode: observe}}
      - {alert: Gone, expr: absent(queue_length), labels: {state: ready}}
      - {alert: Recorded, expr: "job:queue:sum > 5", labels: {state: ready}}
      - {record: "job:queue:sum", expr: sum(queue_length)}
`

func TestOwnRulesHaveASectionForEachState(t *testing.T) {
	d := ownDashboard(t, "own.yml", ownFile)
	var got []string
	for _, p := range d.Panels {
		got = append(got, p.Type+" "+p.Title)
	}
	want := []string{
		"row Rules of ready",
		"state-timeline Slow", "timeseries Slow: compared value", "timeseries Slow: compared value (2)",
		"state-timeline Gone",
		"state-timeline Recorded", "timeseries Recorded: compared value",
		"row Rules of alive", "state-timeline Dead", "timeseries Dead: compared value",
		"row Rules of gold", "state-timeline Gold", "timeseries Gold: compared value",
		"row Alerts without a state", "state-timeline Plain", "timeseries Plain: compared value",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the panels differ (-want +got):\n%s", diff)
	}
	about := map[string]string{}
	for _, p := range d.Panels {
		about[p.Title] = p.Description
	}
	for title, want := range map[string]string{
		"Slow: compared value":     "Requests take (value) s.\n\nFails ready when this is true for 1m30s: `request_seconds > 2`.",
		"Slow: compared value (2)": "Warns about ready when this is true: `request_seconds > 1`.",
		"Dead":                     "Would fail alive (mode: observe) when this is true: `worker_alive == 0 and on () worker_expected == 1`.",
		"Plain":                    "Fires when this is true: `up == 0`.",
	} {
		if about[title] != want {
			t.Errorf("%s: %q, want %q", title, about[title], want)
		}
	}
}

// A graph shows both sides of the first comparison that must be true, of the chosen jobs and
// instances.
func TestOwnRulesShowWhatTheyCompare(t *testing.T) {
	const in = `{instance=~"$instance",job=~"$job",namespace=~"$namespace",pod=~"$pod"}`
	for _, tt := range []struct{ expr, value, limit, legend, unit string }{
		{`a == 0`, `a` + in, `vector(0)`, "fails if == 0", "short"},
		{`(a_seconds) > 2 * 60`, `a_seconds` + in, `vector(2 * 60)`, "fails if > 2 * 60", "s"},
		{`5 < a_bytes{x="y"}`, `a_bytes{instance=~"$instance",job=~"$job",namespace=~"$namespace",pod=~"$pod",x="y"}`, `vector(5)`, "fails if > 5", "bytes"},
		{`-1 >= a`, `a` + in, `vector(-1)`, "fails if <= -1", "short"},
		{`a_ratio > 0.5 and b > 1 and c > 2`, `a_ratio` + in, `vector(0.5)`, "fails if > 0.5", "percentunit"},
		{`a < 3 unless on () b`, `a` + in, `vector(3)`, "fails if < 3", "short"},
		{`(a - on (x) b <= 3) > 0`, `a` + in + ` - on (x) b` + in, `vector(3)`, "fails if <= 3", "short"},
		{`time() - a_timestamp_seconds > 120`, `time() - a_timestamp_seconds` + in, `vector(120)`, "fails if > 120", "s"},
		{`max without (r) (a_seconds) > b`, `max without (r) (a_seconds` + in + `)`, `b` + in, "fails if > this", "s"},
		{`rate(a_seconds[5m]) > 1`, `rate(a_seconds` + in + `[5m])`, `vector(1)`, "fails if > 1", "short"},
		{`a_bytes + b_bytes > 9`, `a_bytes` + in + ` + b_bytes` + in, `vector(9)`, "fails if > 9", "bytes"},
		{`a_bytes / b_bytes > 0.9`, `a_bytes` + in + ` / b_bytes` + in, `vector(0.9)`, "fails if > 0.9", "short"},
		{`a_bytes - b_seconds > 0.9`, `a_bytes` + in + ` - b_seconds` + in, `vector(0.9)`, "fails if > 0.9", "short"},
		{`count(a_bytes) < 3`, `count(a_bytes` + in + `)`, `vector(3)`, "fails if < 3", "short"},
		{`a > vector(3)`, `a` + in, `vector(3)`, "fails if > vector(3)", "short"},
		{`a > scalar(b)`, `a` + in, `vector(scalar(b` + in + `))`, "fails if > this", "short"},
		{`a{job="own"} > 1`, `a{instance=~"$instance",job="own",job=~"$job",namespace=~"$namespace",pod=~"$pod"}`, `vector(1)`, "fails if > 1", "short"},
		{`a or b > 1`, "", "", "", ""},
		{`a unless b > 1`, "", "", "", ""},
		{`absent(a)`, "", "", "", ""},
		{`a`, "", "", "", ""},
		{`vector(1) > 0`, "", "", "", ""},
		{`(a > bool 1) == 1`, `a` + in + ` > bool 1`, `vector(1)`, "fails if == 1", "short"},
	} {
		d := ownDashboard(t, "own.yml", "groups: [{name: g, rules: [{alert: A, labels: {state: ready}, expr: '"+tt.expr+"'}]}]")
		graphs := slices.DeleteFunc(d.Panels, func(p panel) bool { return p.Type != "timeseries" })
		if tt.value == "" {
			if len(graphs) > 0 {
				t.Errorf("%s: shows %s, want no graph", tt.expr, graphs[0].Targets[0].Expr)
			}
			continue
		}
		if len(graphs) != 1 {
			t.Errorf("%s: %d graphs, want one", tt.expr, len(graphs))
			continue
		}
		p := graphs[0]
		got := []string{withoutWho(p.Targets[0].Expr), p.Targets[1].Expr, p.Targets[1].LegendFormat, p.FieldConfig.Defaults.Unit}
		if diff := cmp.Diff([]string{tt.value, tt.limit, tt.legend, tt.unit}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.expr, diff)
		}
		if o := p.FieldConfig.Overrides; len(o) != 1 || o[0].Matcher.Options != "B" || o[0].Properties[0].ID != "color" || string(o[0].Properties[0].Value) == "" {
			t.Errorf("%s: overrides %+v, want the limit in red", tt.expr, o)
		}
	}
}

// withoutWho returns the query without the label who.
func withoutWho(expr string) string {
	expr = strings.TrimPrefix(expr, "label_replace(label_replace(")
	return strings.TrimSuffix(expr, `, "who", "$1", "instance", "(.+)"), "who", "$1", "pod", "(.+)")`)
}

// A legend has the labels in which the series can differ: not those that the expression fixes,
// and not those of the whole series.
func TestOwnLegendsAreWhatDiffers(t *testing.T) {
	for _, tt := range []struct{ expr, legend string }{
		{`vitals_dependency_up == 0`, "{{who}} {{dependency}}"},
		{`vitals_dependency_up{dependency="keystone"} == 0`, "{{who}}"},
		{`vitals_dependency_failure{reason=~"auth|tls"} == 1`, "{{who}} {{dependency}} {{reason}}"},
		{`sum by (dependency) (vitals_dependency_up) < 1`, "{{dependency}}"},
		{`min without (instance) (vitals_dependency_up) < 1`, "{{dependency}}"},
		{`sum(vitals_dependency_up) < 1`, "value"},
		{`queue_length > 1`, "{{who}}"},
		{`queue_length{queue=~"a|b",vhost="x"} > 1`, "{{who}} {{queue}}"},
		{`sum by (queue) (queue_length) > 1`, "{{queue}}"},
		{`time() - vitals_component_last_report_timestamp_seconds > 1`, "{{who}} {{component}}"},
	} {
		d := ownDashboard(t, "own.yml", "groups: [{name: g, rules: [{alert: A, labels: {state: ready}, expr: '"+tt.expr+"'}]}]")
		for _, p := range d.Panels {
			if p.Type == "timeseries" && p.Targets[0].LegendFormat != tt.legend {
				t.Errorf("%s: legend %q, want %q", tt.expr, p.Targets[0].LegendFormat, tt.legend)
			}
			if p.Type == "timeseries" && p.Options.Legend.Placement != "bottom" {
				t.Errorf("%s: the legend is at the %s, want it below the graph", tt.expr, p.Options.Legend.Placement)
			}
		}
	}
}

// A summary has names in the place of values, and nothing of conditions and queries.
func TestOwnSummariesHaveNoTemplates(t *testing.T) {
	for summary, want := range map[string]string{
		"No template.": "No template.",
		"{{ $labels.process }} is at {{ $value | humanize }}.": "(process) is at (value).",
		"{{ $labels.p }}{{ if eq $value 0.0 }} does not run and so{{ end }} does not listen {{- with query `x` }} on {{ range . }}{{ .Labels.port }}{{ end }}{{ else }} at all{{ end }}.": "(p) does not listen.",
		"{{ $externalURL }} is gone.": "... is gone.",
	} {
		d := ownDashboard(t, "own.yml", "groups: [{name: g, rules: [{alert: A, labels: {state: ready}, expr: absent(up), annotations: {summary: '"+summary+"'}}]}]")
		if got, _, _ := strings.Cut(d.Panels[1].Description, "\n\n"); got != want {
			t.Errorf("%s is shown as %q, want %q", summary, got, want)
		}
	}
}

// A rule that warns does not fail, an ordinary alert fires, and each links to its runbook.
func TestOwnRulesHaveTheirVerbsAndRunbooks(t *testing.T) {
	d := ownDashboard(t, "own.yml", `
groups:
  - name: g
    rules:
      - {alert: Fails, expr: a > 1, labels: {state: ready}, annotations: {runbook_url: "https://example.org/fails"}}
      - {alert: Warns, expr: a > 1, labels: {state: ready, severity: warning}, annotations: {runbook_url: "https://example.org/{{ $labels.x }}"}}
      - {alert: Observes, expr: a > 1, labels: {state: ready}, annotations: {mode: observe}}
      - {alert: Fires, expr: a > 1}
`)
	want := map[string]string{"Fails": "fails if > 1", "Warns": "warns if > 1", "Observes": "would fail if > 1", "Fires": "fires if > 1"}
	links := map[string]int{}
	for _, p := range d.Panels {
		if name, ok := strings.CutSuffix(p.Title, ": compared value"); ok && p.Targets[1].LegendFormat != want[name] {
			t.Errorf("%s: the threshold is %q, want %q", name, p.Targets[1].LegendFormat, want[name])
		}
		if p.Type == "state-timeline" {
			links[p.Title] = len(p.Links)
		}
	}
	if diff := cmp.Diff(map[string]int{"Fails": 1, "Warns": 0, "Observes": 0, "Fires": 0}, links); diff != "" {
		t.Errorf("the runbooks differ (-want +got):\n%s", diff)
	}
}

// Rule files that share names of alerts, of two Vitals, have sections of their own.
func TestOwnRulesAreGroupedByFile(t *testing.T) {
	var files []*rules.File
	for _, name := range []string{"b.yml", "more/a.yml"} {
		f, errs := rules.Parse(name, []byte("groups: [{name: g, rules: [{alert: Down, expr: up == 0, labels: {state: ready}}, {alert: Other, expr: up == 0}]}]"), []string{"ready"})
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		files = append(files, f)
	}
	var got []string
	for _, d := range decode(t, generate(files...)) {
		for _, p := range d.Panels {
			if d.file == "rules.json" && p.Type == "row" {
				got = append(got, p.Title)
			}
		}
	}
	if diff := cmp.Diff([]string{"a: rules of ready", "a: alerts without a state", "b: rules of ready", "b: alerts without a state"}, got); diff != "" {
		t.Errorf("the sections differ (-want +got):\n%s", diff)
	}
}

// All queries of the dashboards of rules can be evaluated. Each selects the chosen jobs and
// instances, except for recorded series. The graphs of the controller's rules find the
// metrics of its collectors.
func TestOwnQueriesAreSound(t *testing.T) {
	h, graphs := everything(t), 0
	for _, d := range linted(t)[len(loadDashboards(t)):] {
		d.queries(func(where, expr string, p *panel, _ *target) {
			answer := h.query(expand(t, expr, ""))
			if d.file == "rules.json of kuryr-controller.yml" && p != nil && p.Type == "timeseries" {
				graphs++
				if len(answer) == 0 {
					t.Errorf("%s finds nothing: %s", where, expr)
				}
			}
			for _, s := range parser.ExtractSelectors(parse(t, expr)) {
				name, chosen := "", 0
				for _, m := range s {
					if m.Name == "__name__" {
						name = m.Value
					}
					if m.Value == ".+" && (m.Name == "job" || m.Name == "instance") || m.Value == ".*" && (m.Name == "namespace" || m.Name == "pod") {
						chosen++
					}
				}
				want := 4
				if strings.Contains(name, ":") || name == "tripleo_role" { // recorded
					want = 0
				}
				if chosen != want {
					t.Errorf("%s: %s has %d of the matchers of targets, want %d", where, name, chosen, want)
				}
			}
		})
	}
	if graphs == 0 {
		t.Error("no dashboard has the graphs of the controller's rules")
	}
}

// The timeline of a rule shows the status of that rule for that state only.
func TestOwnTimelinesShowTheRule(t *testing.T) {
	h := newHistory(t, time.Now(), map[string][]collectors.Sample{
		"a": append(statusSet("Slow", "ready", "pending"), statusSet("Gone", "ready", "failing")...),
		"b": append(statusSet("Slow", "ready", "unknown"), statusSet("Slow", "alive", "failing")...),
	})
	for _, p := range ownDashboard(t, "own.yml", ownFile).Panels {
		if p.Title != "Slow" {
			continue
		}
		got := map[string]float64{}
		for _, s := range h.query(expand(t, p.Targets[0].Expr, "")) {
			got[s.Metric.Get("who")] = s.F
		}
		if diff := cmp.Diff(map[string]float64{"a": 1, "b": 2}, got); diff != "" {
			t.Errorf("the status of Slow differs (-want +got):\n%s", diff)
		}
		return
	}
	t.Error("there is no timeline of Slow")
}

// The same files make the same dashboard in any folder, and other files make another one.
func TestOwnDashboardsHaveANameOfTheirOwn(t *testing.T) {
	uid := func(names ...string) string {
		t.Helper()
		var files []*rules.File
		for _, name := range names {
			files = append(files, &rules.File{Name: name})
		}
		for _, d := range decode(t, generate(files...)) {
			if d.file == "rules.json" {
				return d.UID
			}
		}
		t.Fatal("no rules.json is generated")
		return ""
	}
	for _, tt := range []struct {
		names []string
		want  string
	}{
		{[]string{"rules.yml"}, "vitals-rules-rules"},
		{[]string{"/etc/vitals/My Rules.yaml"}, "vitals-rules-my-rules"},
		{[]string{"builtin:kuryr-cni", "more/own.yml"}, "vitals-rules-kuryr-cni-own"},
		{[]string{"own.yml", "builtin:kuryr-cni"}, "vitals-rules-kuryr-cni-own"},
	} {
		if got := uid(tt.names...); got != tt.want {
			t.Errorf("uid of %v = %s, want %s", tt.names, got, tt.want)
		}
	}
	long := strings.Repeat("long", 10)
	if a, b := uid(long+"a"), uid(long+"b"); a == b || len(a) != 40 || len(b) != 40 {
		t.Errorf("uids of two long names = %s and %s, want two of 40 characters", a, b)
	}
	// They are valid in names of Kubernetes objects, too.
	name := regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?$`)
	if a, b := uid("правила.yml"), uid("χανόνες.yml"); a == b || !name.MatchString(a) || !name.MatchString(b) {
		t.Errorf("uids of two non-ASCII names = %s and %s, want two that match %s", a, b, name)
	}
}
