package main

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/kinds"
	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/server"
	"github.com/vitals-health/vitals/internal/server/ownmetrics"
)

// The parts of docs/reference/metrics.md that belong to no kind.
const (
	partVitals = "vitals" // metrics about Vitals itself
	partShared = "shared" // metrics of several kinds
	partKinds  = "kinds"  // a section for each kind
)

// metricParts returns the descriptions of all metrics by the part of the page that lists
// them.
func metricParts(t *testing.T) map[string][]collectors.Desc {
	t.Helper()
	parts := map[string][]collectors.Desc{partVitals: evaluator.Descs()}
	for _, mf := range ownFamilies(t) {
		parts[partVitals] = append(parts[partVitals], collectors.Desc{Name: mf.GetName(), Help: mf.GetHelp(), Type: kindOf(mf)})
	}
	listed := map[string]int{}
	byKind := map[string][]collectors.Desc{}
	for _, kind := range kinds.Names() {
		byKind[kind] = descsOf(kinds.New(kind).Metrics(""))
		for _, d := range byKind[kind] {
			listed[d.Name]++
		}
	}
	for _, kind := range kinds.Names() {
		for _, d := range byKind[kind] {
			part := kind
			if listed[d.Name] > 1 {
				part = partShared
			}
			if !slices.ContainsFunc(parts[part], func(o collectors.Desc) bool { return o.Name == d.Name }) {
				parts[part] = append(parts[part], d)
			}
		}
	}
	return parts
}

// ownFamilies returns the server's own metrics, without those of the Go library.
func ownFamilies(t *testing.T) []*dto.MetricFamily {
	t.Helper()
	empty := &evaluator.Snapshot{At: time.Now(), MaxAge: time.Hour, States: []evaluator.State{{Name: evaluator.Alive}}}
	h := server.New(server.Options{Snapshot: func() *evaluator.Snapshot { return empty }, Process: everySource()}).Handler()
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/alive", nil))
	var own []*dto.MetricFamily
	for _, mf := range scrapeHandler(t, h) {
		if strings.HasPrefix(mf.GetName(), "vitals_") {
			own = append(own, mf)
		}
	}
	slices.SortFunc(own, func(a, b *dto.MetricFamily) int { return strings.Compare(a.GetName(), b.GetName()) })
	return own
}

// reached is the report of a Unix socket that clients reach, and of a directory for events.
func reached() (good, ok bool) { return true, true }

// everySource has a value for each metric of the process itself.
func everySource() ownmetrics.Sources {
	return ownmetrics.Sources{UnixSocket: reached, Storage: reached, Connections: oneConnection, KubernetesReports: oneReport, Notifications: oneAlertmanager}
}

// oneConnection is the report of a listener with a connection.
func oneConnection() []ownmetrics.Connections {
	return []ownmetrics.Connections{{Listener: "web", Open: 1}}
}

// oneReport is what became of one report to Kubernetes.
func oneReport() ownmetrics.KubernetesReports {
	return ownmetrics.KubernetesReports{Events: true, Rights: []ownmetrics.ReportRight{{Verb: "create", Resource: "events", Requested: true}}}
}

// oneAlertmanager is what one Alertmanager was sent.
func oneAlertmanager() []ownmetrics.Notifications {
	return []ownmetrics.Notifications{{Alertmanager: "http://alertmanager:9093", Requested: true}}
}

func kindOf(mf *dto.MetricFamily) model.MetricType {
	return model.MetricType(strings.ToLower(mf.GetType().String()))
}

// scrapeHandler reads /metrics.
func scrapeHandler(t *testing.T, h http.Handler) map[string]*dto.MetricFamily {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	return parseExposition(t, "/metrics", w.Body.String())
}

func parseExposition(t *testing.T, name, text string) map[string]*dto.MetricFamily {
	t.Helper()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		t.Fatalf("parse %s: %v", name, err)
	}
	return families
}

// goldens returns the collectors' golden files.
func goldens(t *testing.T) []map[string]*dto.MetricFamily {
	t.Helper()
	var all []map[string]*dto.MetricFamily
	for _, pattern := range []string{"*/testdata/*.prom"} {
		files, err := filepath.Glob(filepath.Join(docsRoot, "collectors", pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, ".om.prom") { // the same metrics as OpenMetrics
				continue
			}
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, parseExposition(t, name, strings.ReplaceAll(string(text), " unknown\n", " untyped\n")))
		}
	}
	if len(all) < len(kinds.Names()) {
		t.Fatalf("%d golden expositions found, want one a kind", len(all))
	}
	return all
}

// expositions returns the golden files, and /metrics of a Vitals with one collector of
// each kind.
func expositions(t *testing.T) []map[string]*dto.MetricFamily {
	t.Helper()
	all := goldens(t)
	s := newExhibit(t).run(t)
	h := server.New(server.Options{Snapshot: func() *evaluator.Snapshot { return s }, Process: everySource()}).Handler()
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/ready", nil))
	return append(all, scrapeHandler(t, h))
}

// labelsOf returns the label names of each metric, and whether every series has them.
func labelsOf(all []map[string]*dto.MetricFamily) map[string]map[string]bool {
	found := map[string]map[string]bool{}
	for _, families := range all {
		for name, mf := range families {
			for _, m := range mf.GetMetric() {
				has := map[string]bool{}
				for _, l := range m.GetLabel() {
					has[l.GetName()] = true
				}
				before, known := found[name]
				if !known {
					found[name] = has
					continue
				}
				for l := range has {
					if _, ok := before[l]; !ok {
						before[l] = false
					}
				}
				for l := range before {
					before[l] = before[l] && has[l]
				}
			}
		}
	}
	return found
}

// metricTable returns the generated table of one part.
func metricTable(t *testing.T, descs []collectors.Desc, labels map[string]map[string]bool) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("| metric | type | labels | meaning |\n|---|---|---|---|\n")
	for _, d := range descs {
		if _, ok := labels[d.Name]; !ok {
			t.Errorf("no exposition shows %s: want it in a golden file of collectors, or in the exhibit", d.Name)
		}
		var names []string
		for _, l := range slices.Sorted(maps.Keys(labels[d.Name])) {
			name := "`" + l + "`"
			if !labels[d.Name][l] {
				name = "[" + name + "]"
			}
			names = append(names, name)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", d.Name, d.Type, strings.Join(names, ", "), strings.ReplaceAll(d.Help, "|", `\|`))
	}
	return b.String()
}

// The tables of docs/reference/metrics.md are those of the program. With -update the test
// writes them between their marks.
func TestMetricsPage(t *testing.T) {
	const name = "docs/reference/metrics.md"
	all := expositions(t)
	labels := labelsOf(all)
	parts := metricParts(t)
	page := readDoc(t, name)
	want := page
	listed := map[string]model.MetricType{}
	for _, descs := range parts {
		for _, d := range descs {
			listed[d.Name] = d.Type
		}
	}
	var sections strings.Builder
	for _, kind := range kinds.Names() {
		fmt.Fprintf(&sections, "## [%s](../../%s)\n\n%s\n", kind, kindPage(t, kind), metricTable(t, parts[kind], labels))
	}
	for part, text := range map[string]string{
		partVitals: metricTable(t, parts[partVitals], labels), partShared: metricTable(t, parts[partShared], labels), partKinds: sections.String(),
	} {
		begin, end := "<!-- metrics: "+part+" -->\n", "<!-- end -->\n"
		before, rest, ok := strings.Cut(want, begin)
		_, after, ended := strings.Cut(rest, end)
		if !ok || !ended {
			t.Fatalf("%s has no marks %q and %q, want them around the generated part", name, begin, end)
		}
		want = before + begin + text + end + after
	}
	for _, families := range all {
		for metric, mf := range families {
			if strings.HasPrefix(metric, "vitals_") && listed[metric] != kindOf(mf) {
				t.Errorf("%s of type %s is exported, want it described as that: it is %q", metric, kindOf(mf), listed[metric])
			}
		}
	}
	if *updateDocs {
		if err := os.WriteFile(filepath.Join(docsRoot, name), []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if page != want {
		t.Errorf("%s is not what the program exports: run go test ./cmd/vitals -run TestMetricsPage -update and review the difference", name)
	}
}

// A kind exports no other prefix, except the metrics of a scraped target.
func TestEveryMetricHasThePrefix(t *testing.T) {
	s := newExhibit(t).run(t)
	for _, batch := range s.Batches {
		for _, sample := range batch.Samples {
			name := sample.Labels.Get(model.MetricNameLabel)
			if !strings.HasPrefix(name, "vitals_") && name != "app_requests" {
				t.Errorf("%s is exported, want the prefix vitals_", name)
			}
		}
	}
}

// The page of a kind lists the same metrics, with the same labels.
func TestKindPagesListTheirMetrics(t *testing.T) {
	labels := labelsOf(expositions(t))
	for _, kind := range kinds.Names() {
		page := kindPage(t, kind)
		var names []string
		for _, table := range docTables(readDoc(t, page), "metric") {
			for _, row := range table.rows {
				metric := codeSpans(row[0])[0]
				names = append(names, metric)
				if got, want := codeSpans(row[1]), slices.Sorted(maps.Keys(labels[metric])); len(missing(got, want))+len(missing(want, got)) > 0 {
					t.Errorf("%s: %s has the labels %v, want %v", page, metric, got, want)
				}
			}
		}
		var want []string
		for _, d := range descsOf(kinds.New(kind).Metrics("")) {
			want = append(want, d.Name)
		}
		if a, b := missing(want, names), missing(names, want); len(a)+len(b) > 0 {
			t.Errorf("%s does not list %v and lists %v, which is not exported", page, a, b)
		}
	}
}

// Rules and dashboards of users depend on these names and labels. Additions are allowed,
// changes are not.
func TestMetricsContract(t *testing.T) {
	contract := map[string]string{
		"vitals_state":                                           "state",
		"vitals_rule_status":                                     "rule state status",
		"vitals_rule_since_timestamp_seconds":                    "rule state",
		"vitals_rule_info":                                       "rule state severity",
		"vitals_state_transitions_total":                         "state",
		"vitals_collector_success":                               "collector",
		"vitals_collector_duration_seconds":                      "collector",
		"vitals_collector_last_success_timestamp_seconds":        "collector",
		"vitals_dependency_up":                                   "dependency",
		"vitals_dependency_latency_seconds":                      "dependency",
		"vitals_dependency_failure":                              "dependency reason",
		"vitals_component_alive":                                 "component",
		"vitals_component_ready":                                 "component",
		"vitals_component_last_report_timestamp_seconds":         "component",
		"vitals_evaluation_duration_seconds":                     "",
		"vitals_evaluation_timestamp_seconds":                    "",
		"vitals_kubernetes_watch_connected":                      "dependency resource",
		"vitals_kubernetes_watch_last_contact_timestamp_seconds": "dependency resource",
		"vitals_kubernetes_access_allowed":                       "dependency verb resource",
		"vitals_kubernetes_crd_present":                          "dependency crd",
		"vitals_keystone_token_expiry_timestamp_seconds":         "dependency",
		"vitals_neutron_quota_limit":                             "dependency resource",
		"vitals_neutron_quota_used":                              "dependency resource",
		"vitals_neutron_quota_reserved":                          "dependency resource",
		"vitals_neutron_quota_unlimited":                         "dependency resource",
		"vitals_config_last_reload_successful":                   "",
		"vitals_config_last_reload_success_timestamp_seconds":    "",
		"vitals_build_info":                                      "version",
	}
	labels := labelsOf(expositions(t))
	listed := firstColumn(readDoc(t, "docs/reference/metrics.md"), "metric")
	for metric, wanted := range contract {
		if !slices.Contains(listed, metric) {
			t.Errorf("docs/reference/metrics.md does not list %s", metric)
		}
		if got := slices.Sorted(maps.Keys(labels[metric])); len(missing(strings.Fields(wanted), got)) > 0 {
			t.Errorf("%s has the labels %v, want %s among them", metric, got, wanted)
		}
	}
}
