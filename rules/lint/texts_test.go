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
	// rules are what stands below "rules:", and code what the findings are asked for.
	rules, code string
	// want are the texts and cures, "TEXT: CURE".
	want []string
}

// TestTexts holds what findings say, where that depends on what is found.
func TestTexts(t *testing.T) {
	for _, test := range slices.Concat(textsOfExternals(), textsOfPatience(), textsOfOthers()) {
		t.Run(test.name, func(t *testing.T) {
			text := "groups:\n- name: g\n  rules:" + strings.ReplaceAll("\n"+test.rules, "\n", "\n  ")
			f, mistakes := rules.Parse("r.yml", []byte(text), []string{"ready", "alive", "started"})
			if len(mistakes) > 0 {
				t.Fatal(mistakes)
			}
			opts := lint.Options{Vocabulary: vocabulary(strings.Fields(test.features)), States: []string{"ready", "alive", "started"}}
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

// textsOfExternals are about what lies outside the host.
func textsOfExternals() []textTest {
	return []textTest{
		{
			name: "one collector outside", code: "V001",
			rules: alert("alive", `vitals_dependency_up{dependency="keystone"} == 0`, ""),
			want: []string{
				`alive depends on the collector "keystone" by vitals_dependency_up: an outage there would restart every replica, and no restart cures it: let it feed ready (labels: state: ready), or ask for something that a restart can cure`,
			},
		},
		{
			name: "several, and the same twice", code: "V001",
			rules: alert("alive", `vitals_dependency_up{dependency=~"k.*"} == 0 or vitals_dependency_up{dependency="neutron"} == 0 or vitals_neutron_agents_alive < 1`, ""),
			want: []string{
				`alive depends on the collectors "keystone", "kubernetes" and "neutron" by vitals_dependency_up, vitals_neutron_agents_alive: an outage there would restart every replica, and no restart cures it: let it feed ready (labels: state: ready), or ask for something that a restart can cure`,
			},
		},
		{
			name: "without a configuration", features: "unconfigured", code: "V001",
			rules: alert("alive", `vitals_dependency_up == 0`, ""),
			want: []string{
				`alive depends on the kinds keystone, kubernetes and neutron (or the kind http, if that is not on this host) by vitals_dependency_up: an outage there would restart every replica, and no restart cures it: let it feed ready (labels: state: ready), or ask for something that a restart can cure; which collectors there are, and which of them are on this host, says a configuration (--config.file)`,
			},
		},
		{
			name: "perhaps on this host", features: "unconfigured", code: "V002",
			rules: alert("ready", `vitals_http_status_code > 499`, ""),
			want: []string{
				`ready depends on what the kind http measures, if that is not on this host, by vitals_http_status_code: an outage there takes every replica out at once, and nobody is left to answer: make it a warning (severity: warning) where a replica has something to say without it, or accept it with the reason why none has; which collectors there are, and which of them are on this host, says a configuration (--config.file)`,
			},
		},
		{
			name: "without a name", code: "V001",
			rules: alert("alive", `{__name__=~"vitals_keystone_.*"} == 0`, ""),
			want: []string{
				`alive depends on the collector "keystone" by {__name__=~"vitals_keystone_.*"}: an outage there would restart every replica, and no restart cures it: let it feed ready (labels: state: ready), or ask for something that a restart can cure`,
			},
		},
		{
			name: "through recording rules", code: "V001",
			rules: "- record: a:b\n  expr: min(vitals_dependency_up{dependency=\"keystone\"})\n- record: c:d\n  expr: a:b or vector(1)\n" + alert("alive", `c:d == 0`, ""),
			want: []string{
				`alive depends on the collector "keystone" by vitals_dependency_up through c:d, a:b: an outage there would restart every replica, and no restart cures it: let it feed ready (labels: state: ready), or ask for something that a restart can cure`,
			},
		},
		{
			name: "by another rule's verdict", code: "V001",
			rules: alert("ready", `vitals_keystone_endpoint_present == 0`, "") + alert("alive", `vitals_rule_status{rule="A",status="failing"} == 1`, "  for: 1m\n"),
			want: []string{
				`alive depends on the collector "keystone" by vitals_keystone_endpoint_present through the rule A: an outage there would restart every replica, and no restart cures it: let it feed ready (labels: state: ready), or ask for something that a restart can cure`,
			},
		},
	}
}

// textsOfPatience are about when rules act, and on what.
func textsOfPatience() []textTest {
	return []textTest{
		{
			name: "soon, and a bit later", code: "V008",
			rules: alert("ready", `vitals_process_up == 0`, "  for: 5s\n") + alert("alive", `vitals_process_up == 0`, "  for: 10s\n") + alert("started", `vitals_process_up == 0`, ""),
			want: []string{
				`with "for: 5s", the rule waits for less than two rounds of the collector "daemon", which looks every 10s: one look that goes wrong can make ready fail: set for: 20s or more, or look at several rounds, as max_over_time does`,
				`with "for: 10s", the rule waits for less than two rounds of the collector "daemon", which looks every 10s: one look that goes wrong can make alive fail, when the next one is late: set for: 20s or more, or look at several rounds, as max_over_time does`,
				`without "for", the rule waits for less than two rounds of the collector "daemon", which looks every 10s: one look that goes wrong can make started fail: set for: 20s or more, or look at several rounds, as max_over_time does`,
			},
		},
		{
			name: "one sample or two", code: "V009",
			rules: alert("ready", `rate(vitals_process_restarts_total[10s]) > 0 or rate(vitals_process_restarts_total[15s]) > 0 or rate(vitals_process_restarts_total[30s]) > 0 or last_over_time(vitals_process_up[15s]) == 0`, ""),
			want: []string{
				`rate needs two samples, and with a sample of the collector "daemon" every 10s the range of 10s hardly ever has more than one: this yields nothing: make it 40s or longer`,
				`rate needs two samples, and with a sample of the collector "daemon" every 10s the range of 15s has them only now and then: make it 40s or longer`,
				`the range of 30s is shorter than 4 rounds: with a sample of the collector "daemon" every 10s, one that is late or lost changes much: make it 40s or longer`,
				`the range of 15s is shorter than 2 rounds: with a sample of the collector "daemon" every 10s, one that is late or lost changes much: make it 20s or longer`,
			},
		},
		{
			name: "what can be absent, and is recorded", code: "V006",
			rules: "- record: a:b\n  expr: max(vitals_component_alive)\n" + alert("ready", `a:b == 0`, "") + alert("ready", `vitals_component_ready == 0`, "  for: 1m\n"),
			want: []string{
				`a series of a:b can be absent though nothing is out of order: the comparison is then neither true nor false, which a Prometheus takes for well, and ready by its own policy: say what that means (annotations: no_data: fail, pass or hold), or record what is always there`,
				`a series of vitals_component_ready can be absent though nothing is out of order: the comparison is then neither true nor false, which a Prometheus takes for well, and ready by its own policy: say what that means (annotations: no_data: fail, pass or hold), or ask for it ("... or absent(vitals_component_ready)")`,
			},
		},
		{
			name: "before the other one", code: "V020",
			rules: alert("alive", `vitals_process_up{process="daemon"} == 0`, "") + alert("ready", `vitals_process_up == 0`, "  for: 1m\n"),
			want: []string{
				`alive fails at once and ready, which looks at vitals_process_up as well (rule "A"), after 1m: the process is restarted before it is taken out of service: let alive wait for longer than ready, which takes the process out of service first`,
			},
		},
		{
			name: "before, after a while", code: "V020",
			rules: alert("alive", `vitals_process_up{process="daemon"} == 0`, "  for: 30s\n") + alert("ready", `vitals_process_up == 0`, "  for: 1m\n"),
			want: []string{
				`alive fails after 30s and ready, which looks at vitals_process_up as well (rule "A"), after 1m: the process is restarted before it is taken out of service: let alive wait for longer than ready, which takes the process out of service first`,
			},
		},
	}
}

// textsOfOthers are about the rest.
func textsOfOthers() []textTest {
	return []textTest{
		{
			name: "a label that the rule adds", code: "V024",
			rules: alert("ready", `vitals_process_up == 0`, "") + "- alert: B\n  expr: vitals_process_up == 0\n  labels: {a: b}\n  annotations: {x: '{{ $labels.a }} {{ $labels.alertname }} {{ $labels.c }}'}\n",
			want: []string{
				`the result of the expression has no label a: labels that the rule adds are not among those of a template: use one of process`,
				`the result of the expression has no label alertname: labels that the rule adds are not among those of a template: use one of process`,
				`the result of the expression has no label c: use one of process`,
			},
		},
		{
			name: "rules that wait for another configuration", code: "V003",
			rules: silent(`vitals_netlink_up == 0`) + strings.ReplaceAll(silent(`vitals_process_failure == 1 unless vitals_netlink_up`), "alert: A", "alert: B"),
			want: []string{
				`2 rules ask for what only collectors of the kinds capability, netlink and process can export, and none that is configured does; what that means they say by no_data: A, B: configure one for each part that is there; rules for parts that are not there do no harm`,
			},
		},
		{
			name: "one rule that waits for another configuration", code: "V003",
			rules: silent(`vitals_netlink_up == 0 or vitals_netlink_up == 2`),
			want: []string{
				`only collectors of the kind netlink export vitals_netlink_up, and none that is configured does: configure one, or remove the rule`,
				`only collectors of the kind netlink export vitals_netlink_up, and none that is configured does: configure one, or remove the rule`,
			},
		},
		{
			name: "a count of nothing", code: "V011",
			rules: alert("ready", `count(vitals_process_up) == 0`, "") + alert("ready", `count(vitals_process_up) == 0.5`, ""),
			want: []string{
				`the rule never fires: a count of nothing is nothing, not 0, so count(vitals_process_up) is never == 0: ask for the lack of series with absent(...)`,
				`the rule never fires: count(vitals_process_up) is at least 1, and never == 0.5: compare it with a value that it can have`,
			},
		},
		{
			name: "whatever is measured", code: "V012",
			rules: alert("ready", `vitals_process_up or absent(vitals_process_up)`, "") + alert("ready", `absent(vitals_process_up) or vitals_process_up`, "  for: 1m\n"),
			want: []string{
				`the rule always fires: vitals_process_up or absent(vitals_process_up) yields something whatever is measured: compare what is measured, so that the expression is true when something is wrong, such as metric == 0`,
				`the rule always fires: absent(vitals_process_up) or vitals_process_up yields something whatever is measured: compare what is measured, so that the expression is true when something is wrong, such as metric == 0`,
			},
		},
		{
			name: "a label that has a few", code: "V004",
			rules: alert("ready", `vitals_process_up{proces="x"} == 0`, "") + alert("ready", `vitals_config_last_reload_successful{what="x"} == 0`, ""),
			want: []string{
				`vitals_process_up has no label proces: did you mean "process"?`,
				`vitals_config_last_reload_successful has no label what: remove it: there is none`,
			},
		},
		{
			name: "accepted for a file or a rule", features: "complete", code: "V090",
			rules: "# vitals:accept-file V021 because\n" + alert("ready", `vitals_process_up == 0`, "  # vitals:accept V016,V022 because\n"),
			want: []string{
				`V021 is not found in this file: remove the comment, or write "# vitals:accept V008 REASON" directly above the rule or within its lines, or "# vitals:accept-file V008 REASON" anywhere`,
				`V016 is not found in the rule "A", to which the comment belongs: remove the comment, or write "# vitals:accept V008 REASON" directly above the rule or within its lines, or "# vitals:accept-file V008 REASON" anywhere`,
				`V022 is not found in the rule "A", to which the comment belongs: remove the comment, or write "# vitals:accept V008 REASON" directly above the rule or within its lines, or "# vitals:accept-file V008 REASON" anywhere`,
			},
		},
	}
}

// alert is a rule with a summary, as TestTexts wants it.
func alert(state, expr, more string) string {
	return "- alert: A\n  expr: '" + expr + "'\n  labels: {state: " + state + "}\n  annotations: {summary: s}\n" + more
}

// silent is an alert that says what the lack of evidence means.
func silent(expr string) string {
	return "- alert: A\n  expr: '" + expr + "'\n  labels: {state: ready}\n  annotations: {summary: s, no_data: pass}\n"
}
