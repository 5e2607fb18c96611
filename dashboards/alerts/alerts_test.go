package alerts_test

import (
	"log/slog"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/dashboards/alerts"
	"github.com/vitals-health/vitals/rules"
)

// alertFiles returns the files for the options, by name.
func alertFiles(t *testing.T, opts alerts.Options) map[string]string {
	t.Helper()
	files, err := alerts.Files(opts)
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]string{}
	for _, f := range files {
		byName[f.Name] = string(f.Data)
	}
	return byName
}

// ruleFile parses a rule file without errors.
func ruleFile(t *testing.T, name, text string) *rules.File {
	t.Helper()
	f, errs := rules.Parse(name, []byte(text), []string{"ready", "alive", "started"})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	return f
}

// aboutVitals returns the alerts of alerts.yml.
func aboutVitals(t *testing.T) []rules.Rule {
	t.Helper()
	f := ruleFile(t, "alerts.yml", alertFiles(t, alerts.Options{})["alerts.yml"])
	if len(f.Groups) != 1 || f.Groups[0].Name != "vitals" || len(f.Groups[0].Rules) < 10 {
		t.Fatalf("alerts.yml has the groups %+v, want one named vitals with alerts", f.Groups)
	}
	return f.Groups[0].Rules
}

// Every alert has a severity, texts, and links to a runbook and a dashboard.
func TestAlertsAreComplete(t *testing.T) {
	name := regexp.MustCompile(`^Vitals([A-Z][a-z]+)+$`)
	for _, r := range aboutVitals(t) {
		if !name.MatchString(r.Alert) {
			t.Errorf("alert %q, want a name like VitalsNotReady", r.Alert)
		}
		if s := r.Severity; s != "critical" && s != "warning" && s != "info" {
			t.Errorf("%s has the severity %q, want critical, warning or info", r.Alert, s)
		}
		summary := r.Annotations["summary"]
		if strings.Contains(summary, "{{") || !strings.HasSuffix(summary, ".") {
			t.Errorf("%s has the summary %q, want a sentence that is always the same", r.Alert, summary)
		}
		if d := r.Annotations["description"]; !strings.Contains(d, "$labels.instance") || !strings.HasSuffix(d, ".") && !strings.HasSuffix(d, "}}") {
			t.Errorf("%s has the description %q, want sentences that name the instance", r.Alert, d)
		}
		if url := r.Annotations["runbook_url"]; url != "https://github.com/vitals-health/vitals/blob/main/docs/runbooks/"+r.Alert+".md" {
			t.Errorf("%s has the runbook %q, want the page of the alert", r.Alert, url)
		}
		if url := r.Annotations["dashboard_url"]; !strings.HasPrefix(url, "/d/vitals-") {
			t.Errorf("%s links to the dashboard %q, want one of Vitals", r.Alert, url)
		}
	}
}

// The alerts are for Prometheus. In a Vitals that loads them, none feeds a state, although
// some take the label state from their series.
func TestAlertsFeedNoState(t *testing.T) {
	for _, r := range aboutVitals(t) {
		if _, ok := r.Labels["state"]; ok || r.State != "" {
			t.Errorf("%s has the label state (%q), want none", r.Alert, r.State)
		}
	}
}

func TestPrometheusLoadsTheAlerts(t *testing.T) {
	text := alertFiles(t, alerts.Options{})["alerts.yml"]
	_, errs := rulefmt.Parse([]byte(text), false, model.UTF8Validation, parser.NewParser(parser.Options{}), slog.New(slog.DiscardHandler))
	if len(errs) > 0 {
		t.Errorf("Prometheus refuses alerts.yml: %v", errs)
	}
}

// Every alert has unit tests in which it fires and in which it does not.
func TestAlertsHaveUnitTests(t *testing.T) {
	text := alertFiles(t, alerts.Options{})["alerts_test.yml"]
	expectations := regexp.MustCompile(`alertname: (\w+)\n\s+exp_alerts:( \[\])?`).FindAllStringSubmatch(text, -1)
	fires, silent := map[string]bool{}, map[string]bool{}
	for _, l := range expectations {
		if l[2] == "" {
			fires[l[1]] = true
		} else {
			silent[l[1]] = true
		}
	}
	for _, r := range aboutVitals(t) {
		if !fires[r.Alert] || !silent[r.Alert] {
			t.Errorf("%s: alerts_test.yml shows it firing: %t, silent: %t; want both", r.Alert, fires[r.Alert], silent[r.Alert])
		}
	}
}

// By default the files are those in this folder. A difference in layout shows that a file
// does not have the form in which the command writes it for other options.
func TestDefaultFiles(t *testing.T) {
	files := alertFiles(t, alerts.Options{})
	for _, name := range []string{"alerts.yml", "alerts_test.yml", "podmonitor.yaml", "servicemonitor.yaml"} {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(data), files[name]); diff != "" {
			t.Errorf("%s (-file +generated):\n%s", name, diff)
		}
	}
}

// The selector is in every query. It determines the targets of the unit tests and the job in
// the monitors.
func TestSelectorIsEverywhere(t *testing.T) {
	files := alertFiles(t, alerts.Options{Selector: ` namespace='kube-system', job=~"health|vitals" `})
	for _, r := range ruleFile(t, "alerts.yml", files["alerts.yml"]).Groups[0].Rules {
		parser.Inspect(r.AST, func(n parser.Node, _ []parser.Node) error {
			for _, want := range []string{`job=~"health|vitals"`, `namespace="kube-system"`} {
				if s, ok := n.(*parser.VectorSelector); ok && !strings.Contains(s.String(), want) {
					t.Errorf("%s selects %s, want those with %s only", r.Alert, s, want)
				}
			}
			return nil
		})
	}
	for name, want := range map[string]string{
		"alerts_test.yml": `up{instance="10.0.0.7:8080",job="health",namespace="kube-system"}`,
		"mixin.libsonnet": `vitalsSelector: 'namespace="kube-system",job=~"health|vitals"'`,
	} {
		if !strings.Contains(files[name], want) {
			t.Errorf("%s does not have %s:\n%s", name, want, files[name])
		}
	}
	if strings.Contains(files["podmonitor.yaml"]+files["servicemonitor.yaml"], "targetLabel: job") {
		t.Error("the monitors set a job, want none: the selector does not name exactly one")
	}
}

// If no labels of a target follow from a selector, there are no unit tests, but all other
// files.
func TestSelectorWithoutTarget(t *testing.T) {
	for _, selector := range []string{`job=~".+-health"`, `job!=""`} {
		files := alertFiles(t, alerts.Options{Selector: selector})
		if _, ok := files["alerts_test.yml"]; ok || files["alerts.yml"] == "" {
			t.Errorf("Files(%s) has alerts.yml and alerts_test.yml: %t, %t; want the first one only", selector, files["alerts.yml"] != "", ok)
		}
	}
}

func TestAddresses(t *testing.T) {
	files := alertFiles(t, alerts.Options{Runbooks: "https://wiki/health#NAME", Grafana: "https://grafana.example.org/"})
	for _, r := range ruleFile(t, "alerts.yml", files["alerts.yml"]).Groups[0].Rules {
		if got, want := r.Annotations["runbook_url"], "https://wiki/health#"+r.Alert; got != want {
			t.Errorf("%s has the runbook %q, want %q", r.Alert, got, want)
		}
		if got, want := r.Annotations["dashboard_url"], "https://grafana.example.org/d/vitals-"; !strings.HasPrefix(got, want) {
			t.Errorf("%s links to the dashboard %q, want one below %q", r.Alert, got, want)
		}
	}
}

func TestInvalidOptions(t *testing.T) {
	tests := []struct {
		name string
		opts alerts.Options
		want string
	}{
		{"selector with braces", alerts.Options{Selector: `{job="a"}`}, `selector "{job=\"a\"}": expected matchers of labels such as job="vitals": `},
		{"selector of everything", alerts.Options{Selector: `job=~".*"`}, `selector "job=~\".*\"": expected`},
		{"selector that is an expression", alerts.Options{Selector: `job="a"} or up{job="a"`}, "and no expression"},
		{"selector with a metric", alerts.Options{Selector: `__name__="up"`}, "and no name of a metric"},
		{"one runbook for all", alerts.Options{Runbooks: "https://wiki/"}, `address of runbooks "https://wiki/": expected NAME`},
		{"rule files of the same name", alerts.Options{Rules: []*rules.File{{Name: "a/x.yml"}, {Name: "b/X.yaml"}}}, "rule file b/X.yaml: the object would be named vitals-x"},
		{"rule file without a name", alerts.Options{Rules: []*rules.File{{Name: "_.yml"}}}, "rule file _.yml: the object would be named vitals-,"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := alerts.Files(tt.opts); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Files() = %v, want an error with %q", err, tt.want)
			}
		})
	}
}
