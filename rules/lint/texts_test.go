package lint_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vitals-health/vitals/rules"
	"github.com/vitals-health/vitals/rules/lint"
)

// textTest is one case of TestTexts.
type textTest struct {
	name, features string
	// rules is the text below "rules:". code selects the findings.
	rules, code string
	// want holds the texts and cures, "TEXT: CURE".
	want []string
}

// TestTexts checks the texts that depend on the rule.
func TestTexts(t *testing.T) {
	for _, test := range slices.Concat(textsOfExternals(), textsOfPatience(), textsOfConditions(), textsOfTemplates(), textsOfOthers()) {
		t.Run(test.name, func(t *testing.T) {
			text := "groups:\n- name: g\n  rules:" + strings.ReplaceAll("\n"+test.rules, "\n", "\n  ")
			f, mistakes := rules.Parse("r.yml", []byte(text), []string{"ready", "alive", "started"})
			if len(mistakes) > 0 {
				t.Fatal(mistakes)
			}
			opts := lint.Options{
				Vocabulary: vocabulary(strings.Fields(test.features)), States: []string{"ready", "alive", "started"},
				Complete: test.features == "complete",
			}
			var got []string
			for _, found := range lint.Check([]*rules.File{f}, opts) {
				if found.Code == test.code {
					got = append(got, found.Text+": "+found.Cure)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("texts differ (-want +got):\n%s", diff)
			}
		})
	}
}

// textsOfExternals concern dependencies outside the host.
func textsOfExternals() []textTest {
	return []textTest{
		{
			name: "one collector outside", code: "V001",
			rules: alert("alive", `vitals_dependency_up{dependency="keystone"} == 0`, ""),
			want: []string{
				`alive depends on the collector "keystone" (vitals_dependency_up): an outage there would restart every replica, and a restart does not fix it: use the state ready (labels: state: ready), or check something that a restart can fix`,
			},
		},
		{
			name: "several, and the same twice", code: "V001",
			rules: alert("alive", `vitals_dependency_up{dependency=~"k.*"} == 0 or vitals_dependency_up{dependency="neutron"} == 0 or vitals_neutron_agents_alive < 1`, ""),
			want: []string{
				`alive depends on the collectors "keystone", "kubernetes" and "neutron" (vitals_dependency_up, vitals_neutron_agents_alive): an outage there would restart every replica, and a restart does not fix it: use the state ready (labels: state: ready), or check something that a restart can fix`,
			},
		},
		{
			name: "without a configuration", features: "unconfigured", code: "V001",
			rules: alert("alive", `vitals_dependency_up == 0`, ""),
			want: []string{
				`alive depends on the kinds keystone, kubernetes and neutron, or the kind http if that is not on this host (vitals_dependency_up): an outage there would restart every replica, and a restart does not fix it: use the state ready (labels: state: ready), or check something that a restart can fix; pass a configuration (--config.file) to check its collectors and where their targets are`,
			},
		},
		{
			name: "perhaps on this host", features: "unconfigured", code: "V002",
			rules: alert("ready", `vitals_http_status_code > 499`, ""),
			want: []string{
				`ready depends on what the kind http measures, if that is not on this host (vitals_http_status_code): an outage there takes every replica out of service at once: make it a warning (severity: warning) if a replica is useful without it, or accept the finding with the reason why it is not; pass a configuration (--config.file) to check its collectors and where their targets are`,
			},
		},
		{
			name: "without a name", code: "V001",
			rules: alert("alive", `{__name__=~"vitals_keystone_.*"} == 0`, ""),
			want: []string{
				`alive depends on the collector "keystone" ({__name__=~"vitals_keystone_.*"}): an outage there would restart every replica, and a restart does not fix it: use the state ready (labels: state: ready), or check something that a restart can fix`,
			},
		},
		{
			name: "through recording rules", code: "V001",
			rules: "- record: a:b\n  expr: min(vitals_dependency_up{dependency=\"keystone\"})\n- record: c:d\n  expr: a:b or vector(1)\n" + alert("alive", `c:d == 0`, ""),
			want: []string{
				`alive depends on the collector "keystone" (vitals_dependency_up through c:d, a:b): an outage there would restart every replica, and a restart does not fix it: use the state ready (labels: state: ready), or check something that a restart can fix`,
			},
		},
		{
			name: "by another rule's verdict", code: "V001",
			rules: alert("ready", `vitals_keystone_endpoint_present == 0`, "") + alert("alive", `vitals_rule_status{rule="A",status="failing"} == 1`, "  for: 1m\n"),
			want: []string{
				`alive depends on the collector "keystone" (vitals_keystone_endpoint_present through the rule A): an outage there would restart every replica, and a restart does not fix it: use the state ready (labels: state: ready), or check something that a restart can fix`,
			},
		},
	}
}

// textsOfPatience concern the timing of rules.
func textsOfPatience() []textTest {
	return []textTest{
		{
			name: "soon, and a bit later", code: "V008",
			rules: alert("ready", `vitals_process_up == 0`, "  for: 5s\n") + alert("alive", `vitals_process_up == 0`, "  for: 10s\n") + alert("started", `vitals_process_up == 0`, ""),
			want: []string{
				`with "for: 5s", the rule waits for less than two collections of the collector "daemon", which runs every 10s: one failed collection can make ready fail: set for: 20s or more, or use several samples, as max_over_time does`,
				`with "for: 10s", the rule waits for less than two collections of the collector "daemon", which runs every 10s: one failed collection can make alive fail when the next one is late: set for: 20s or more, or use several samples, as max_over_time does`,
				`without "for", the rule waits for less than two collections of the collector "daemon", which runs every 10s: one failed collection can make started fail: set for: 20s or more, or use several samples, as max_over_time does`,
			},
		},
		{
			name: "one sample or two", code: "V009",
			rules: alert("ready", `rate(vitals_process_restarts_total[10s]) > 0 or rate(vitals_process_restarts_total[15s]) > 0 or rate(vitals_process_restarts_total[30s]) > 0 or last_over_time(vitals_process_up[15s]) == 0`, ""),
			want: []string{
				`rate needs two samples, and with a sample of the collector "daemon" every 10s the range of 10s rarely holds more than one: it returns nothing: make it 40s or longer`,
				`rate needs two samples, and with a sample of the collector "daemon" every 10s the range of 15s does not always hold them: make it 40s or longer`,
				`the range of 30s is shorter than 4 collections: with a sample of the collector "daemon" every 10s, a late or lost sample distorts the result: make it 40s or longer`,
				`the range of 15s is shorter than 2 collections: with a sample of the collector "daemon" every 10s, a late or lost sample distorts the result: make it 20s or longer`,
			},
		},
		{
			name: "what can be absent, and is recorded", code: "V006",
			rules: "- record: a:b\n  expr: max(vitals_component_alive)\n" + alert("ready", `a:b == 0`, "") + alert("ready", `vitals_component_ready == 0`, "  for: 1m\n"),
			want: []string{
				`a series of a:b can be absent while everything works. Prometheus then sees no alert, and vitals reports the rule as unknown, which ready handles by its own no_data: set the annotation no_data to fail, pass or hold, or record a series that is always present`,
				`a series of vitals_component_ready can be absent while everything works. Prometheus then sees no alert, and vitals reports the rule as unknown, which ready handles by its own no_data: set the annotation no_data to fail, pass or hold, or test for absence ("... or absent(vitals_component_ready)")`,
			},
		},
		{
			name: "before the other one", code: "V020",
			rules: alert("alive", `vitals_process_up{process="daemon"} == 0`, "") + alert("ready", `vitals_process_up == 0`, "  for: 1m\n"),
			want: []string{
				`alive fails at once and ready, which uses vitals_process_up as well (rule "A"), after 1m: the process is restarted before it is taken out of service: set a longer "for" in the alive rule than in the ready rule, so that the process is taken out of service first`,
			},
		},
		{
			name: "before, after a while", code: "V020",
			rules: alert("alive", `vitals_process_up{process="daemon"} == 0`, "  for: 30s\n") + alert("ready", `vitals_process_up == 0`, "  for: 1m\n"),
			want: []string{
				`alive fails after 30s and ready, which uses vitals_process_up as well (rule "A"), after 1m: the process is restarted before it is taken out of service: set a longer "for" in the alive rule than in the ready rule, so that the process is taken out of service first`,
			},
		},
	}
}

// textsOfOthers concern other checks.
func textsOfOthers() []textTest {
	return []textTest{
		{
			name: "a label that the rule adds", code: "V024",
			rules: alert("ready", `vitals_process_up == 0`, "") + "- alert: B\n  expr: vitals_process_up == 0\n  labels: {a: b}\n  annotations: {x: '{{ $labels.a }} {{ $labels.alertname }} {{ $labels.c }}'}\n",
			want: []string{
				`the result of the expression has no label a: a template cannot use labels that the rule adds: use process`,
				`the result of the expression has no label alertname: a template cannot use labels that the rule adds: use process`,
				`the result of the expression has no label c: use process`,
			},
		},
		{
			name: "a result without labels", code: "V024",
			rules: "- alert: A\n  expr: sum(foo) > 1\n  annotations: {x: '{{ $labels.instance }}'}\n",
			want:  []string{`the result of the expression has no label instance: remove it, or keep the label in the expression, as in sum by (instance) (...)`},
		},
		{
			name: "rules that wait for another configuration", code: "V003",
			rules: silent(`vitals_netlink_up == 0`) + strings.ReplaceAll(silent(`vitals_process_failure == 1 unless vitals_netlink_up`), "alert: A", "alert: B"),
			want: []string{
				`2 rules need metrics that only collectors of the kinds capability, netlink and process export, and none here does. Their no_data applies: A, B: configure one that does for each part that exists. Rules for other parts do no harm`,
			},
		},
		{
			name: "alerts over metrics of other programs", code: "V003", features: "closed",
			rules: "- alert: A\n  expr: node_load1 > 1 and node_load5 > node_load1\n- alert: B\n  expr: up == 0\n- alert: C\n  expr: vital_process_up == 0\n",
			want: []string{
				`alerts without a state select 3 metrics that no collector and no recording rule exports: node_load1, node_load5, up: collect them (a scrape collector reads what other programs export), unless the alerts are for Prometheus alone`,
				`no collector and no recording rule exports vital_process_up: did you mean "vitals_process_up"?`,
			},
		},
		{
			name: "one rule that waits for another configuration", code: "V003",
			rules: silent(`vitals_netlink_up == 0 or vitals_netlink_up == 2`),
			want: []string{
				`only collectors of the kind netlink export vitals_netlink_up, and none here does: configure one that does, or remove the rule`,
				`only collectors of the kind netlink export vitals_netlink_up, and none here does: configure one that does, or remove the rule`,
			},
		},
		{
			name: "a count of nothing", code: "V011",
			rules: alert("ready", `count(vitals_process_up) == 0`, "") + alert("ready", `count(vitals_process_up) == 0.5`, ""),
			want: []string{
				`the rule never fires: a count over no series returns nothing, not 0, so count(vitals_process_up) is never == 0: detect missing series with absent(...)`,
				`the rule never fires: count(vitals_process_up) is at least 1, and never == 0.5: compare it with a value that it can have`,
			},
		},
		{
			name: "with and without data", code: "V012",
			rules: alert("ready", `vitals_process_up or absent(vitals_process_up)`, "") + alert("ready", `absent(vitals_process_up) or vitals_process_up`, "  for: 1m\n"),
			want: []string{
				`the rule always fires: vitals_process_up or absent(vitals_process_up) returns a result whatever is measured: add a comparison that is true only when something is wrong, such as metric == 0`,
				`the rule always fires: absent(vitals_process_up) or vitals_process_up returns a result whatever is measured: add a comparison that is true only when something is wrong, such as metric == 0`,
			},
		},
		{
			name: "a component of a target's own", code: "V005",
			rules: alert("ready", `app_up{component="queues"} == 0`, ""),
			want:  []string{`no series of app_up matches component="queues": use app (the target's own label component becomes exported_component)`},
		},
		{
			name: "a label that has a few", code: "V004",
			rules: alert("ready", `vitals_process_up{proces="x"} == 0`, "") + alert("ready", `vitals_config_last_reload_successful{what="x"} == 0`, ""),
			want: []string{
				`vitals_process_up has no label proces: did you mean "process"?`,
				`vitals_config_last_reload_successful has no label what: remove it: none exists`,
			},
		},
		{
			name: "accepted for a file or a rule", features: "complete", code: "V090",
			rules: "# vitals:accept-file V021 because\n" + alert("ready", `vitals_process_up == 0`, "  # vitals:accept V016,V022 because\n"),
			want: []string{
				`V021 is not found in this file: remove the comment`,
				`V016 is not found in the rule "A", to which the comment belongs: remove the comment`,
				`V022 is not found in the rule "A", to which the comment belongs: remove the comment`,
			},
		},
		{
			name: "accepted for another configuration", features: "complete", code: "V090",
			rules: alert("ready", `vitals_process_up == 0`, "  # vitals:accept V005 because\n"),
			want: []string{
				`with this configuration, V005 is not found in the rule "A", to which the comment belongs: remove the comment, unless the file has another configuration that needs it`,
			},
		},
	}
}

// alert returns a rule with a summary.
func alert(state, expr, more string) string {
	return "- alert: A\n  expr: '" + expr + "'\n  labels: {state: " + state + "}\n  annotations: {summary: s}\n" + more
}

// silent returns an alert with a policy for missing data.
func silent(expr string) string {
	return "- alert: A\n  expr: '" + expr + "'\n  labels: {state: ready}\n  annotations: {summary: s, no_data: pass}\n"
}
