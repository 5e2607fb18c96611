package alerts_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"gopkg.in/yaml.v3"

	"github.com/vitals-health/vitals/dashboards/alerts"
	"github.com/vitals-health/vitals/rules"
)

// inhibitRule is an inhibit rule of Alertmanager.
type inhibitRule struct {
	Source []string `yaml:"source_matchers"`
	Target []string `yaml:"target_matchers"`
	Equal  []string `yaml:"equal"`
}

func (r inhibitRule) String() string {
	return strings.Join(r.Source, " ") + " > " + strings.Join(r.Target, " ") + " = " + strings.Join(r.Equal, " ")
}

// inhibitRules returns the inhibit rules of alertmanager.yml that depend on rules.
func inhibitRules(t *testing.T, opts alerts.Options) []string {
	t.Helper()
	var config struct {
		Route     struct{ Receiver string }
		Receivers []struct{ Name string }
		Rules     []inhibitRule `yaml:"inhibit_rules"`
	}
	if err := yaml.Unmarshal([]byte(alertFiles(t, opts)["alertmanager.yml"]), &config); err != nil {
		t.Fatal(err)
	}
	if len(config.Receivers) != 1 || config.Receivers[0].Name != config.Route.Receiver {
		t.Errorf("receivers are %v, want the one of the route, %q", config.Receivers, config.Route.Receiver)
	}
	var all []string
	for _, r := range config.Rules {
		all = append(all, r.String())
	}
	always := []string{
		`alertname="VitalsDown" > alertname!="VitalsDown" = job instance`,
		`state="alive" severity!~"warning|info" > state="ready" = job instance`,
	}
	if len(all) < 2 || !slices.Equal(all[:2], always) {
		t.Errorf("the first inhibitions are %q, want %q", all, always)
	}
	return all[len(always):]
}

func TestCausesInhibitConsequences(t *testing.T) {
	tests := []struct {
		name  string
		rules []string
		want  []string
	}{
		{"no causes", []string{`{alert: A, expr: up == 0}`}, nil},
		{
			"two causes of a probe rule", []string{`{alert: A, expr: up == 0}`, `{alert: B, expr: up == 0}`, `{alert: C, expr: up == 0, labels: {state: ready}, annotations: {depends_on: "A, B"}}`},
			[]string{`alertname=~"A|B" severity!~"warning|info" > alertname="C" state="ready" = job instance`},
		},
		{
			"info does not inhibit a warning", []string{`{alert: A, expr: up == 0}`, `{alert: B, expr: up == 0, labels: {state: alive, severity: warning}, annotations: {depends_on: A}}`},
			[]string{`alertname="A" severity!="info" > alertname="B" state="alive" = job instance`},
		},
		{
			"any severity inhibits info", []string{`{alert: A, expr: up == 0}`, `{alert: B, expr: up == 0, labels: {severity: info}, annotations: {depends_on: A}}`},
			[]string{`alertname="A" > alertname="B" = job instance`},
		},
		{
			"causes that have other labels in common", []string{
				`{alert: A, expr: m == 0}`, `{alert: B, expr: 'm{x="1"} == 0'}`, `{alert: C, expr: m == 1}`,
				`{alert: D, expr: m == 2, labels: {state: ready}, annotations: {depends_on: "A, B, C"}}`,
			},
			[]string{
				`alertname=~"A|C" severity!~"warning|info" > alertname="D" state="ready" = job instance x y`,
				`alertname="B" severity!~"warning|info" > alertname="D" state="ready" = job instance y`,
			},
		},
		{
			"causes of one name", []string{
				`{alert: A, expr: 'm{x="1"} == 0', labels: {n: "1"}}`, `{alert: A, expr: 'm{y="1"} == 0', labels: {n: "2"}}`,
				`{alert: B, expr: m == 0, labels: {state: ready}, annotations: {depends_on: A}}`,
			},
			[]string{`alertname="A" severity!~"warning|info" > alertname="B" state="ready" = job instance`},
		},
		{
			"consequences of one name", []string{
				`{alert: A, expr: up == 0}`, `{alert: B, expr: up == 0, labels: {state: ready, n: "1"}, annotations: {depends_on: A}}`,
				`{alert: B, expr: up == 1, labels: {state: ready, n: "2"}, annotations: {depends_on: A}}`,
			},
			[]string{`alertname="A" severity!~"warning|info" > alertname="B" state="ready" = job instance`},
		},
		{
			"a label that the rule itself sets", []string{`{alert: A, expr: m == 0}`, `{alert: B, expr: m == 0, labels: {state: ready, x: mine}, annotations: {depends_on: A}}`},
			[]string{`alertname="A" severity!~"warning|info" > alertname="B" state="ready" = job instance y`},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := ruleFile(t, "r.yml", "groups: [{name: g, rules: [\n"+strings.Join(tt.rules, ",\n")+"]}]")
			got := inhibitRules(t, alerts.Options{Rules: []*rules.File{f}, Labels: labelsOf})
			if diff := cmp.Diff(tt.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("inhibitions (-want +got):\n%s", diff)
			}
		})
	}
}

// labelsOf returns the labels of the metrics in these tests.
func labelsOf(metric string) []string {
	return map[string][]string{"m": {"x", "y"}, "n": {"x", "y", "z"}, "h_bucket": {"x", "le"}}[metric]
}

// A cause in another file is used if the file itself has no alert of that name.
func TestCausesInOtherFiles(t *testing.T) {
	near := `{alert: A, expr: m == 0}`
	consequence := `{alert: B, expr: m == 0, labels: {state: ready}, annotations: {depends_on: A}}`
	file := func(name, rules string) *rules.File {
		return ruleFile(t, name, "groups: [{name: "+name+", rules: ["+rules+"]}]")
	}
	far := file("far", `{alert: A, expr: 'm{x="1"} == 0'}`)
	for _, tt := range []struct{ rules, equal string }{
		{consequence, "job instance y"}, {near + ", " + consequence, "job instance x y"},
	} {
		got := inhibitRules(t, alerts.Options{Rules: []*rules.File{far, file("near", tt.rules)}, Labels: labelsOf})
		if len(got) != 1 || !strings.HasSuffix(got[0], "= "+tt.equal) {
			t.Errorf("inhibitions for %s are %q, want one with equal %s", tt.rules, got, tt.equal)
		}
	}
}

// The equal labels are those that the results of both expressions have and that neither
// expression fixes.
func TestEqualLabels(t *testing.T) {
	tests := []struct{ expr, want string }{
		{`n == 0`, "x y z"},
		{`unknown == 0`, ""},
		{`(-n) == 0`, "x y z"},
		{`0 == n`, "x y z"},
		{`n{x="1",y!="2"} == 0`, "y z"},
		{`rate(n[5m]) > 0`, "x y z"},
		{`max_over_time(n[5m:1m]) > 0`, "x y z"},
		{`sum(n) > 0`, ""},
		{`sum by (x, q) (n) > 0`, "x"},
		{`sum without (x) (n) > 0`, "y z"},
		{`topk by (x) (1, n) > 0`, "x y z"},
		{`n - on (x, y) m > 0`, "x y"},
		{`n - ignoring (z) m{x="1"} > 0`, "y"},
		{`n * on (x) group_left m > 0`, "x y z"},
		{`m{y="1"} * on (x) group_left (z) n > 0`, "x z"},
		{`m{y="1"} * on (x) group_right (y) n > 0`, "x z"},
		{`n{x="1"} * on (x) group_right m > 0`, "y"},
		{`n{y="1"} * on (x) group_right m > 0`, "x y"},
		{`vector(1) * on () group_left (x) n > 0`, "x"},
		{`n == 0 and ignoring (z) m{x="1"} == 0`, "y z"},
		{`n == 0 and on (y) m{x="1"} == 0`, "x y z"},
		{`n == 0 unless ignoring (z) m{x="1"}`, "x y z"},
		{`n{z="1"} == 0 or m{x="1"} == 0`, "y"},
		{`absent(n{x="1"})`, ""},
		{`label_replace(n{x="1"}, "x", "$1", "y", "(.*)") == 0`, "x y z"},
		{`label_join(m, "z", "-", "x", "y") == 0`, "x y z"},
		{`histogram_quantile(0.9, h_bucket) > 1`, "x"},
		{`vector(time()) > 0`, ""},
		{`vector(scalar(n)) > 0`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.expr, func(t *testing.T) {
			// The cause has all labels, so the equal labels are those of the consequence.
			f := ruleFile(t, "r.yml", fmt.Sprintf("groups: [{name: g, rules: [{alert: A, expr: 'all == 0'}, {alert: B, expr: '%s', labels: {state: ready}, annotations: {depends_on: A}}]}]", tt.expr))
			got := inhibitRules(t, alerts.Options{Rules: []*rules.File{f}, Labels: func(metric string) []string {
				if metric == "all" {
					return []string{"le", "q", "x", "y", "z"}
				}
				return labelsOf(metric)
			}})
			_, equal, _ := strings.Cut(got[0], "= job instance")
			if equal = strings.TrimSpace(equal); equal != tt.want {
				t.Errorf("equal labels = %q, want %q", equal, tt.want)
			}
		})
	}
}

// Matchers and names in alertmanager.yml are in flow style without quotes, so they must not
// contain its delimiters.
func TestAlertmanagerFileIsPlain(t *testing.T) {
	for _, line := range regexp.MustCompile(`(?m)^.*\[.*$`).FindAllString(alertFiles(t, alerts.Options{})["alertmanager.yml"], -1) {
		if strings.Count(line, "[") != 1 || strings.ContainsAny(line, "{}'") {
			t.Errorf("line %q, want plain matchers", line)
		}
	}
}
