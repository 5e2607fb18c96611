package dashboards_test

import (
	"encoding/json"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/rules"
)

// aboutVitals returns the alerts about Vitals.
func aboutVitals(t *testing.T) []rules.Rule {
	t.Helper()
	const name = "alerts/alerts.yml"
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	f, errs := rules.Parse(name, data, nil)
	if len(errs) > 0 || len(f.Groups) != 1 || len(f.Groups[0].Rules) < 10 {
		t.Fatalf("Parse(%s) = %+v, %v, want one group of alerts", name, f.Groups, errs)
	}
	return f.Groups[0].Rules
}

// Alerts use only exported metrics and labels, and counters only within increase().
func TestAlertsUseWhatIsExported(t *testing.T) {
	known := vocabulary(t)
	for _, r := range aboutVitals(t) {
		has := map[string]bool{"job": true, "instance": true}
		parser.Inspect(r.AST, func(n parser.Node, path []parser.Node) error {
			s, ok := n.(*parser.VectorSelector)
			if !ok {
				return nil
			}
			m, ok := known[s.Name]
			if !ok {
				t.Errorf("%s: %s is not exported", r.Alert, s)
			}
			for _, l := range m.labels {
				has[l] = true
			}
			for _, matcher := range s.LabelMatchers {
				if !has[matcher.Name] && matcher.Name != model.MetricNameLabel {
					t.Errorf("%s: %s has no label %s", r.Alert, s.Name, matcher.Name)
				}
			}
			if rated := regexp.MustCompile(`increase\(` + s.Name + `\b`).MatchString(r.Expr); m.counter != rated {
				t.Errorf("%s: %s is a counter: %t, within increase(): %t; want the same", r.Alert, s.Name, m.counter, rated)
			}
			return nil
		})
		used := grouping(r.AST)
		for _, text := range r.Annotations {
			for _, m := range regexp.MustCompile(`\$labels\.(\w+)`).FindAllStringSubmatch(text, -1) {
				used = append(used, m[1])
			}
		}
		for _, l := range used {
			if !has[l] {
				t.Errorf("%s: no metric in it has the label %s", r.Alert, l)
			}
		}
	}
}

// Every alert links to an existing dashboard, and sets only variables of that dashboard.
func TestAlertsLeadToDashboards(t *testing.T) {
	for _, r := range aboutVitals(t) {
		link, err := url.Parse(regexp.MustCompile(`\{\{.*?\}\}`).ReplaceAllString(r.Annotations["dashboard_url"], "x"))
		if err != nil {
			t.Fatal(err)
		}
		var variables []string
		for _, d := range loadDashboards(t) {
			if "/d/"+d.UID == link.Path {
				for _, v := range d.Templating.List {
					variables = append(variables, "var-"+v.Name)
				}
			}
		}
		for chosen := range link.Query() {
			if !slices.Contains(variables, chosen) {
				t.Errorf("%s links to %s with %s, want one of %v", r.Alert, link.Path, chosen, variables)
			}
		}
	}
}

// The mixin imports all dashboards and the alerts.
func TestMixinHasAllFiles(t *testing.T) {
	mixin, err := os.ReadFile("mixin.libsonnet")
	if err != nil {
		t.Fatal(err)
	}
	imported := map[string]bool{}
	for _, m := range regexp.MustCompile(`import(?:str)? '([^']+)'`).FindAllStringSubmatch(string(mixin), -1) {
		imported[m[1]] = true
		if data, err := os.ReadFile(m[1]); err != nil || strings.HasSuffix(m[1], ".json") && !json.Valid(data) {
			t.Errorf("the mixin imports %s, want an existing file with valid JSON (%v)", m[1], err)
		}
	}
	for _, d := range loadDashboards(t) {
		if !imported[d.file] {
			t.Errorf("the mixin does not import %s", d.file)
		}
	}
	if !imported["alerts/alerts.yml"] {
		t.Error("the mixin does not import alerts/alerts.yml")
	}
}
