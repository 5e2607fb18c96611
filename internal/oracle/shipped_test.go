package oracle

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/promql/promqltest"

	"github.com/vitals-health/vitals/rules"
)

func shipped(t *testing.T) []*rules.File {
	t.Helper()
	var files []*rules.File
	names, err := fs.Glob(rules.Shipped(), "*.yml")
	if err != nil || len(names) == 0 {
		t.Fatalf("Shipped() has the files %v (%v), want some", names, err)
	}
	for _, name := range names {
		data, err := fs.ReadFile(rules.Shipped(), name)
		if err != nil {
			t.Fatal(err)
		}
		f, errs := rules.Parse(name, data, []string{"ready", "alive", "started"})
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		files = append(files, f)
	}
	return files
}

// kuryrExpr returns the expression of a rule of kuryr-controller.yml on one line.
func kuryrExpr(t *testing.T, alert string) string {
	t.Helper()
	for _, f := range shipped(t) {
		for _, g := range f.Groups {
			for _, r := range g.Rules {
				if r.Alert == alert && f.Name == "kuryr-controller.yml" {
					return r.AST.String()
				}
			}
		}
	}
	t.Fatalf("there is no rule %s", alert)
	return ""
}

func TestKuryrControllerRules(t *testing.T) {
	const quota = `
		vitals_neutron_quota_limit{dependency="neutron",resource="port"} 100
		vitals_neutron_quota_used{dependency="neutron",resource="port"} %USED
		vitals_neutron_quota_reserved{dependency="neutron",resource="port"} 1
		vitals_neutron_quota_unlimited{dependency="neutron",resource="port"} 0
		vitals_neutron_quota_used{dependency="neutron",resource="network"} 5
		vitals_neutron_quota_unlimited{dependency="neutron",resource="network"} 1
		vitals_neutron_quota_limit{dependency="neutron",resource="floatingip"} 1
		vitals_neutron_quota_used{dependency="neutron",resource="floatingip"} 1
		vitals_neutron_quota_unlimited{dependency="neutron",resource="floatingip"} 0`
	used := func(n string) string { return strings.Replace(quota, "%USED", n, 1) }
	// instance returns the same series of another controller, which Prometheus scrapes as well.
	instance := func(name, series string) string {
		return strings.ReplaceAll(series, `{`, `{instance="`+name+`",`)
	}
	free := func(n string) string { return `{dependency="neutron",resource="port"} ` + n }
	tests := []struct{ name, alert, series, want string }{
		{"dependency up", "KeystoneDown", `vitals_dependency_up{dependency="keystone"} 1`, ""},
		{"dependency down", "KeystoneDown", `vitals_dependency_up{dependency="keystone"} 0`, `vitals_dependency_up{dependency="keystone"} 0`},
		{"another dependency down", "KeystoneDown", `vitals_dependency_up{dependency="neutron"} 0`, ""},
		{"Neutron down", "NeutronDown", `vitals_dependency_up{dependency="neutron"} 0`, `vitals_dependency_up{dependency="neutron"} 0`},
		{"Kubernetes down", "KubernetesDown", `vitals_dependency_up{dependency="kubernetes"} 0`, `vitals_dependency_up{dependency="kubernetes"} 0`},
		{"one watch of two is down", "KubernetesWatchDown",
			"vitals_kubernetes_watch_connected{resource=\"pods\"} 1\nvitals_kubernetes_watch_connected{resource=\"services\"} 0",
			`vitals_kubernetes_watch_connected{resource="services"} 0`},
		{"last contact of a watch two minutes ago", "KubernetesWatchStale", `vitals_kubernetes_watch_last_contact_timestamp_seconds{resource="pods"} 880`, ""},
		{"watch silent", "KubernetesWatchStale", `vitals_kubernetes_watch_last_contact_timestamp_seconds{resource="pods"} 879`, `{resource="pods"} 121`},
		{"access denied", "KubernetesAccessDenied", `vitals_kubernetes_access_allowed{verb="list",resource="pods"} 0`, `vitals_kubernetes_access_allowed{verb="list",resource="pods"} 0`},
		{"definition missing", "CRDMissing", `vitals_kubernetes_crd_present{crd="x"} 0`, `vitals_kubernetes_crd_present{crd="x"} 0`},
		{"quota half used, another resource exhausted, one unlimited", "QuotaExhausted", used("50"), ""},
		{"quota with one free, which is reserved", "QuotaExhausted", used("99"), ""},
		{"quota used up", "QuotaExhausted", used("100"), free("0")},
		{"quota overrun", "QuotaExhausted", used("105"), free("-5")},
		{"quota of zero", "QuotaExhausted", strings.Replace(used("0"), " 100", " 0", 1), free("0")},
		{"quota low: four free", "QuotaLow", used("96"), ""},
		{"quota low: three free", "QuotaLow", used("97"), free("3")},
		{"quota low: one free", "QuotaLow", used("99"), free("1")},
		{"quota low: none free", "QuotaLow", used("100"), ""},
		{"two controllers, the quota of one is used up", "QuotaExhausted", instance("a", used("50")) + "\n" + instance("b", used("100")), instance("b", free("0"))},
		{"two controllers, a component of one never reported", "ComponentMissing",
			instance("a", "vitals_component_expected{component=\"watcher\"} 1\nvitals_component_reported{component=\"watcher\"} 1\n") +
				instance("b", "vitals_component_expected{component=\"watcher\"} 1\nvitals_component_reported{component=\"watcher\"} 0"),
			`vitals_component_expected{component="watcher",instance="b"} 1`},
		{"component not ready", "ComponentNotReady", `vitals_component_ready{component="watcher"} 0`, `vitals_component_ready{component="watcher"} 0`},
		{"component dead", "ComponentDead", `vitals_component_alive{component="watcher"} 0`, `vitals_component_alive{component="watcher"} 0`},
		{"component fine", "ComponentDead", `vitals_component_alive{component="watcher"} 1`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var script strings.Builder
			script.WriteString("load 1000s\n")
			for line := range strings.Lines(tt.series) {
				if s, value, ok := strings.Cut(strings.TrimSpace(line), "} "); ok {
					script.WriteString("  " + s + "} _ " + value + "\n") // nothing at 0 s, the value at 1000 s
				}
			}
			script.WriteString("\neval instant at 1000s " + kuryrExpr(t, tt.alert) + "\n")
			if tt.want != "" {
				script.WriteString("  " + tt.want + "\n")
			}
			promqltest.RunTest(t, script.String(), promqltest.NewTestEngine(t, false, 0, promqltest.DefaultMaxSamplesPerQuery))
		})
	}
}
